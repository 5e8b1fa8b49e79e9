import { RoundfoldError } from '../conversation/errors.ts';
import type { Conversation, Format } from '../conversation/format.ts';
import { aiSdkModel } from './ai-sdk/model.ts';
import { aiSdkUi } from './ai-sdk/ui.ts';
import { anthropicMessages } from './anthropic-messages/format.ts';
import { gemini } from './gemini/format.ts';
import { langchain } from './langchain/format.ts';
import { openaiChat } from './openai-chat/format.ts';
import { openaiResponses } from './openai-responses/format.ts';

/** Every wire format, in the order in which a value that fits several is given to them. */
export const formats: readonly Format[] = [
  openaiChat,
  anthropicMessages,
  openaiResponses,
  gemini,
  aiSdkModel,
  aiSdkUi,
  langchain,
];

/** The format of that name, or undefined. */
export function findFormat(name: string): Format | undefined {
  return formats.find((format) => format.name === name);
}

/** The format a value is written in: one that is certain, else the first that is possible, else undefined. */
export function recogniseFormat(value: unknown): Format | undefined {
  const verdicts = formats.map((format) => ({ format, recognition: format.recognise(value) }));
  const best =
    verdicts.find(({ recognition }) => recognition === 'certain') ??
    verdicts.find(({ recognition }) => recognition === 'possible');
  return best?.format;
}

/**
 * Reads a request body or a bare list of messages, in the given format or in the one it is recognised as.
 * @throws RoundfoldError `input-not-understood` when no format fits, `usage` when the named one does not exist
 */
export function readConversation<Body>(value: Body, formatName?: string): Conversation<Body> {
  const format = formatName === undefined ? recogniseFormat(value) : findFormat(formatName);
  // A format reads any value; the body of what it gives is this very one.
  if (format !== undefined) return format.read(value) as Conversation<Body>;
  const known = formats.map(({ name }) => name).join(', ');
  if (formatName !== undefined) {
    throw new RoundfoldError('usage', `unknown format ${JSON.stringify(formatName)}`, {
      remedy: `Known: ${known}.`,
    });
  }
  throw new RoundfoldError(
    'input-not-understood',
    'not a request body or a list of messages of a known format',
    {
      remedy: `Name the format if you know it (${known}).`,
    },
  );
}
