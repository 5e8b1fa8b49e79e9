import { defaultSummarizer } from '../compaction/options.ts';
import type { StrategyDefinition } from '../compaction/plan/strategy.ts';
import { strategies } from '../compaction/strategies/registry.ts';
import { RoundfoldError } from '../conversation/errors.ts';
import type { OptionSpec } from '../conversation/options.ts';
import { parseOverflow } from '../formats/overflow/detect.ts';
import { modelSummarizer } from '../memory/model/model.ts';
import type { ModelClient } from '../memory/model/model-client.ts';
import type { Summarizer } from '../memory/summary-request.ts';
import { anthropicClient } from '../providers/anthropic.ts';
import { openaiClient } from '../providers/openai.ts';
import { contextWindowForModel } from '../tokens/catalog.ts';
import type { GivenArguments, OptionDefinition } from './command.ts';
import { wrapText } from './terminal.ts';

/** `--set`, for every command that compacts. */
export const setOption: OptionDefinition = {
  flags: '--set <key=value>',
  help: 'option of the strategy; may be repeated',
  isList: true,
};

/**
 * The options of the strategy.
 * @throws RoundfoldError `usage` for what is no key with a value
 */
export function readSettings(given: GivenArguments): Readonly<Record<string, unknown>> {
  const instructions = given.text('instructions');
  const settings = (given.list('set') ?? []).map((setting) => {
    const equals = setting.indexOf('=');
    if (equals >= 1) return [setting.slice(0, equals), setting.slice(equals + 1)] as const;
    throw new RoundfoldError('usage', `--set wants key=value, not ${JSON.stringify(setting)}`, {
      remedy: 'For example --set keepLast=20.',
    });
  });
  return { ...Object.fromEntries(settings), ...(instructions === undefined ? {} : { instructions }) };
}

const HELP_COLUMNS = 80;
const HELP_INDENT = '      ';

/** Every strategy with what `--set` takes for it, as the registry lists them. */
export function strategyHelp(): string {
  const entries = strategies.map(({ name, summary, options }: StrategyDefinition) => {
    const settings = Object.entries(options).map(([key, spec]) => settingLine(key, spec));
    return `  ${name}: ${wrapText(summary, HELP_COLUMNS - name.length - 4, '    ')}\n${settings.join('')}`;
  });
  return `Strategies, and what --set takes for each:\n${entries.join('')}`;
}

function settingLine(key: string, spec: OptionSpec): string {
  const value = Array.isArray(spec.default) ? spec.default.join(',') : String(spec.default);
  // Long lists are shown by their beginning.
  const shown = value.length > 24 ? `${value.slice(0, 23)}…` : value;
  return `${HELP_INDENT}${wrapText(`${key}=${shown}  ${spec.help}`, HELP_COLUMNS, `${HELP_INDENT}  `)}\n`;
}

/** A provider of models, and where its key and address come from. */
interface Provider {
  readonly key: string;
  readonly baseUrl: string;
  readonly defaultModel: string;
  /** Whether a server without a key makes sense. */
  readonly isLocalToo: boolean;
  create(options: { model: string; apiKey: string | undefined; baseUrl: string | undefined }): ModelClient;
}

const providers: ReadonlyMap<string, Provider> = new Map([
  [
    'anthropic',
    {
      key: 'ANTHROPIC_API_KEY',
      baseUrl: 'ANTHROPIC_BASE_URL',
      defaultModel: 'claude-haiku-5-5',
      isLocalToo: false,
      create: anthropicClient,
    },
  ],
  [
    'openai',
    {
      key: 'OPENAI_API_KEY',
      baseUrl: 'OPENAI_BASE_URL',
      defaultModel: 'gpt-6-luna',
      isLocalToo: true,
      create: openaiClient,
    },
  ],
]);

/** The options of every command that makes summaries. */
export const summarizerOptions: readonly OptionDefinition[] = [
  {
    flags: '--summarizer <name>',
    help: `who writes summaries (default ${defaultSummarizer.name}, which needs no model; others read their key from ANTHROPIC_API_KEY or OPENAI_API_KEY)`,
    choices: [defaultSummarizer.name, ...providers.keys()],
  },
  { flags: '--summarizer-model <name>', help: 'model that writes them' },
  { flags: '--summarizer-base-url <url>', help: 'address of the server that writes them' },
];

/** Who answers in a chat, and at which address the user has put them. */
export interface ChatAddress {
  readonly provider: string;
  /** Undefined where the chat goes to the provider itself, or to nobody. */
  readonly baseUrl: string | undefined;
}

/**
 * The summarizer of a command line, with its key from the usual environment variable.
 * @param chat who answers, where the conversation is that of a chat
 * @throws RoundfoldError `usage` when the key is missing, when the address is none, or when nobody has said where the
 * conversation may be sent
 */
export function createSummarizer(given: GivenArguments, chat?: ChatAddress): Summarizer {
  const name = given.text('summarizer') ?? defaultSummarizer.name;
  const provider = providers.get(name);
  if (provider === undefined) {
    refuseIdleOptions(given);
    return defaultSummarizer;
  }
  // A variable that is set to nothing is as good as none.
  const apiKey = process.env[provider.key] || undefined;
  const baseUrl = addressFor(name, provider, { given, chat });
  checkAddress(name, baseUrl);
  if (apiKey === undefined && !(provider.isLocalToo && baseUrl !== undefined)) {
    throw new RoundfoldError('usage', `the summarizer ${name} needs a key`, {
      remedy: `Set ${provider.key}, or use the summarizer ${defaultSummarizer.name}, which needs no model.`,
    });
  }
  const model = given.text('summarizerModel') ?? provider.defaultModel;
  return modelSummarizer(provider.create({ model, apiKey, baseUrl }), {
    windowTokens: contextWindowForModel(model),
    overflowOf: parseOverflow,
  });
}

/** Refuses options of a model when no model writes the summaries: they would do nothing. */
function refuseIdleOptions(given: GivenArguments): void {
  const idle = [
    ['summarizerModel', '--summarizer-model'],
    ['summarizerBaseUrl', '--summarizer-base-url'],
  ].find(([option = '']) => given.text(option) !== undefined);
  if (idle === undefined) return;
  throw new RoundfoldError('usage', `${idle[1]} says nothing without a model that writes summaries`, {
    remedy: `Add --summarizer ${[...providers.keys()].join(' or --summarizer ')}.`,
  });
}

/** A wrong address is a mistake in the command line: falling back to a summary without the model would hide it. */
function checkAddress(name: string, baseUrl: string | undefined): void {
  if (baseUrl === undefined) return;
  const protocol = URL.canParse(baseUrl) ? new URL(baseUrl).protocol : undefined;
  if (protocol === 'https:' || protocol === 'http:') return;
  throw new RoundfoldError('usage', `no address of the summarizer ${name}: ${JSON.stringify(baseUrl)}`, {
    remedy: 'A base URL starts with https:// or http://.',
  });
}

/**
 * Where the summarizer is; undefined for the provider itself. A chat that goes to an address of the user's own must not
 * go to a second place that nobody has named.
 */
function addressFor(
  name: string,
  provider: Provider,
  { given, chat }: { readonly given: GivenArguments; readonly chat: ChatAddress | undefined },
): string | undefined {
  const named = given.text('summarizerBaseUrl');
  if (named !== undefined) return named;
  if (chat?.provider === name) return chat.baseUrl;
  const address = process.env[provider.baseUrl] || undefined;
  if (address !== undefined || chat?.baseUrl === undefined) return address;
  throw new RoundfoldError(
    'usage',
    `the chat goes to ${chat.baseUrl}, and nobody has said where the summarizer ${name} is`,
    {
      remedy: `Name its address with --summarizer-base-url, or leave --summarizer out: the default needs no model.`,
    },
  );
}
