/**
 * What all examples share: a provider on this machine whose model calls the tool `read_gauge` round after round, and the
 * checks at the end. Without compaction the provider refuses the 45th request to a Claude and the 58th to a GPT.
 */
import type { CompactionEvent } from 'roundfold';
import { type Script, type Simulator, startSimulator } from 'roundfold/simulator';

/** Tokens of the model's window. */
export const WINDOW = 32_000;
/** Requests until the model is content. */
export const ROUNDS = 200;
/** What the agent is asked, and must not forget. */
export const TASK = 'Read all gauges of the harbour, one after the other. Never open valve 7.';

/** The one tool: its name, what it takes, and what it returns. */
export const gauge = {
  name: 'read_gauge',
  description: 'Reads a gauge of the harbour.',
  schema: {
    type: 'object' as const,
    properties: { number: { type: 'number' as const } },
    required: ['number'],
  },
  read: (number: unknown): string =>
    `gauge ${String(number)}: ${'level 312.4 cm, rising slowly, sensor fine; '.repeat(40)}`,
};

/** The model: one call a round, and a word at the end. Where it is asked to think, it thinks first. */
const script: Script = ({ number, thinks }) => ({
  parts: [
    ...(thinks ? [{ type: 'thinking' as const, text: `${ROUNDS - number} to go.` }] : []),
    ...(number < ROUNDS
      ? [
          { type: 'text' as const, text: `Now gauge ${number}.` },
          { type: 'tool-call' as const, name: gauge.name, input: { number } },
        ]
      : [{ type: 'text' as const, text: 'All gauges are read, and valve 7 is closed.' }]),
  ],
});

/** What an example is given. */
export interface Stage {
  /** Where the provider listens. */
  readonly url: string;
  /** Counts compactions: hand it to whatever compacts. */
  readonly onEvent: (event: { readonly type: string }) => void;
}

/** Runs an example, checks what it did, prints one line and sets the exit code. */
export async function rehearse(
  name: string,
  play: (stage: Stage) => Promise<string | undefined>,
): Promise<void> {
  const simulator = await startSimulator({ windowTokens: WINDOW, script });
  let compactions = 0;
  const onEvent = (event: { readonly type: string }): void => {
    if (isCompaction(event as CompactionEvent)) compactions++; // unknown types of events are none of ours
  };
  try {
    const more = await play({ url: simulator.url, onEvent });
    const failed = faultsOf(simulator, compactions);
    if (failed.length > 0) process.exitCode = 1;
    const verdict = failed.length === 0 ? 'fine' : `FAILED: ${failed.join('; ')}`;
    const figures = [
      `${simulator.requests.length} requests`,
      `${refused(simulator)} refused`,
      `${compactions} compactions`,
      `largest prompt ${largestPrompt(simulator)} of ${WINDOW} tokens`,
      ...(more === undefined ? [] : [more]),
    ];
    console.log(`${name}: ${verdict} (${figures.join(', ')})`);
  } finally {
    await simulator.close();
  }
}

function isCompaction(event: CompactionEvent): boolean {
  return event.type === 'compaction-end' && event.outcome.status === 'compacted';
}

function refused({ requests }: Simulator): number {
  return requests.filter(({ status }) => status !== 200).length;
}

function largestPrompt({ requests }: Simulator): number {
  return Math.max(0, ...requests.map(({ promptTokens = 0 }) => promptTokens));
}

function faultsOf(simulator: Simulator, compactions: number): readonly string[] {
  const { requests } = simulator;
  const isTaskKept = requests.every(({ body }) => JSON.stringify(body).includes(TASK));
  const checks: readonly (readonly [isRight: boolean, fault: string])[] = [
    [requests.length === ROUNDS, `${ROUNDS} requests were expected`],
    [refused(simulator) === 0, 'the provider refused requests'],
    [compactions > 0, 'nothing was compacted'],
    [isTaskKept, 'the task was lost'],
  ];
  return checks.flatMap(([isRight, fault]) => (isRight ? [] : [fault]));
}
