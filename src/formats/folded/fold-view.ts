import { type Conversation, withMessages } from '../../conversation/format.ts';
import { hasToolCall, hasToolResult, type Message } from '../../conversation/message.ts';
import { foldMessages, foldResults } from './fold-messages.ts';
import { unfoldMessage } from './unfold-message.ts';
import type { Folding } from './unfold-view.ts';

/**
 * - `folded`: the very same conversation when there was nothing to fold
 * - `refused`: what begins at message `index` has no folded form that could be unfolded again into the same messages
 */
export type FoldedView =
  | { readonly status: 'folded'; readonly conversation: Conversation }
  | { readonly status: 'refused'; readonly conversation: Conversation; readonly index: number };

/**
 * The conversation with tool calls folded into the text of answers, as Open WebUI shows them.
 * @param foldings what `unfoldView` gave: then only that is folded back, what was not changed since as the very same
 *   value. Default: every answer with calls is folded.
 */
export function foldView(conversation: Conversation, foldings?: readonly Folding[]): FoldedView {
  const { format, messages } = conversation;
  if (format.name !== 'openai-chat') return { status: 'folded', conversation };
  const stretches =
    foldings === undefined ? nativeStretches(messages) : knownStretches(conversation, foldings);
  const folded: Message[] = [];
  for (const { start, end, folding } of stretches) {
    const stretch = messages.slice(start, end);
    const made = foldStretch(stretch, folding);
    if (made === undefined) return { status: 'refused', conversation, index: start };
    folded.push(...(made === 'as-it-is' ? stretch : [format.readMessage(made.raw)]));
  }
  const isSame =
    folded.length === messages.length && folded.every((message, index) => message === messages[index]);
  return { status: 'folded', conversation: isSame ? conversation : withMessages(conversation, folded) };
}

/** Messages that become one, or one that stays. */
interface Stretch {
  readonly start: number;
  readonly end: number;
  /** What they came from; `new` when it is to be made, undefined when there is nothing to fold. */
  readonly folding: Folding | 'new' | undefined;
}

function foldStretch(
  stretch: readonly Message[],
  folding: Stretch['folding'],
): { readonly raw: unknown } | 'as-it-is' | undefined {
  if (folding === undefined) return 'as-it-is';
  if (folding !== 'new') {
    if (isSameList(stretch, folding.messages)) return { raw: folding.folded.raw };
    const changed = foldResults(folding.folded, stretch);
    if (changed !== undefined) return { raw: changed };
  } else if (!stretch.some(hasTools)) {
    // A plain answer that looks like a folded one would be unfolded by whoever reads it.
    return unfoldMessage(stretch[0]?.raw).status === 'plain' ? 'as-it-is' : undefined;
  }
  if (!stretch.some(hasTools)) return 'as-it-is';
  const raw = foldMessages(stretch);
  return raw === undefined ? undefined : { raw };
}

function hasTools(message: Message): boolean {
  return hasToolCall(message) || hasToolResult(message);
}

function isSameList(left: readonly Message[], right: readonly Message[]): boolean {
  return left.length === right.length && left.every((message, index) => message.raw === right[index]?.raw);
}

/** Calls, results and the answer behind them; every other message by itself. */
function nativeStretches(messages: readonly Message[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (let start = 0; start < messages.length; ) {
    let end = start;
    while (end < messages.length && hasTools(messages[end] ?? NOBODY)) end++;
    const isAnswer = messages[end]?.role === 'assistant';
    if (end === start || isAnswer) end++;
    stretches.push({ start, end, folding: 'new' });
    start = end;
  }
  return stretches;
}

const NOBODY: Message = { role: 'user', blocks: [], responseId: undefined, usage: undefined, raw: undefined };

/** Neighbours that came from the same message: the same values, or calls and results that were changed since. */
function knownStretches({ messages, frame }: Conversation, foldings: readonly Folding[]): readonly Stretch[] {
  const originals = new Set(frame.list);
  const byRaw = new Map<unknown, Folding>();
  const byId = new Map<string, Folding>();
  for (const folding of foldings) {
    for (const message of folding.messages) {
      byRaw.set(message.raw, folding);
      for (const id of toolIds(message)) byId.set(id, folding);
    }
  }
  const foldingOf = (message: Message): Folding | undefined => {
    const known = byRaw.get(message.raw);
    if (known !== undefined || originals.has(message.raw)) return known;
    const [id] = toolIds(message);
    return id === undefined ? undefined : byId.get(id);
  };
  const stretches: Stretch[] = [];
  for (const [index, message] of messages.entries()) {
    const folding = foldingOf(message);
    const before = stretches.at(-1);
    const goesOn = folding !== undefined && before?.folding === folding;
    if (goesOn) stretches.pop();
    stretches.push({ start: goesOn ? before.start : index, end: index + 1, folding });
  }
  return stretches;
}

function toolIds({ blocks }: Message): readonly string[] {
  return blocks.flatMap((block) => {
    if (block.type === 'tool-call') return block.id === undefined ? [] : [block.id];
    return block.type === 'tool-result' && block.callId !== undefined ? [block.callId] : [];
  });
}
