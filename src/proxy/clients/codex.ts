import { join } from 'node:path';
import { type Client, makersOwn, type Surroundings, urlVariables, withoutSlash } from './client.ts';

const builtIn = 'openai';
/** Where requests go for those who have logged in with ChatGPT instead of a key. */
const chatgpt = 'https://chatgpt.com/backend-api/codex';

/** Codex reads no variable for its address. What `-c` says counts before the user's config.toml, which stays as it is. */
export const codex: Client = {
  name: 'codex',
  commands: ['codex'],
  plan(surroundings) {
    const config = readConfig(surroundings);
    const provider =
      givenSetting(surroundings.args, 'model_provider') ?? config.get('model_provider') ?? builtIn;
    const key = provider === builtIn ? 'openai_base_url' : `model_providers.${provider}.base_url`;
    const openai = withoutSlash(
      givenSetting(surroundings.args, key) ?? config.get(key) ?? defaultUrl(provider, surroundings),
    );
    return {
      upstreams: { openai },
      launch(proxied) {
        const setting = `${key}=${JSON.stringify(proxied('openai'))}`;
        return {
          args: ['-c', setting, ...withoutSetting(surroundings.args, key)],
          env: {},
          told: [`-c ${setting}`],
        };
      },
    };
  },
};

/** The arguments without a setting that ours replaces: the last one would count. */
function withoutSetting(args: readonly string[], key: string): readonly string[] {
  const isSetting = (index: number): boolean =>
    isSettingFlag(args[index]) && args[index + 1]?.startsWith(`${key}=`) === true;
  return args.filter((_arg, index) => !isSetting(index) && !isSetting(index - 1));
}

function isSettingFlag(arg: string | undefined): boolean {
  return arg === '-c' || arg === '--config';
}

/** A setting that the command line gives with `-c key=value`. */
function givenSetting(args: readonly string[], key: string): string | undefined {
  let value: string | undefined;
  for (const [index, arg] of args.entries()) {
    const setting = isSettingFlag(arg) ? args[index + 1] : undefined;
    if (setting?.startsWith(`${key}=`) === true) value = unquoted(setting.slice(key.length + 1));
  }
  return value;
}

/** What Codex would use by itself: that depends on how its user has logged in, and only it knows. */
function defaultUrl(provider: string, { env, ask }: Surroundings): string {
  const named = env[urlVariables.openai];
  if (named !== undefined && named !== '') return named;
  const hasKey = provider !== builtIn || (env['CODEX_API_KEY'] ?? '') !== '';
  return !hasKey && ask(['login', 'status']).includes('ChatGPT') ? chatgpt : makersOwn.openai;
}

const section = /^\s{0,20}\[([^[\]]{1,200})\]/;
const entry = /^\s{0,20}([\w.-]{1,200})\s{0,20}=\s{0,20}("(?:[^"\\]|\\.){0,2000}"|'[^']{0,2000}')/;

/** Texts of config.toml by their dotted names. Only what is one line and quoted is read: addresses and names are. */
function readConfig({ env, readText }: Surroundings): ReadonlyMap<string, string> {
  const folder = env['CODEX_HOME'] ?? join(env['HOME'] ?? '', '.codex');
  const texts = new Map<string, string>();
  let prefix = '';
  for (const line of (readText(join(folder, 'config.toml')) ?? '').split('\n')) {
    const named = section.exec(line)?.[1];
    if (named !== undefined) prefix = `${named.replaceAll(/["'\s]/g, '')}.`;
    const [, name, value] = entry.exec(line) ?? [];
    if (name !== undefined && value !== undefined) texts.set(`${prefix}${name}`, unquoted(value));
  }
  return texts;
}

function unquoted(value: string): string {
  return /^(["']).{0,2000}\1$/.test(value) ? value.slice(1, -1) : value;
}
