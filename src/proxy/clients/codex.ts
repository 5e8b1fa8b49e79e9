import { join } from 'node:path';
import { type Client, makersOwn, optionOf, type Surroundings, urlVariables, withoutSlash } from './client.ts';

const builtIn = 'openai';
/** Where requests go for those who have logged in with ChatGPT instead of a key. */
const chatgpt = 'https://chatgpt.com/backend-api/codex';

/** Codex reads no variable for its address. What `-c` says counts before the user's config.toml, which stays as it is. */
export const codex: Client = {
  name: 'codex',
  commands: ['codex'],
  plan(surroundings) {
    const config = readConfig(surroundings);
    const provider = givenSetting(surroundings.args, 'model_provider') ?? config.get('model_provider') ?? builtIn;
    const key = provider === builtIn ? 'openai_base_url' : `model_providers.${provider}.base_url`;
    const openai = withoutSlash(
      givenSetting(surroundings.args, key) ?? config.get(key) ?? defaultUrl(provider, surroundings),
    );
    return {
      upstreams: { openai },
      // Behind all other settings, since the last one counts.
      launch: (proxied) => ({
        args: [...withSetting(surroundings.args, `${key}=${JSON.stringify(proxied(openai))}`)],
        env: {},
      }),
    };
  },
};

/** Options of the whole command stand before its first word, and what follows a bare `--` is no option. */
function withSetting(args: readonly string[], setting: string): readonly string[] {
  return ['-c', setting, ...args.filter((arg, index) => !isSettingOfUrl(args, index, setting))];
}

/** Whether an argument is, or belongs to, an older setting of the same address. */
function isSettingOfUrl(args: readonly string[], index: number, setting: string): boolean {
  const key = `${setting.slice(0, setting.indexOf('='))}=`;
  const isFlag = (arg: string | undefined) => arg === '-c' || arg === '--config';
  if (isFlag(args[index])) return args[index + 1]?.startsWith(key) === true;
  return isFlag(args[index - 1]) && args[index]?.startsWith(key) === true;
}

/** A setting that the command line gives with `-c key=value`. */
function givenSetting(args: readonly string[], key: string): string | undefined {
  let value: string | undefined;
  for (const [index, arg] of args.entries()) {
    const setting = arg === '-c' || arg === '--config' ? args[index + 1] : undefined;
    if (setting?.startsWith(`${key}=`) === true) value = unquoted(setting.slice(key.length + 1));
  }
  return value;
}

function defaultUrl(provider: string, { args, env, ask }: Surroundings): string {
  const named = env[urlVariables.openai];
  if (named !== undefined && named !== '') return named;
  if (provider !== builtIn || (env['CODEX_API_KEY'] ?? '') !== '') return makersOwn.openai;
  const home = optionOf(args, '--cd', '-C');
  return /ChatGPT/.test(ask('codex', ['login', 'status', ...(home === undefined ? [] : [])])) ? chatgpt : makersOwn.openai;
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
