import { isObject, type JsonObject } from '../../conversation/json.ts';
import { assistantMessages, toolMessage } from './native-messages.ts';
import { type ScannedText, scanText, type TextFault } from './scan-text.ts';
import { OPENING } from './tool-block.ts';
import { type UnfoldedOutput, unfoldOutput } from './unfold-output.ts';

/**
 * Why a message is left as it is: something about its text, or
 * - `content-parts`: the folded call stands in a list of parts
 * - `own-calls`: the message has calls of its own besides
 * - `output-differs`: text and hidden list tell different stories
 */
export type FoldedFault = TextFault | 'content-parts' | 'own-calls' | 'output-differs';

export type UnfoldedMessage =
  | { readonly status: 'plain' }
  | { readonly status: 'unfolded'; readonly messages: readonly JsonObject[] }
  | { readonly status: 'refused'; readonly reason: FoldedFault };

/**
 * A chat message as the messages it stands for. The hidden `output` list counts if it has tool calls or more text than
 * the content; else the folded text, each call as a round of its own, since markup does not tell parallel calls from
 * successive ones. A plain answer stays as it is; only `output`, which no provider knows, goes.
 */
export function unfoldMessage(raw: unknown): UnfoldedMessage {
  if (!isObject(raw) || raw['role'] !== 'assistant') return PLAIN;
  const { content, output, tool_calls: ownCalls } = raw;
  if (Array.isArray(content) || ownCalls !== undefined) return unfoldOther(raw);
  const text = typeof content === 'string' ? content : '';
  const scanned = scanText(text);
  const recorded = output === undefined ? undefined : unfoldOutput(output);
  if (recorded !== undefined && recorded.callIds.length > 0) {
    if (!agrees(text, scanned, recorded)) return { status: 'refused', reason: 'output-differs' };
    return { status: 'unfolded', messages: withFields(recorded.messages, raw) };
  }
  if (typeof scanned === 'string') return { status: 'refused', reason: scanned };
  if (scanned.blocks.length > 0) {
    return { status: 'unfolded', messages: withFields(unfoldText(scanned), raw) };
  }
  if (output === undefined) return PLAIN;
  const isRicher =
    recorded !== undefined &&
    recorded.messages.length > 0 &&
    textOf(recorded).length > text.length &&
    isPart(text, recorded);
  return {
    status: 'unfolded',
    messages: isRicher ? withFields(recorded.messages, raw) : [withoutOutput(raw)],
  };
}

const PLAIN: UnfoldedMessage = { status: 'plain' };

function unfoldOther(raw: JsonObject): UnfoldedMessage {
  const { content } = raw;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = parts.map((part) => (isObject(part) ? part['text'] : part));
  if (texts.some((text) => typeof text === 'string' && text.includes(OPENING))) {
    return { status: 'refused', reason: Array.isArray(content) ? 'content-parts' : 'own-calls' };
  }
  return raw['output'] === undefined ? PLAIN : { status: 'unfolded', messages: [withoutOutput(raw)] };
}

function withoutOutput({ output: _output, ...rest }: JsonObject): JsonObject {
  return rest;
}

function unfoldText({ blocks, pieces }: ScannedText): readonly JsonObject[] {
  const messages = blocks.flatMap(({ call: { result, ...call } }, index) => [
    ...assistantMessages(pieces[index] ?? '', [call]),
    toolMessage(call.id, result),
  ]);
  return [...messages, ...assistantMessages(pieces.at(-1) ?? '', [])];
}

/** The other fields of the folded message go with the last message that the assistant wrote. */
function withFields(messages: readonly JsonObject[], raw: JsonObject): readonly JsonObject[] {
  const { content: _content, output: _output, ...fields } = raw;
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.map((message, index) => (index === last ? { ...fields, ...message } : message));
}

/** Whoever edits an answer changes its text and not the hidden list. */
function agrees(text: string, scanned: ScannedText | TextFault, recorded: UnfoldedOutput): boolean {
  if (typeof scanned === 'string' || scanned.blocks.length === 0) return isPart(text, recorded);
  const isSameCalls =
    scanned.blocks.length === recorded.callIds.length &&
    scanned.blocks.every(({ call }, index) => call.id === recorded.callIds[index]);
  return isSameCalls && holdsLines(text, textOf(recorded));
}

function isPart(text: string, recorded: UnfoldedOutput): boolean {
  const said = textOf(recorded);
  return holdsLines(said, text) || holdsLines(text, said);
}

function textOf({ said }: UnfoldedOutput): string {
  return said.join('\n');
}

/**
 * Whether a text has all lines of another, in order, with more lines in between or not. Line by line, because looking for
 * a long text in another can take minutes when both are made for it.
 */
function holdsLines(text: string, wanted: string): boolean {
  const lines = linesOf(wanted);
  let next = 0;
  for (const line of linesOf(text)) if (line === lines[next]) next++;
  return next === lines.length;
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
