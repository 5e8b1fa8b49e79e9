import { RoundfoldError } from '../../conversation/errors.ts';
import { asList } from '../../conversation/json.ts';
import { askAnthropic } from '../../providers/anthropic.ts';
import { askOpenai, textOf } from '../../providers/openai.ts';
import { offlineProvider } from './offline.ts';
import { anthropicWire, type ChatProvider, openaiWire, type ProviderName } from './provider.ts';

/** Who is asked, and where. */
export interface Access {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
}

/** The Anthropic Messages API, streamed. */
function anthropicProvider(access: Access): ChatProvider {
  return {
    name: 'anthropic',
    wire: anthropicWire,
    async ask(body, options) {
      // The provider marks the end of the prompt for its cache by itself: no message has to change for it.
      const marked = { ...body, cache_control: { type: 'ephemeral' } };
      const { message, usage } = await askAnthropic({ ...access, model: '', streams: true }, marked, options);
      return { message: { role: 'assistant', content: message['content'] }, usage };
    },
  };
}

/** Chat Completions of OpenAI, or of any server that speaks like it, streamed. */
function openaiProvider(access: Access): ChatProvider {
  return {
    name: 'openai',
    wire: openaiWire,
    async ask(body, options) {
      const { choice, usage } = await askOpenai({ ...access, model: '', streams: true }, body, options);
      const { content, tool_calls: calls } = choice.message;
      const called = asList(calls).length > 0 ? { tool_calls: calls } : {};
      return { message: { role: 'assistant', content: textOf(content), ...called }, usage };
    },
  };
}

const OFFLINE = 'offline';

interface RemoteProvider {
  readonly name: Exclude<ProviderName, typeof OFFLINE>;
  readonly key: string;
  readonly baseUrl: string;
  readonly model: string;
  /** Whether a server without a key makes sense. */
  readonly isLocalToo: boolean;
  create(access: Access): ChatProvider;
}

const remote: readonly RemoteProvider[] = [
  {
    name: 'anthropic',
    key: 'ANTHROPIC_API_KEY',
    baseUrl: 'ANTHROPIC_BASE_URL',
    model: 'claude-haiku-5-5',
    isLocalToo: false,
    create: anthropicProvider,
  },
  {
    name: 'openai',
    key: 'OPENAI_API_KEY',
    baseUrl: 'OPENAI_BASE_URL',
    model: 'gpt-6-luna',
    isLocalToo: true,
    create: openaiProvider,
  },
];

export interface ProviderChoice {
  readonly name: string | undefined;
  readonly baseUrl: string | undefined;
  readonly isPaced: boolean;
}

/** A provider, and the model that it is asked for when nobody names one. */
export interface ChosenProvider {
  readonly provider: ChatProvider;
  readonly defaultModel: string;
  /** The address that the user has named for it; undefined where it goes to the provider itself. */
  readonly baseUrl: string | undefined;
}

/**
 * The provider of that name; without one, the first that has a key, or the one that needs none. An address alone is that
 * of a server that speaks like OpenAI.
 * @throws RoundfoldError `usage` when the key is missing
 */
export function chooseProvider(
  { name, baseUrl, isPaced }: ProviderChoice,
  environment: Readonly<Record<string, string | undefined>>,
): ChosenProvider {
  const byAddress = baseUrl === undefined ? undefined : 'openai';
  const wanted = name ?? byAddress ?? remote.find(({ key }) => environment[key])?.name ?? OFFLINE;
  const found = remote.find((one) => one.name === wanted);
  if (found === undefined)
    return { provider: offlineProvider({ isPaced }), defaultModel: OFFLINE, baseUrl: undefined };
  // A variable that is set to nothing is as good as none.
  const apiKey = environment[found.key] || undefined;
  const address = baseUrl ?? (environment[found.baseUrl] || undefined);
  if (apiKey === undefined && !(found.isLocalToo && address !== undefined)) {
    throw new RoundfoldError('usage', `the provider ${wanted} needs a key`, {
      remedy: `Set ${found.key}, or use the provider ${OFFLINE}, which needs none.`,
    });
  }
  return {
    provider: found.create({ apiKey, baseUrl: address }),
    defaultModel: found.model,
    baseUrl: address,
  };
}
