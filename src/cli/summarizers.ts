import { defaultSummarizer } from '../config/default-summarizer.ts';
import { RoundfoldError } from '../core/errors.ts';
import type { ModelClient } from '../core/model-client.ts';
import type { Summarizer } from '../core/summarizer.ts';
import { parseOverflow } from '../formats/overflow/detect.ts';
import { contextWindowForModel } from '../models/catalog.ts';
import { anthropicClient } from '../models/clients/anthropic.ts';
import { openaiClient } from '../models/clients/openai.ts';
import { modelSummarizer } from '../summarizers/model.ts';
import { withDigest } from '../summarizers/with-digest.ts';
import type { OptionDefinition } from './command.ts';

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
    help: 'who writes summaries (default digest, which needs no model; others read their key from ANTHROPIC_API_KEY or OPENAI_API_KEY)',
    choices: [defaultSummarizer.name, ...providers.keys()],
  },
  { flags: '--summarizer-model <name>', help: 'model that writes them' },
];

/**
 * The summarizer of that name, with key and address from the usual environment variables.
 * @throws RoundfoldError `usage` when the key is missing
 */
export function createSummarizer(name: string, model: string | undefined): Summarizer {
  const provider = providers.get(name);
  if (provider === undefined) return defaultSummarizer;
  // A variable that is set to nothing is as good as none.
  const apiKey = process.env[provider.key] || undefined;
  const baseUrl = process.env[provider.baseUrl] || undefined;
  const isMissing = apiKey === undefined && !(provider.isLocalToo && baseUrl !== undefined);
  if (isMissing) {
    throw new RoundfoldError('usage', `the summarizer ${name} needs a key`, {
      remedy: `Set ${provider.key}, or use the summarizer ${defaultSummarizer.name}, which needs no model.`,
    });
  }
  const chosen = model ?? provider.defaultModel;
  const client = provider.create({ model: chosen, apiKey, baseUrl });
  return withDigest(
    modelSummarizer(client, {
      windowTokens: contextWindowForModel(chosen),
      overflowOf: parseOverflow,
    }),
  );
}
