import { join } from 'node:path';
import { asString, isObject } from '../../conversation/json.ts';
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
  ['anthropic', { maker: 'anthropic', path: '' }],
  ['openai', { maker: 'openai', path: '' }],
  ['google', { maker: 'google', path: '/v1beta' }],
]);

/** pi reads no variable for its addresses. An extension gives providers others, for this run alone. */
export const pi: Client = {
  name: 'pi',
  commands: ['pi'],
  plan(surroundings) {
    const { args, env } = surroundings;
    const custom = findCustom(surroundings);
    const makerUrls = upstreamsOf(env);
    return {
      upstreams: custom === undefined ? makerUrls : { [custom.maker]: custom.url },
      launch(proxied, filePath) {
        const urls = providerUrls(builtIn, custom, proxied);
        return {
          args: ['--extension', filePath, ...args],
          env: {},
          file: extensionWith(urls),
          told: [
            `--extension ${filePath}`,
            ...urls.map(([name, url]) => `  provider ${name}: baseUrl ${url}`),
          ],
        };
      },
    };
  },
};

function extensionWith(urls: readonly (readonly [name: string, url: string])[]): string {
  const calls = urls.map(
    ([name, url]) => `  pi.registerProvider(${JSON.stringify(name)}, { baseUrl: ${JSON.stringify(url)} });\n`,
  );
  return `export default function (pi) {\n${calls.join('')}}\n`;
}

/** The provider of models.json that the command line or the settings name, if it has an address of its own. */
function findCustom({ args, env, readText }: Surroundings) {
  const folder = env['PI_CODING_AGENT_DIR'] ?? join(env['HOME'] ?? '', '.pi', 'agent');
  const { defaultProvider } = parseConfig(readText(join(folder, 'settings.json')));
  const name =
    optionOf(args, '--provider') ?? providerOf(optionOf(args, '--model')) ?? asString(defaultProvider);
  const { providers } = parseConfig(readText(join(folder, 'models.json')));
  if (name === undefined || !isObject(providers) || !Object.hasOwn(providers, name)) return undefined;
  const provider = providers[name];
  if (!isObject(provider) || typeof provider['baseUrl'] !== 'string') return undefined;
  return { name, url: withoutSlash(provider['baseUrl']), maker: makerOf(provider['api'], name) };
}

function providerOf(model: string | undefined): string | undefined {
  return model?.includes('/') === true ? model.split('/', 1)[0] : undefined;
}

function makerOf(api: unknown, name: string): Maker {
  if (typeof api !== 'string') return builtIn.get(name)?.maker ?? 'openai';
  if (api.startsWith('anthropic')) return 'anthropic';
  return api.startsWith('google') ? 'google' : 'openai';
}
