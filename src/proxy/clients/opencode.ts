import { join } from 'node:path';
import { isObject, type JsonObject } from '../../conversation/json.ts';
import {
  type BuiltInProviders,
  type Client,
  type Maker,
  optionOf,
  parseConfig,
  providerUrls,
  type Surroundings,
  upstreamsOf,
  withoutSlash,
} from './client.ts';

const builtIn: BuiltInProviders = new Map([
  ['anthropic', { maker: 'anthropic', path: '/v1' }],
  ['openai', { maker: 'openai', path: '' }],
  ['google', { maker: 'google', path: '/v1beta' }],
]);

const contentVariable = 'OPENCODE_CONFIG_CONTENT';

/** opencode merges what this variable holds over all of its config files, which stay as they are. */
export const opencode: Client = {
  name: 'opencode',
  commands: ['opencode'],
  plan(surroundings) {
    const { args, env } = surroundings;
    const given = parseConfig(env[contentVariable]);
    const configs = [...readConfigs(surroundings), given];
    const model = optionOf(args, '--model', '-m') ?? lastText(configs, (config) => config['model']);
    const custom = findCustom(configs, model?.split('/', 1)[0]);
    const makerUrls = upstreamsOf(env);
    const upstreams = custom === undefined ? makerUrls : { [custom.maker]: custom.url };
    return {
      upstreams,
      launch(proxied) {
        const urls = providerUrls(builtIn, custom, proxied);
        return {
          args,
          env: { [contentVariable]: JSON.stringify(withUrls(given, urls)) },
          told: [`${contentVariable}=${JSON.stringify(withUrls({}, urls))}`],
        };
      },
    };
  },
};

/** A provider of the user's own, if the model is one of its. */
function findCustom(configs: readonly JsonObject[], name: string | undefined) {
  if (name === undefined) return undefined;
  const url = lastText(configs, (config) => inside(inside(providerIn(config, name), 'options'), 'baseURL'));
  if (url === undefined) return undefined;
  const library = lastText(configs, (config) => inside(providerIn(config, name), 'npm')) ?? '';
  return { name, url: withoutSlash(url), maker: makerOf(library, name) };
}

function makerOf(library: string, name: string): Maker {
  if (library.includes('anthropic')) return 'anthropic';
  if (library.includes('google')) return 'google';
  return library === '' ? (builtIn.get(name)?.maker ?? 'openai') : 'openai';
}

function providerIn(config: JsonObject, name: string): unknown {
  return inside(config['provider'], name);
}

function inside(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function lastText(configs: readonly JsonObject[], read: (config: JsonObject) => unknown): string | undefined {
  return configs
    .map(read)
    .filter((value) => typeof value === 'string')
    .at(-1);
}

/** The config with other addresses of some providers, and everything else as it is. */
function withUrls(config: JsonObject, urls: readonly (readonly [name: string, url: string])[]): JsonObject {
  const providers = isObject(config['provider']) ? config['provider'] : {};
  const changed = urls.map(([name, baseURL]) => {
    const before = inside(providers, name);
    const options = inside(before, 'options');
    return [
      name,
      {
        ...(isObject(before) ? before : {}),
        options: { ...(isObject(options) ? options : {}), baseURL },
      },
    ] as const;
  });
  return { ...config, provider: { ...providers, ...Object.fromEntries(changed) } };
}

/** The user's config files, those that count less first. */
function readConfigs({ env, readText }: Surroundings): readonly JsonObject[] {
  const folder = env['XDG_CONFIG_HOME'] ?? join(env['HOME'] ?? '', '.config');
  const names = ['opencode.json', 'opencode.jsonc'];
  const files = [...names.map((name) => join(folder, 'opencode', name)), env['OPENCODE_CONFIG'], ...names];
  return files.map((file) => parseConfig(file === undefined ? undefined : readText(file)));
}
