import { z } from 'zod';
import { RoundfoldError } from '../conversation/errors.ts';
import { refusal, unknownName } from './config-refusal.ts';
import { withoutComments } from './json-with-comments.ts';
import { foldShareOf, READY_AT } from './windows.ts';

const tokens = z.int().min(1);
const name = z.string().min(1).max(300);

/** Where requests go. */
const upstream = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).describe('address, perhaps with a base path'),
  path: z
    .string()
    .regex(/^\/[^?#]*$/)
    .optional()
    .describe('only paths that begin with this, which is taken off'),
  model: name.optional().describe('only models of this name; * stands for any characters'),
  format: z
    .enum(['anthropic-messages', 'openai-chat', 'openai-responses', 'gemini'])
    .optional()
    .describe('only this wire format'),
});

/** Every setting of `roundfold proxy`. Names that are not here are refused. */
export const configSchema = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('address to listen at'),
  port: z.int().min(0).max(65_535).default(8787).describe('port to listen at; 0 is any free one'),
  allowRemote: z
    .boolean()
    .default(false)
    .describe('allow an address that other machines can reach; needs a token'),
  token: z.string().min(16).optional().describe('what clients have to send in x-roundfold-token'),
  hosts: z
    .array(name)
    .default([])
    .describe('further names that clients may call this proxy by, also those of a TLS server in front of it'),
  upstreams: z
    .array(upstream)
    .default([])
    .describe('where requests go, the first that fits; without any: the provider whose format they are in'),
  store: z.string().min(1).optional().describe('a path, postgres://… or memory:'),
  mode: z.enum(['fold', 'observe']).default('fold').describe('observe counts and tells, and changes nothing'),
  window: tokens.optional().describe('window of every model, in tokens'),
  windows: z
    .record(name, tokens)
    .default({})
    .describe('windows of models by name; * stands for any characters'),
  trigger: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe('share of the window at which requests are folded; 0.8 unless the window is small'),
  target: z.number().gt(0).lt(1).optional().describe('share of the window that a compaction aims at'),
  log: z.string().min(1).optional().describe('file for one line of JSON per request, without contents'),
  showContent: z
    .boolean()
    .default(false)
    .describe('whether the dashboard shows texts of messages and memories'),
  answerCompactions: z
    .boolean()
    .default(false)
    .describe(
      'whether /responses/compact and compaction triggers get a memory of ours, for upstreams that know neither',
    ),
  recall: z
    .boolean()
    .default(false)
    .describe('whether agents can ask for what left, as an MCP server at /roundfold/mcp'),
  tenant: name
    .optional()
    .describe('tenant of all requests, for a proxy that one person uses; default: by the credential'),
  tenantHeader: name.optional().describe('header that names the tenant, instead of the credential'),
  maxBodyBytes: z
    .int()
    .min(1024)
    .default(64 * 1024 * 1024)
    .describe('largest body'),
  maxStreams: z.int().min(1).default(2000).describe('requests under way at once'),
  drainSeconds: z.number().min(0).max(3600).default(600).describe('how long answers may go on after SIGTERM'),
});

export type ProxyConfig = z.output<typeof configSchema>;
type ConfigKey = keyof ProxyConfig;

const keys = Object.keys(configSchema.shape) as ConfigKey[]; // the keys of the schema are those of its output

/** Where a value in force came from. */
export type ConfigSource = 'flag' | 'environment' | 'file' | 'default';

/** Values by name, as they were given. */
export type GivenConfig = Readonly<Record<string, unknown>>;

export interface ConfigLayers {
  readonly flags: GivenConfig;
  /** The environment of the process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly file?: { readonly name: string; readonly text: string } | undefined;
}

export interface LoadedConfig {
  readonly config: ProxyConfig;
  readonly sources: Readonly<Record<ConfigKey, ConfigSource>>;
}

/**
 * The settings in force: flags over `ROUNDFOLD_*` variables over the file over defaults.
 * @throws RoundfoldError `usage` for a name that does not exist or a value that cannot be meant, and where it stands
 */
export function loadConfig({ flags, environment, file }: ConfigLayers): LoadedConfig {
  const layers: readonly (readonly [ConfigSource, GivenConfig])[] = [
    ['flag', withoutUndefined(flags)],
    ['environment', readEnvironment(environment)],
    ['file', file === undefined ? {} : readFileText(file)],
  ];
  for (const [source, given] of layers) check(given, source, file?.name);
  const merged = Object.assign({}, ...layers.map(([, given]) => given).reverse()) as GivenConfig;
  const parsed = configSchema.safeParse(merged, { reportInput: true });
  if (!parsed.success) throw refusal(parsed.error, 'the settings together', namesAt);
  refuseLargeTarget(parsed.data);
  const sourceOf = (key: ConfigKey) =>
    layers.find(([, given]) => Object.hasOwn(given, key))?.[0] ?? 'default';
  const sources = Object.fromEntries(keys.map((key) => [key, sourceOf(key)]));
  return { config: parsed.data, sources: sources as Record<ConfigKey, ConfigSource> }; // one entry for every key
}

/** Whoever aims above the point at which a compaction is made would never get one. */
function refuseLargeTarget({ target = 0, trigger = foldShareOf(0) }: ProxyConfig): void {
  const most = trigger * READY_AT;
  if (target < most) return;
  throw new RoundfoldError('usage', `target has to be below the trigger: less than ${most.toFixed(3)} here`, {
    place: { source: 'the settings together' },
    remedy: 'Leave target out, or make it smaller.',
  });
}

/** The name of the variable of a setting: `ROUNDFOLD_MAX_STREAMS`. */
function variableOf(key: string): string {
  return `ROUNDFOLD_${key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

function readEnvironment(environment: ConfigLayers['environment']): GivenConfig {
  refuseUnknownVariables(environment);
  const given: [string, unknown][] = [];
  for (const key of keys) {
    const text = environment[variableOf(key)];
    if (text !== undefined && text !== '') given.push([key, readText(key, text)]);
  }
  return Object.fromEntries(given);
}

/** Variables that are no settings: what commands read besides, and what the tests and benches of this project do. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set(
  ['CONFIG', 'STORE_SECRET', 'CHATS', 'CHROMIUM', 'CLIENTS', 'CORPUS', 'EXCHANGES', 'PROBES', 'RUNS'].map(
    (name) => `ROUNDFOLD_${name}`,
  ),
);

function refuseUnknownVariables(environment: ConfigLayers['environment']): void {
  const variables = keys.map(variableOf);
  const known = new Set(variables).union(OTHER_VARIABLES);
  const unknown = Object.keys(environment).find((each) => each.startsWith('ROUNDFOLD_') && !known.has(each));
  if (unknown !== undefined) throw unknownName(unknown, { names: variables, source: 'environment' });
}

/** Text as a setting takes it: lists and objects as JSON, and a single upstream as its address. */
function readText(key: string, text: string): unknown {
  if (TEXTS.has(key)) return text;
  if (key === 'upstreams' && !text.trimStart().startsWith('['))
    return text.split(',').map((url) => ({ url: url.trim() }));
  if (key === 'hosts' && !text.trimStart().startsWith('[')) return text.split(',').map((host) => host.trim());
  try {
    return JSON.parse(text);
  } catch {
    // The schema says what it should have been.
    return text;
  }
}

const TEXTS = new Set(['host', 'token', 'store', 'mode', 'log', 'tenant', 'tenantHeader']);

function readFileText({ name: source, text }: { readonly name: string; readonly text: string }): GivenConfig {
  let value: unknown;
  try {
    value = JSON.parse(withoutComments(text));
  } catch (cause) {
    // The message repeats a piece of the text, which may hold a token: only the place of it is told.
    const [, byte] = /position (\d{1,9})/.exec(cause instanceof Error ? cause.message : '') ?? [];
    const at = byte === undefined ? undefined : text.slice(0, Number(byte)).split('\n');
    // biome-ignore lint/style/useErrorCause: the cause repeats that piece too
    throw new RoundfoldError('usage', 'the configuration is no JSON', {
      place: {
        source,
        line: at?.length,
        column: at === undefined ? undefined : (at.at(-1)?.length ?? 0) + 1,
      },
      remedy: 'Comments and commas behind the last value are fine; everything else is JSON.',
    });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const { $schema: _schema, ...settings } = value as Record<string, unknown>; // an object of whatever
    return settings;
  }
  throw new RoundfoldError('usage', 'the configuration is no JSON object', { place: { source } });
}

/** Of all objects in the settings, only upstreams have names of their own. */
function namesAt(path: readonly PropertyKey[]): readonly string[] {
  return path.length === 0 ? keys : Object.keys(upstream.shape);
}

function check(given: GivenConfig, source: ConfigSource, file: string | undefined): void {
  const parsed = configSchema.partial().safeParse(given, { reportInput: true });
  if (!parsed.success) throw refusal(parsed.error, source === 'file' ? (file ?? 'file') : source, namesAt);
}

function withoutUndefined(given: GivenConfig): GivenConfig {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** What stands in the place of a secret when settings are shown. */
const HIDDEN = '(set, not shown)';

/** The settings as they are shown: each with where it came from, and no secret. */
export function describeConfig({ config, sources }: LoadedConfig): readonly ConfigRow[] {
  return keys.map((key) => ({ key, value: shownValue(key, config[key]), source: sources[key] }));
}

export interface ConfigRow {
  readonly key: string;
  readonly value: unknown;
  readonly source: ConfigSource;
}

function shownValue(key: ConfigKey, value: unknown): unknown {
  if (key === 'token' && value !== undefined) return HIDDEN;
  // The address of a store may hold a password.
  if (key === 'store' && typeof value === 'string' && /^postgres/.test(value)) return 'postgres://…';
  return value;
}

/** The JSON schema of a configuration file. */
export function configJsonSchema(): unknown {
  const schema = z.toJSONSchema(configSchema, { io: 'input' });
  return { ...schema, title: 'Configuration of roundfold proxy' };
}
