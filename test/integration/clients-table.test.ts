import { describe, expect, it } from 'vitest';
import type { Maker, Surroundings } from '../../src/proxy/clients/client.ts';
import { clientFor } from '../../src/proxy/clients.ts';

// How each client is led to a proxy: what it would have talked to, and what it is started with instead.

const proxyUrl = 'http://127.0.0.1:4000';
const file = '/tmp/extension.mjs';

function plan(command: string, given: Partial<Surroundings> = {}) {
  const planned = clientFor(command).plan({
    args: [],
    env: { HOME: '/home/ada' },
    readText: () => undefined,
    ask: () => '',
    ...given,
  });
  const proxied = (maker: Maker) =>
    `${proxyUrl}/${maker}${new URL(planned.upstreams[maker] ?? '').pathname.replace(/\/$/, '')}`;
  return { upstreams: planned.upstreams, ...planned.launch(proxied, file) };
}

const files =
  (texts: Readonly<Record<string, string>>): Surroundings['readText'] =>
  (path) =>
    texts[path];

describe('claude', () => {
  it('gets its address, and what it gives up behind another one', () => {
    expect(plan('claude', { args: ['-p', 'Hi'] })).toEqual({
      upstreams: { anthropic: 'https://api.anthropic.com' },
      args: ['-p', 'Hi'],
      env: {
        ANTHROPIC_BASE_URL: `${proxyUrl}/anthropic`,
        ENABLE_TOOL_SEARCH: 'true',
        CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
      },
      told: [
        `ANTHROPIC_BASE_URL=${proxyUrl}/anthropic`,
        'ENABLE_TOOL_SEARCH=true',
        'CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY=1',
      ],
    });
  });

  it('goes on to where the environment pointed, and keeps what the user has set', () => {
    const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9000/llm/', ENABLE_TOOL_SEARCH: 'false' };
    const { upstreams, env: set } = plan('/usr/local/bin/claude', { env });
    expect(upstreams).toEqual({ anthropic: 'http://127.0.0.1:9000/llm' });
    expect(set).toMatchObject({ ANTHROPIC_BASE_URL: `${proxyUrl}/anthropic/llm` });
    expect(set).not.toHaveProperty('ENABLE_TOOL_SEARCH');
  });
});

describe('codex', () => {
  it.each([
    { login: 'Logged in using ChatGPT', upstream: 'https://chatgpt.com/backend-api/codex' },
    { login: 'Logged in using an API key', upstream: 'https://api.openai.com/v1' },
  ])('asks codex itself whom it talks to: $login', ({ login, upstream }) => {
    const asked: (readonly string[])[] = [];
    const { upstreams, args } = plan('codex', {
      args: ['exec', 'Hi'],
      ask: (words) => {
        asked.push(words);
        return login;
      },
    });
    expect(asked).toEqual([['login', 'status']]);
    expect(upstreams).toEqual({ openai: upstream });
    const path = new URL(upstream).pathname;
    expect(args).toEqual(['-c', `openai_base_url="${proxyUrl}/openai${path}"`, 'exec', 'Hi']);
  });

  it('takes the provider of the config, and changes the address of that one alone', () => {
    const config = `model = "gpt-5.5"
model_provider = 'azure' # the one at work
[model_providers.local]
base_url = "http://127.0.0.1:11434/v1"
[model_providers.azure]
name = "Azure"
base_url = "https://ada.openai.azure.com/openai/v1/"
`;
    const readText = files({ '/home/ada/.codex/config.toml': config });
    const { upstreams, args } = plan('codex', { readText });
    expect(upstreams).toEqual({ openai: 'https://ada.openai.azure.com/openai/v1' });
    expect(args).toEqual(['-c', `model_providers.azure.base_url="${proxyUrl}/openai/openai/v1"`]);
    const named = plan('codex', { readText, args: ['-c', 'model_provider=local', 'exec'] });
    expect(named.upstreams).toEqual({ openai: 'http://127.0.0.1:11434/v1' });
  });

  it('takes the place of an address that stands on the command line', () => {
    const args = ['exec', '--config', 'openai_base_url="http://127.0.0.1:9000/v1"', '-c', 'model=x', 'Hi'];
    const planned = plan('codex', { args });
    expect(planned.upstreams).toEqual({ openai: 'http://127.0.0.1:9000/v1' });
    expect(planned.args).toEqual([
      '-c',
      `openai_base_url="${proxyUrl}/openai/v1"`,
      'exec',
      '-c',
      'model=x',
      'Hi',
    ]);
  });
});

describe('opencode', () => {
  it('merges addresses into what its variable holds, and shows nothing of that', () => {
    const given = { provider: { anthropic: { options: { apiKey: 'sk-secret' } } }, theme: 'dark' };
    const { env, told } = plan('opencode', { env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(given) } });
    expect(JSON.parse(env['OPENCODE_CONFIG_CONTENT'] ?? '')).toEqual({
      theme: 'dark',
      provider: {
        anthropic: { options: { apiKey: 'sk-secret', baseURL: `${proxyUrl}/anthropic/v1` } },
        openai: { options: { baseURL: `${proxyUrl}/openai/v1` } },
        google: { options: { baseURL: `${proxyUrl}/google/v1beta` } },
      },
    });
    expect(told.join('\n')).toContain(`${proxyUrl}/anthropic/v1`);
    expect(told.join('\n')).not.toContain('sk-secret');
  });

  it.each([
    { library: '@ai-sdk/openai-compatible', maker: 'openai' },
    { library: '@ai-sdk/anthropic', maker: 'anthropic' },
  ])('goes on to a provider of the user, by $library', ({ library, maker }) => {
    const config = {
      model: 'mine/large',
      provider: { mine: { npm: library, options: { baseURL: 'https://llm.example/v1' } } },
    };
    const text = `// mine\n${JSON.stringify(config).replace(/}$/, ', }')}`;
    const readText = files({ '/home/ada/.config/opencode/opencode.jsonc': text });
    const { upstreams, env } = plan('opencode', { readText });
    expect(upstreams).toEqual({ [maker]: 'https://llm.example/v1' });
    expect(JSON.parse(env['OPENCODE_CONFIG_CONTENT'] ?? '')).toEqual({
      provider: { mine: { options: { baseURL: `${proxyUrl}/${maker}/v1` } } },
    });
    const other = plan('opencode', { readText, args: ['run', '-m', 'anthropic/claude-opus-5'] });
    expect(other.upstreams).toMatchObject({ anthropic: 'https://api.anthropic.com' });
  });
});

describe('pi', () => {
  it('loads an extension that leads its providers to the proxy', () => {
    const { args, file: text } = plan('pi', { args: ['-p', 'Hi'] });
    expect(args).toEqual(['--extension', file, '-p', 'Hi']);
    expect(text).toContain(`pi.registerProvider("anthropic", { baseUrl: "${proxyUrl}/anthropic" });`);
    expect(text).toContain(`pi.registerProvider("openai", { baseUrl: "${proxyUrl}/openai/v1" });`);
    expect(text).toContain(`pi.registerProvider("google", { baseUrl: "${proxyUrl}/google/v1beta" });`);
  });

  it.each([['--provider', 'mine'], ['--model', 'mine/large'], ['--model=mine/large']])(
    'goes on to a provider of models.json: %s',
    (...args) => {
      const models = {
        providers: {
          mine: { baseUrl: 'https://llm.example/api', api: 'anthropic-messages', apiKey: 'sk-secret' },
        },
      };
      const readText = files({ '/home/ada/.pi/agent/models.json': JSON.stringify(models) });
      const planned = plan('pi', { args, readText });
      expect(planned.upstreams).toEqual({ anthropic: 'https://llm.example/api' });
      expect(planned.file).toBe(
        `export default function (pi) {\n  pi.registerProvider("mine", { baseUrl: "${proxyUrl}/anthropic/api" });\n}\n`,
      );
      expect(JSON.stringify(planned)).not.toContain('sk-secret');
    },
  );
});

describe('pi without a provider on its command line', () => {
  it('goes on to the one that its settings name', () => {
    const readText = files({
      '/home/ada/.pi/agent/settings.json': '{ "defaultProvider": "mine" }',
      '/home/ada/.pi/agent/models.json':
        '{ "providers": { "mine": { "baseUrl": "https://llm.example/v1" } } }',
    });
    expect(plan('pi', { readText }).upstreams).toEqual({ openai: 'https://llm.example/v1' });
  });
});

describe('any other program', () => {
  it('gets the variables that the libraries of the makers read', () => {
    expect(plan('my-agent', { env: { OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' } })).toMatchObject({
      upstreams: {
        anthropic: 'https://api.anthropic.com',
        openai: 'http://127.0.0.1:11434/v1',
        google: 'https://generativelanguage.googleapis.com',
      },
      env: {
        ANTHROPIC_BASE_URL: `${proxyUrl}/anthropic`,
        OPENAI_BASE_URL: `${proxyUrl}/openai/v1`,
        GOOGLE_GEMINI_BASE_URL: `${proxyUrl}/google`,
      },
    });
  });
});

describe('configs that cannot be read', () => {
  it.each(['codex', 'opencode', 'pi'])('leave %s with the makers themselves', (command) => {
    const readText = () => '{ "provider": [1, "x"], model_provider = ';
    const { upstreams } = plan(command, {
      readText,
      args: ['--provider', '__proto__', '-m', 'constructor/x'],
    });
    expect(upstreams).toMatchObject({ openai: 'https://api.openai.com/v1' });
  });
});
