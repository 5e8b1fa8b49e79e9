import { compactorUnderTest, tokensOf } from './compaction-under-test.ts';
import { deepFreeze } from './deep-freeze.ts';
import { speakerOf } from './raw-messages.ts';
import { refusals } from './request-judge.ts';

/** An agent without a model that goes on and on in one window. */
export interface WindowWalk {
  readonly windowTokens: number;
  /** What each round adds, as a share of the window. */
  readonly roundShare: number;
  readonly turns: number;
  readonly strategy?: string | undefined;
}

/** What was seen on the way. */
export interface WalkReport {
  readonly compactions: number;
  /** Turns whose request did not fit, though the newest round alone did. */
  readonly overWindow: readonly number[];
  /** Turns whose request the provider would refuse, and why. */
  readonly illegal: readonly string[];
  /** Messages that compaction made, at most at once, in the first half and in the last quarter of the turns with any. */
  readonly madeMessages: readonly [early: number, late: number];
  /** The same in tokens. */
  readonly madeTokens: readonly [early: number, late: number];
  readonly targetTokens: number;
}

const FORMAT = 'anthropic-messages';

/** Goes the whole way with one compactor, each turn from what the last one left. */
export async function walkWindow(walk: WindowWalk): Promise<WalkReport> {
  const { windowTokens, roundShare, turns, strategy = 'ladder' } = walk;
  const compactor = compactorUnderTest({ format: FORMAT, strategy, windowTokens });
  const made: { readonly messages: number; readonly tokens: number }[] = [];
  const overWindow: number[] = [];
  const illegal: string[] = [];
  let compactions = 0;
  let list: readonly unknown[] = [{ role: 'user', content: 'Sound every berth. Never touch tides.lock.' }];
  const said = new Set(list);
  for (let turn = 0; turn < turns; turn++) {
    const run = await compactor.automatically(deepFreeze(list));
    const left = run.value as readonly unknown[];
    if (left !== list) compactions++;
    if (left !== list)
      illegal.push(...(await refusals(FORMAT, left)).map((refusal) => `turn ${turn}: ${refusal}`));
    if (tokensOf(FORMAT, left) > windowTokens) overWindow.push(turn);
    // Results of which less is left are no notes: they leave with their rounds.
    const own = left.filter((message) => !said.has(message) && speakerOf(message) !== 'results');
    if (compactions > 0)
      made.push({ messages: own.length, tokens: own.length === 0 ? 0 : tokensOf(FORMAT, own) });
    list = [...left, ...roundOf(turn, windowTokens * roundShare)];
    for (const message of list.slice(left.length)) said.add(message);
  }
  return {
    compactions,
    overWindow,
    illegal,
    madeMessages: quarters(made.map(({ messages }) => messages)),
    madeTokens: quarters(made.map(({ tokens }) => tokens)),
    targetTokens: compactor.targetTokens,
  };
}

/** What is wrong with a walk, in words; empty when nothing is. */
export function walkFaults(report: WalkReport): readonly string[] {
  const { overWindow, illegal, madeMessages, madeTokens, targetTokens } = report;
  const [, lateTokens] = madeTokens;
  return [
    ...(overWindow.length === 0
      ? []
      : [`${overWindow.length} requests over the window, the first at turn ${overWindow[0]}`]),
    ...(illegal.length === 0 ? [] : [`${illegal.length} illegal requests, the first: ${illegal[0]}`]),
    ...(grows(madeMessages) ? [`made messages grow from ${madeMessages.join(' to ')}`] : []),
    // A memory may fill what the target leaves it; beyond that, growth ends in a full window.
    ...(grows(madeTokens) && lateTokens > targetTokens
      ? [`tokens of made messages grow from ${madeTokens.join(' to ')}, the target is ${targetTokens}`]
      : []),
  ];
}

const GROWTH = 1.25;

/** One is no growth: there may be none before the first summary. */
function grows([early, late]: readonly [number, number]): boolean {
  return late > Math.max(1, early) * GROWTH;
}

/** The largest value of the first half and of the last quarter. */
function quarters(values: readonly number[]): readonly [number, number] {
  const half = values.slice(0, Math.ceil(values.length / 2));
  return [Math.max(0, ...half), Math.max(0, ...values.slice(-Math.floor(values.length / 4)))];
}

/** Characters that a token of such lines has, about. */
const CHARACTERS_PER_TOKEN = 2.6;

function roundOf(turn: number, tokens: number): readonly unknown[] {
  const id = `call_${turn}`;
  const path = `src/berths/berth-${turn % 17}.ts`;
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read_file', input: { path } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: linesOf(turn, tokens) }] },
  ];
}

function linesOf(turn: number, tokens: number): string {
  const lines: string[] = [];
  let characters = 0;
  for (let line = 0; characters < tokens * CHARACTERS_PER_TOKEN; line++) {
    const text = `const draught_${turn}_${line} = sound(${(turn * 37 + line) % 101});`;
    lines.push(text);
    characters += text.length + 1;
  }
  return lines.join('\n').slice(0, Math.max(1, Math.floor(tokens * CHARACTERS_PER_TOKEN)));
}
