import type { Conversation, Format, Frame } from '../../conversation/format.ts';
import type { Message } from '../../conversation/message.ts';
import { memoryWriter } from '../../memory/memory-writer.ts';
import type { Summarizer, SummaryOutcome } from '../../memory/summary-request.ts';
import { decorate, notCompacted, type Strategy } from '../plan/strategy.ts';
import { errorText } from './error-text.ts';
import { type Redact, redactRaw, redactValue } from './redact-values.ts';

/**
 * Keeps secrets from whoever writes the summaries: it sees only what `redact` left of messages, of the instructions and
 * tools around them and of the previous summary, and what it answers is redacted as well. Ids and bytes of media are not
 * shown to `redact`. Reasoning that would have to be changed is left out. What stays in the conversation is not touched.
 *
 * When `redact` throws, nothing is shown to anybody: `failed` with `redaction-failed`.
 */
export function withRedaction(inner: Strategy, redact: (text: string) => string): Strategy {
  const views = new WeakMap<Message, Message | 'left-out'>();
  const originals = new WeakMap<Message, Message>();
  const viewOf = (message: Message, format: Format): readonly Message[] => {
    const view = views.get(message) ?? redactMessage(message, format, redact) ?? 'left-out';
    views.set(message, view);
    if (view === 'left-out') return [];
    originals.set(view, message);
    return [view];
  };
  const originalOf = (view: Message) => originals.get(view) ?? view;

  return decorate(inner, async (conversation, context) => {
    // A strategy may catch what its summarizer throws, so the fault is remembered as well.
    const faults: RedactionFault[] = [];
    const guard = guarding((fault) => faults.push(fault));
    // Prose of which nothing is left tells nothing: it is judged before a memory is put around it.
    const redacted = (summarizer: Summarizer) =>
      redacting(memoryWriter(redactingAnswers(summarizer, redact, guard)), redact, {
        viewOf,
        originalOf,
        guard,
      });
    const failed = ({ cause }: RedactionFault) =>
      notCompacted(
        'failed',
        'redaction-failed',
        `${inner.name}: a text could not be redacted (${errorText(cause)}), so that nothing was summarised`,
      );
    try {
      const outcome = await inner.compact(conversation, {
        ...context,
        summarizer: redacted(context.summarizer),
        ownSummarizer: redacted(context.ownSummarizer),
      });
      return faults[0] === undefined ? outcome : failed(faults[0]);
    } catch (error) {
      if (!(error instanceof RedactionFault)) throw error;
      return failed(error);
    }
  });
}

/** Tells what `redact` threw from what others throw. */
class RedactionFault extends Error {}

type ViewOf = (message: Message, format: Format) => readonly Message[];
type Guard = <Result>(redactAll: () => Result) => Result;

function guarding(onFault: (fault: RedactionFault) => void): Guard {
  return (redactAll) => {
    try {
      return redactAll();
    } catch (cause) {
      const fault = new RedactionFault('redact threw', { cause });
      onFault(fault);
      throw fault;
    }
  };
}

interface Redacting {
  readonly viewOf: ViewOf;
  readonly originalOf: (view: Message) => Message;
  readonly guard: Guard;
}

/** Shows a summarizer only what `redact` left, and redacts what it answers. */
function redacting(
  summarizer: Summarizer,
  redact: Redact,
  { viewOf, originalOf, guard }: Redacting,
): Summarizer {
  const answering = redactingAnswers(summarizer, redact, guard);
  return {
    ...answering,
    async summarize(request) {
      const shown = guard(() => {
        const { conversation, previousSummary, instructions, quoted, shown: given, archive } = request;
        const redactAll = (messages: readonly Message[]) =>
          messages.flatMap((message) => viewOf(message, conversation.format));
        return {
          ...request,
          messages: redactAll(request.messages),
          shown: given === undefined ? undefined : redactAll(given),
          quoted: quoted?.map(redact),
          archive: archive && {
            handle: archive.handle,
            pageOf: (view: Message) => archive.pageOf(originalOf(view)),
          },
          conversation: redactConversation(conversation, redact, viewOf),
          previousSummary: previousSummary === undefined ? undefined : redact(previousSummary),
          instructions: instructions === undefined ? undefined : redact(instructions),
        };
      });
      return answering.summarize(shown);
    },
  };
}

function redactingAnswers(summarizer: Summarizer, redact: Redact, guard: Guard): Summarizer {
  return {
    name: summarizer.name,
    asksModel: summarizer.asksModel,
    writesMemory: summarizer.writesMemory,
    async summarize(request) {
      const summary = await summarizer.summarize(request);
      return summary.status === 'failed' ? summary : guard(() => redactSummary(summary, redact));
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
