import type { Conversation, Format, Frame } from '../../conversation/format.ts';
import { isObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';
import { memoryWriter } from '../../memory/summarizer.ts';
import type { Summarizer, SummaryOutcome } from '../../memory/summary-request.ts';
import { notCompacted, type Strategy } from '../plan/strategy.ts';
import { decorate, errorText } from './decorate.ts';

/**
 * Keeps secrets from whoever writes the summaries: it sees only what `redact` left of messages, of the instructions and
 * tools around them and of the previous summary, and what it answers is redacted as well. Ids and bytes of media are not
 * shown to `redact`. Reasoning that would have to be changed is left out. What stays in the conversation is not touched.
 *
 * When `redact` throws, nothing is shown to a summarizer: `failed` with `redaction-failed`.
 */
export function withRedaction(inner: Strategy, redact: (text: string) => string): Strategy {
  const views = new WeakMap<Message, Message | 'left-out'>();
  const originals = new WeakMap<Message, Message>();

  return decorate(inner, async (conversation, context) => {
    // A strategy may catch what its summarizer throws, so the first fault is remembered as well.
    let fault: { readonly cause: unknown } | undefined;
    const guarded: Redact = (text) => {
      try {
        return redact(text);
      } catch (cause) {
        fault ??= { cause };
        throw cause;
      }
    };
    const viewOf = (message: Message, format: Format): readonly Message[] => {
      const view = views.get(message) ?? redactMessage(message, format, guarded) ?? 'left-out';
      views.set(message, view);
      if (view === 'left-out') return [];
      originals.set(view, message);
      return [view];
    };
    const originalOf = (view: Message) => originals.get(view) ?? view;
    // Prose of which nothing is left tells nothing: it is judged before a memory is put around it.
    const redacted = (summarizer: Summarizer) =>
      redacting(memoryWriter(redactingAnswers(summarizer, guarded)), guarded, { viewOf, originalOf });
    const outcome = await inner
      .compact(conversation, {
        ...context,
        summarizer: redacted(context.summarizer),
        ownSummarizer: redacted(context.ownSummarizer),
      })
      .catch((error: unknown) => {
        if (fault === undefined) throw error;
      });
    if (outcome !== undefined && fault === undefined) return outcome;
    return notCompacted(
      'failed',
      'redaction-failed',
      `${inner.name}: a text could not be redacted (${errorText(fault?.cause)}), so that nothing was summarised`,
    );
  });
}

type ViewOf = (message: Message, format: Format) => readonly Message[];

/** Shows a summarizer only what `redact` left, and redacts what it answers. */
function redacting(
  summarizer: Summarizer,
  redact: Redact,
  { viewOf, originalOf }: { readonly viewOf: ViewOf; readonly originalOf: (view: Message) => Message },
): Summarizer {
  const answering = redactingAnswers(summarizer, redact);
  return {
    ...answering,
    async summarize(request) {
      const { conversation, previousSummary, instructions, quoted, shown, archive } = request;
      const redactAll = (messages: readonly Message[]) =>
        messages.flatMap((message) => viewOf(message, conversation.format));
      return answering.summarize({
        ...request,
        messages: redactAll(request.messages),
        shown: shown === undefined ? undefined : redactAll(shown),
        quoted: quoted?.map(redact),
        archive: archive && {
          handle: archive.handle,
          pageOf: (view: Message) => archive.pageOf(originalOf(view)),
        },
        conversation: redactConversation(conversation, redact, viewOf),
        previousSummary: previousSummary === undefined ? undefined : redact(previousSummary),
        instructions: instructions === undefined ? undefined : redact(instructions),
      });
    },
  };
}

function redactingAnswers(summarizer: Summarizer, redact: Redact): Summarizer {
  return {
    name: summarizer.name,
    asksModel: summarizer.asksModel,
    model: summarizer.model,
    writesMemory: summarizer.writesMemory,
    async summarize(request) {
      const summary = await summarizer.summarize(request);
      return summary.status === 'failed' ? summary : redactSummary(summary, redact);
    },
  };
}

function redactSummary(
  summary: Extract<SummaryOutcome, { status: 'summarized' }>,
  redact: Redact,
): SummaryOutcome {
  const text = redact(summary.text);
  if (text.trim() !== '') return { ...summary, text };
  return {
    status: 'failed',
    reason: 'empty',
    message: 'nothing was left of the summary when it was redacted',
    usage: summary.usage,
  };
}

function redactConversation(conversation: Conversation, redact: Redact, viewOf: ViewOf): Conversation {
  const { format, frame, messages } = conversation;
  return {
    format,
    frame: redactFrame(frame, format, redact),
    messages: messages.flatMap((message) => viewOf(message, format)),
  };
}

/** The body without its messages, redacted and read again. Writing the conversation puts the redacted messages in. */
function redactFrame(frame: Frame, format: Format, redact: Redact): Frame {
  const body = redactValue(format.replaceList(frame, []), redact);
  // Whether the server holds a part may stand in the messages, which are not read here.
  return { ...format.read(body).frame, continues: frame.continues };
}

/** Undefined for a message of which nothing is left. */
function redactMessage(message: Message, format: Format, redact: Redact): Message | undefined {
  // It is signed, or sealed, as it is: with another text it would be refused.
  const blocks = message.blocks.filter(
    (block) => block.type !== 'reasoning' || redact(block.text) === block.text,
  );
  if (blocks.length === 0 && message.blocks.length > 0) return undefined;
  const rest = blocks.length === message.blocks.length ? message : format.withBlocks(message, blocks);
  const raw = redactRaw(rest, redact);
  if (raw === message.raw) return message;
  return { ...format.readMessage(raw), responseId: message.responseId, usage: message.usage };
}

/** Takes secrets out of a text. */
export type Redact = (text: string) => string;

/** What of a message is no text, and how its calls are told apart from the rest. */
interface Anatomy {
  /** Ids, and bytes of media: they would be useless if they were changed. */
  readonly tokens: ReadonlySet<string>;
  readonly bytes: readonly string[];
  /** Values that stay as they are as a whole. */
  readonly sealed: ReadonlySet<unknown>;
  /** Inputs of calls: what is secret in them is told by the names of their fields, so they are seen as JSON as well. */
  readonly inputs: ReadonlySet<unknown>;
}

/**
 * The raw value of a message after `redact` has seen every text in it, wherever it stands and however often: formats
 * write the same call in several places. The very same value when nothing was changed.
 */
function redactRaw(message: Message, redact: Redact): unknown {
  return redactWith(message.raw, redact, anatomyOf(message));
}

/** Any other value, in the same way. */
function redactValue(value: unknown, redact: Redact): unknown {
  return redactWith(value, redact, nothingSpecial);
}

const nothingSpecial: Anatomy = { tokens: new Set(), bytes: [], sealed: new Set(), inputs: new Set() };

function anatomyOf({ blocks, responseId }: Message): Anatomy {
  const tokens = new Set<string>();
  const bytes: string[] = [];
  const sealed = new Set<unknown>();
  const inputs = new Set<unknown>();
  const keep = (id: string | undefined): void => {
    if (id !== undefined && id !== '') tokens.add(id);
  };
  keep(responseId);
  for (const block of blocks.flatMap((each) =>
    each.type === 'tool-result' ? [each, ...each.content] : [each],
  )) {
    if (block.type === 'tool-call') {
      keep(block.id);
      inputs.add(block.input);
    } else if (block.type === 'tool-result') keep(block.callId);
    else if (block.type === 'media' && block.data !== undefined && block.data !== '') bytes.push(block.data);
    else if (block.type === 'reasoning' && isObject(block.raw)) sealed.add(block.raw);
  }
  return { tokens, bytes, sealed, inputs };
}

/** Nothing from a wire is as deep; what is deeper is left out. */
const DEEPEST = 200;
const TOO_DEEP = '[left out]';

function redactWith(root: unknown, redact: Redact, { tokens, bytes, sealed, inputs }: Anatomy): unknown {
  const done = new Map<unknown, unknown>();

  const redactText = (text: string): string => {
    if (tokens.has(text) || bytes.some((data) => isBytes(text, data))) return text;
    return inputs.has(text) ? redactArguments(text, redact) : redact(text);
  };

  const visit = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return redactText(value);
    if (typeof value !== 'object' || value === null || sealed.has(value) || ArrayBuffer.isView(value))
      return value;
    if (depth > DEEPEST) return TOO_DEEP;
    if (done.has(value)) return done.get(value);
    // Live objects may hold themselves.
    done.set(value, TOO_DEEP);
    const isInput = inputs.has(value) && isObject(value);
    const visited = isInput ? redactInput(value, redact) : mapObject(value, (each) => visit(each, depth + 1));
    done.set(value, visited);
    return visited;
  };

  return visit(root, 0);
}

function isBytes(text: string, data: string): boolean {
  return text === data || (text.startsWith('data:') && text.endsWith(data));
}

/** The object or list with other values; the very same one when they are the same. */
function mapObject(value: object, map: (value: unknown) => unknown): object {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => map(item));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const entries = Object.entries(value).map(
    ([key, each]: [string, unknown]) => [key, each, map(each)] as const,
  );
  if (entries.every(([, before, after]) => before === after)) return value;
  const copy: object = Object.fromEntries(entries.map(([key, , after]) => [key, after]));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || !isObject(prototype)) return copy;
  // A message of a library's class is told by its methods.
  return Object.create(prototype, Object.getOwnPropertyDescriptors(copy)) as object;
}

/** Arguments as they stand on the wire: JSON, in which a line break inside a secret is an escape. */
function redactArguments(text: string, redact: Redact): string {
  const value = tryParse(text);
  const redacted = isObject(value) ? redactValue(value, redact) : value;
  return redact(redacted === value ? text : JSON.stringify(redacted));
}

function redactInput(input: object, redact: Redact): object {
  const redacted = redactValue(input, redact);
  const text = tryStringify(redacted);
  const seen = text === undefined ? undefined : redact(text);
  if (seen === undefined || seen === text) return isObject(redacted) ? redacted : {};
  const value = tryParse(seen);
  return isObject(value) ? value : { text: seen };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined for what has no JSON: live values may hold big integers. */
function tryStringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) as string | undefined; // a function or a symbol gives undefined
  } catch {
    return undefined;
  }
}
