import { asCount, isObject, type JsonObject } from '../conversation/json.ts';
import { tryParseJson } from '../providers/event-stream.ts';
import type { ReportedUsage } from './record.ts';

/** Where a wire format reports tokens, and what it calls them. */
interface UsageWords {
  /** The object with the counts, wherever it stands in an answer or in an event of one. */
  find(value: JsonObject): unknown;
  read(counts: JsonObject): ReportedUsage;
}

const words: ReadonlyMap<string, UsageWords> = new Map<string, UsageWords>([
  [
    'anthropic-messages',
    {
      find: (value) => value['usage'] ?? inside(value, 'message')['usage'],
      read(counts) {
        const cacheReadTokens = asCount(counts['cache_read_input_tokens']);
        const cacheWriteTokens = asCount(counts['cache_creation_input_tokens']);
        const promptTokens = asCount(counts['input_tokens']) + cacheReadTokens + cacheWriteTokens;
        return {
          promptTokens,
          outputTokens: asCount(counts['output_tokens']),
          cacheReadTokens,
          cacheWriteTokens,
        };
      },
    },
  ],
  [
    'openai-chat',
    {
      find: (value) => value['usage'],
      read: (counts) => ({
        promptTokens: asCount(counts['prompt_tokens']),
        outputTokens: asCount(counts['completion_tokens']),
        cacheReadTokens: asCount(inside(counts, 'prompt_tokens_details')['cached_tokens']),
      }),
    },
  ],
  [
    'openai-responses',
    {
      find: (value) => value['usage'] ?? inside(value, 'response')['usage'],
      read: (counts) => ({
        promptTokens: asCount(counts['input_tokens']),
        outputTokens: asCount(counts['output_tokens']),
        cacheReadTokens: asCount(inside(counts, 'input_tokens_details')['cached_tokens']),
      }),
    },
  ],
  [
    'gemini',
    {
      find: (value) => value['usageMetadata'],
      read: (counts) => ({
        promptTokens: asCount(counts['promptTokenCount']),
        outputTokens: asCount(counts['candidatesTokenCount']) + asCount(counts['thoughtsTokenCount']),
        cacheReadTokens: asCount(counts['cachedContentTokenCount']),
      }),
    },
  ],
]);

/** Watches an answer pass and reads what the provider reports in it. Never holds anything up. */
export interface UsageReader {
  push(chunk: Uint8Array): void;
  /** What was reported until now, or in all; undefined when nothing was. */
  end(): ReportedUsage | undefined;
}

/** More of one answer or one line of it is not kept: what it reports stays unknown then. */
const LONGEST_TEXT = 4 * 1024 * 1024;

/** A reader for the answers of a wire format: a JSON text, or a stream of events. */
export function createUsageReader(format: string | undefined, isStream: boolean): UsageReader {
  const spoken = format === undefined ? undefined : words.get(format);
  if (spoken === undefined) return { push() {}, end: () => undefined };
  let counts: JsonObject = {};
  const take = (text: string) => {
    // Most events are deltas of a text, and reading each of them would cost more than passing it on.
    if (!text.includes('"usage')) return;
    const value = tryParseJson(text);
    const found = isObject(value) ? spoken.find(value) : undefined;
    // Later events report what earlier ones could not know yet.
    if (isObject(found)) counts = { ...counts, ...withoutNulls(found) };
  };
  const reader = isStream ? readLines(take) : readWhole(take);
  return {
    push: reader.push,
    end() {
      reader.end();
      return Object.keys(counts).length === 0 ? undefined : spoken.read(counts);
    },
  };
}

interface TextReader {
  push(chunk: Uint8Array): void;
  end(): void;
}

function readWhole(take: (text: string) => void): TextReader {
  const decoder = new TextDecoder();
  let text = '';
  let isTooLong = false;
  return {
    push(chunk) {
      if (isTooLong) return;
      text += decoder.decode(chunk, { stream: true });
      isTooLong = text.length > LONGEST_TEXT;
      if (isTooLong) text = '';
    },
    end: () => take(text),
  };
}

/** Gives the data of every event. No provider spreads the JSON of one event over several lines. */
function readLines(take: (text: string) => void): TextReader {
  const decoder = new TextDecoder();
  // Pieces of a line that has not ended: joined once, however small the chunks are.
  let pieces: string[] = [];
  let length = 0;
  const endLine = (last: string) => {
    const line = [...pieces, last].join('');
    if (length <= LONGEST_TEXT && line.startsWith('data:')) take(line.slice('data:'.length));
    pieces = [];
    length = 0;
  };
  return {
    push(chunk) {
      const lines = decoder.decode(chunk, { stream: true }).split(/\r\n|\r|\n/);
      const rest = lines.pop() ?? '';
      for (const line of lines) endLine(line);
      length += rest.length;
      if (length > LONGEST_TEXT) pieces = [];
      else pieces.push(rest);
    },
    end: () => endLine(''),
  };
}

function inside(value: JsonObject, key: string): JsonObject {
  const found = value[key];
  return isObject(found) ? found : {};
}

function withoutNulls(counts: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== null));
}
