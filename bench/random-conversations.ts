import type { Call, Step } from '../test/support/conversations.ts';
import { writers } from '../test/support/step-writers.ts';
import { integer, pick, type Random } from './estimator/seeded.ts';

const WORDS =
  'the user wants a table of orders by date and region so the query joins both lists and then sorts what is left by total'.split(
    ' ',
  );
const TOOLS = ['read_file', 'bash', 'search', 'edit_file'];

/** Share of conversations of an agent on its own: one question, then tool rounds only. */
const ALONE_SHARE = 0.3;

/** Share of rounds with calls that lose results when a harness is aborted. */
const ABORTED_SHARE = 0.05;

/** One text to cut pieces from: making every piece anew would take longer than what is measured. */
function makePool(random: Random): string {
  const words = Array.from({ length: 100_000 }, (_, index) =>
    index % 11 === 0 ? `${pick(random, WORDS)}_${index}();\n` : pick(random, WORDS),
  );
  return words.join(' ');
}

/** Makes random sessions of 6 to 126 messages with rounds of up to four parallel calls. The same numbers, the same sessions. */
export function createSessions(random: Random): () => readonly Step[] {
  const pool = makePool(random);
  const text = (low: number, high: number): string => {
    const length = integer(random, low, high);
    const start = integer(random, 0, pool.length - length);
    return pool.slice(start, start + length).trim() || 'yes';
  };
  let ids = 0;
  const makeCall = (): Call => ({
    id: `call_${ids++}`,
    name: pick(random, TOOLS),
    path: `src/part-${integer(random, 1, 9)}/file-${integer(random, 1, 9)}.ts`,
    output: text(20, 1500),
  });
  const makeStep = (before: Step | undefined, isAlone: boolean): Step => {
    const asks = (before?.calls.length ?? 0) === 0 || (!isAlone && random() < 0.3);
    const makesCalls = isAlone || random() < 0.7;
    return {
      question: asks ? text(10, 600) : undefined,
      thinking: undefined,
      said: !makesCalls || random() < 0.5 ? text(10, 400) : undefined,
      calls: makesCalls ? Array.from({ length: integer(random, 1, 4) }, makeCall) : [],
    };
  };
  return () => {
    const isAlone = random() < ALONE_SHARE;
    const messages = integer(random, 6, 126);
    const steps: Step[] = [];
    for (let count = 0; count < messages; ) {
      const step = makeStep(steps.at(-1), isAlone);
      steps.push(step);
      count += [step, step.question, step.calls[0]].filter((part) => part !== undefined).length;
    }
    return steps;
  };
}

/** The wire formats that are measured. */
export const measuredFormats = ['anthropic-messages', 'openai-chat'] as const;

export type MeasuredFormat = (typeof measuredFormats)[number];

const parameters = { type: 'object', properties: { path: { type: 'string' } } };

/** What stands around the messages of a request. */
const frames: Readonly<Record<MeasuredFormat, Readonly<Record<string, unknown>>>> = {
  'anthropic-messages': {
    model: 'claude-sonnet-4-5',
    max_tokens: 1000,
    system: 'You are a careful engineer.',
    tools: TOOLS.map((name) => ({ name, description: name, input_schema: parameters })),
  },
  'openai-chat': {
    model: 'gpt-4.1',
    tools: TOOLS.map((name) => ({ type: 'function', function: { name, description: name, parameters } })),
  },
};

/** A request body. */
export interface Body {
  readonly messages: readonly unknown[];
}

/** The whole request that these messages stand in. */
export function bodyOf(format: MeasuredFormat, messages: readonly unknown[]): Body {
  const system = format === 'openai-chat' ? [{ role: 'system', content: 'You are a careful engineer.' }] : [];
  return { ...frames[format], messages: [...system, ...messages] };
}

/** The messages of a session. */
export function messagesOf(format: MeasuredFormat, steps: readonly Step[]): readonly unknown[] {
  return writers[format]?.(steps) ?? [];
}

/** The ids of calls whose results are lost: one or all of a round, in some rounds, and in one at least. */
export function abortedCalls(random: Random, steps: readonly Step[]): ReadonlySet<string> {
  const rounds = steps.filter(({ calls }) => calls.length > 0);
  if (rounds.length === 0) return new Set();
  const aborted = rounds.filter(() => random() < ABORTED_SHARE);
  const chosen = aborted.length > 0 ? aborted : [pick(random, rounds)];
  return new Set(
    chosen.flatMap(({ calls }) => (random() < 0.5 ? calls : [pick(random, calls)])).map(({ id }) => id),
  );
}

/** The messages without the results of these calls. */
export function withoutResults(messages: readonly unknown[], lost: ReadonlySet<string>): readonly unknown[] {
  return messages.flatMap((message) => {
    const { content, tool_call_id: id } = message as Readonly<Record<string, unknown>>;
    if (typeof id === 'string' && lost.has(id)) return [];
    if (!Array.isArray(content)) return [message];
    const kept = content.filter(
      (block) => !lost.has((block as Readonly<Record<string, string>>)['tool_use_id'] ?? ''),
    );
    if (kept.length === content.length) return [message];
    return kept.length === 0 ? [] : [{ ...(message as object), content: kept }];
  });
}
