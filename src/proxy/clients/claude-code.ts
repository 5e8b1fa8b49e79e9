import { asLines, type Client, upstreamsOf, urlVariables } from './client.ts';

/**
 * Behind an address that is not Anthropic's, Claude Code turns tool search off and takes every model for one with 200,000
 * tokens, unless it is told otherwise.
 */
const needed = {
  ENABLE_TOOL_SEARCH: 'true',
  CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
} as const;

export const claudeCode: Client = {
  name: 'claude-code',
  commands: ['claude'],
  plan({ args, env }) {
    const { anthropic } = upstreamsOf(env);
    const missing = Object.entries(needed).filter(([name]) => env[name] === undefined);
    return {
      upstreams: { anthropic },
      launch(proxied) {
        const set = { [urlVariables.anthropic]: proxied('anthropic'), ...Object.fromEntries(missing) };
        return { args, env: set, told: asLines(set) };
      },
    };
  },
};
