import { isObject, type JsonObject } from '../../conversation/json.ts';
import { withoutComments } from '../json-with-comments.ts';

/** Makers of models, each with an address of its own. */
export type Maker = 'anthropic' | 'openai' | 'google';

/** Where requests to each maker go on to, with the path that clients put their routes behind. */
export type MakerUrls = Readonly<Partial<Record<Maker, string>>>;

/** What a client finds where it is started. */
export interface Surroundings {
  /** Of the client, without its own name. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text of a file; undefined when there is none. */
  readText(path: string): string | undefined;
  /** What the client prints when it is started with these arguments; empty when it cannot be. */
  ask(args: readonly string[]): string;
}

/** How a client is started so that its requests come through a proxy. */
export interface Launch {
  readonly args: readonly string[];
  /** Variables to set besides those that are there. */
  readonly env: Readonly<Record<string, string>>;
  /** Text of a file that the client is to load; `args` name it. */
  readonly file?: string | undefined;
  /** What is set, line by line, for the user to read. Nothing that the user has set himself: it may be a secret. */
  readonly told: readonly string[];
}

/** What is known before there is a proxy. */
export interface LaunchPlan {
  readonly upstreams: MakerUrls;
  /**
   * @param proxied the address of the proxy that stands for an upstream, with its path
   * @param filePath where `file` will be
   */
  launch(proxied: (maker: Maker) => string, filePath: string): Launch;
}

/** One client of the table. */
export interface Client {
  readonly name: string;
  /** Commands it is started by. */
  readonly commands: readonly string[];
  plan(surroundings: Surroundings): LaunchPlan;
}

/** Addresses of the makers themselves. */
export const makersOwn = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com',
} as const satisfies MakerUrls;

/** The variables that most programs read their addresses from. */
export const urlVariables = {
  anthropic: 'ANTHROPIC_BASE_URL',
  openai: 'OPENAI_BASE_URL',
  google: 'GOOGLE_GEMINI_BASE_URL',
} as const satisfies Readonly<Record<Maker, string>>;

/** What the environment says, or the makers' own addresses. */
export function upstreamsOf(env: Surroundings['env']): Required<MakerUrls> {
  const read = (maker: Maker): string => {
    const given = env[urlVariables[maker]]?.trim();
    return given === undefined || given === '' ? makersOwn[maker] : withoutSlash(given);
  };
  return { anthropic: read('anthropic'), openai: read('openai'), google: read('google') };
}

/** Providers that a client brings along, by name, with the path that its libraries put behind a maker's address. */
export type BuiltInProviders = ReadonlyMap<string, { readonly maker: Maker; readonly path: string }>;

/** A provider of the user's own. */
export interface CustomProvider {
  readonly name: string;
  readonly url: string;
  readonly maker: Maker;
}

/** The addresses that providers get: the user's own one where the model is one of its, else all that the client has. */
export function providerUrls(
  builtIn: BuiltInProviders,
  custom: CustomProvider | undefined,
  proxied: (maker: Maker) => string,
): readonly (readonly [name: string, url: string])[] {
  if (custom !== undefined) return [[custom.name, proxied(custom.maker)]];
  return [...builtIn].map(([name, { maker, path }]) => [name, `${proxied(maker)}${path}`]);
}

/** Variables as lines that a shell reads. */
export function asLines(variables: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}

/** An address without the slashes that it ends with. */
export function withoutSlash(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end--;
  return url.slice(0, end);
}

/** A config file, perhaps with comments; empty when there is none or it cannot be read. */
export function parseConfig(text: string | undefined): JsonObject {
  try {
    const value: unknown = JSON.parse(withoutComments(text ?? '{}'));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The value of an option on a command line: `--model x`, `--model=x`, `-m x`. The last one counts. */
export function optionOf(args: readonly string[], ...names: readonly string[]): string | undefined {
  let value: string | undefined;
  for (const [index, arg] of args.entries()) {
    if (names.includes(arg)) value = args[index + 1] ?? value;
    const name = names.find((each) => each.startsWith('--') && arg.startsWith(`${each}=`));
    if (name !== undefined) value = arg.slice(name.length + 1);
  }
  return value;
}
