import fc from 'fast-check';
import { applyDamages, type Damage, damages } from './conversations.ts';
import { deepFreeze } from './deep-freeze.ts';
import { anthropicWriter } from './random-anthropic.ts';
import { aiSdkModelWriter, aiSdkUiWriter, langchainWriter } from './random-frameworks.ts';
import { geminiWriter } from './random-gemini.ts';
import { chatWriter, responsesWriter } from './random-openai.ts';
import { type Plan, plans } from './random-plans.ts';
import type { BodyWriter, WrittenExchange } from './random-writers.ts';

const writers: ReadonlyMap<string, BodyWriter> = new Map(
  [
    anthropicWriter,
    chatWriter,
    responsesWriter,
    geminiWriter,
    aiSdkModelWriter,
    aiSdkUiWriter,
    langchainWriter,
  ].map((writer) => [writer.format, writer]),
);

/** Every format that request bodies are written in. */
export const bodyFormats: readonly string[] = [...writers.keys()];

/** A conversation as its client sends it: the first request, and what each later one adds. */
export interface RandomConversation {
  readonly format: string;
  readonly body: unknown;
  /** Messages behind the first request: an answer and what the client says to it, for each further request. */
  readonly additions: readonly (readonly unknown[])[];
}

/** The list of messages in a body of a format. */
export function listOf(format: string, body: unknown): readonly unknown[] {
  return writerOf(format).list(body);
}

/** The body with further messages behind its own. */
export function appendTo(format: string, body: unknown, added: readonly unknown[]): unknown {
  const writer = writerOf(format);
  return writer.withList(body, [...writer.list(body), ...added]);
}

/** How many requests of a conversation come after the first. */
const ADDITIONS = 4;

/** What the arbitrary chooses; small enough to be read in a report, and all that a body is made of. */
export interface BodyChoice {
  readonly format: string;
  readonly plan: Plan;
}

/** Choices of one of these formats. */
export function bodyChoices(formats: readonly string[]): fc.Arbitrary<BodyChoice> {
  return fc.record({ format: fc.constantFrom(...formats), plan: plans });
}

/** The conversation of a choice, frozen. */
export function writeConversationOf({ format, plan: chosen }: BodyChoice): RandomConversation {
  const writer = writerOf(format);
  const plan = writer.adapt?.(chosen) ?? chosen;
  const written = writeExchanges(writer, plan);
  const prefill = plan.isPrefilled ? writer.prefill : undefined;
  const later = prefill === undefined ? Math.min(ADDITIONS, written.length - 1) : 0;
  const first = written.slice(0, written.length - later);
  const list = [
    ...(writer.opening?.(plan) ?? []),
    ...first.slice(0, -1).flatMap(({ request, response }) => [...request, ...response]),
    ...(first.at(-1)?.request ?? []),
    ...(prefill === undefined ? [] : [prefill('It is')]),
  ];
  const additions = Array.from({ length: later }, (_, step) => {
    const at = first.length - 1 + step;
    return [...(written[at]?.response ?? []), ...(written[at + 1]?.request ?? [])];
  });
  return deepFreeze({ format, body: writer.frame(plan, list), additions });
}

function writeExchanges(writer: BodyWriter, plan: Plan): readonly WrittenExchange[] {
  const { exchanges, reusesIds } = plan;
  const isShort = reusesIds && writer.format !== 'anthropic-messages';
  const callId = (exchange: number, call: number) => `call_${isShort ? exchange % 2 : exchange}_${call}`;
  return exchanges.map((exchange, index) =>
    writer.write({ plan, exchange, index, before: exchanges[index - 1], callId }),
  );
}

function writerOf(format: string): BodyWriter {
  const writer = writers.get(format);
  if (writer === undefined) throw new Error(`no bodies are written in ${format}`);
  return writer;
}

/** What is broken in a body, besides where its list is cut off. */
export interface Breakage {
  readonly damages: readonly Damage[];
  /** So many messages are missing at the end. */
  readonly missing: number;
  /** Whether the messages carry fields of a recording, which only a list without a request around it does. */
  readonly isRecorded: boolean;
}

/** Ways to break a body. */
export const breakages: fc.Arbitrary<Breakage> = fc.record({
  damages,
  missing: fc.nat(3),
  isRecorded: fc.boolean(),
});

/** The body after all that: never empty, and no worse than what harnesses have been seen to leave. */
export function breakBody(
  { format, body }: Pick<RandomConversation, 'format' | 'body'>,
  { damages: broken, missing, isRecorded }: Breakage,
): unknown {
  const writer = writerOf(format);
  const list = writer.list(body);
  const damaged = applyDamages(list.slice(0, Math.max(1, list.length - missing)), broken);
  const left = damaged.length > 0 ? damaged : list;
  if (!isRecorded) return deepFreeze(writer.withList(body, left));
  return deepFreeze(
    left.map((message, index) => ({
      ...(message as object),
      uuid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      timestamp: '2026-09-14T09:00:00.000Z',
    })),
  );
}
