import { RoundfoldError } from '../conversation/errors.ts';
import { asList, isObject, type JsonObject } from '../conversation/json.ts';
import { clientCompaction } from '../formats/client-compaction.ts';
import type { ReplyPart } from './reply.ts';
import type { OfferedTool, Script, Turn } from './script.ts';
import { createProgress } from './script-progress.ts';

/** What a scripted model does, as `roundfold simulate --script` reads it. In its texts `{round}` and `{rounds}` are numbers. */
export interface ScriptSettings {
  /** What is called, round by round; begins again when it has come to its end. */
  readonly steps: readonly ScriptStep[];
  /** How many rounds of calls there are before the answer. Default: as many as there are steps. */
  readonly rounds?: number | undefined;
  /** What the model says when all rounds are played. Default `Done after {rounds} rounds.` */
  readonly answer?: string | undefined;
  /** What it says when a client asks it to summarise the conversation. Default: a sentence that says where it stands. */
  readonly compaction?: string | undefined;
  /** Beginnings of further texts that ask for such a summary, for clients that are not known here. */
  readonly compactionPrompts?: readonly string[] | undefined;
  /** What it says to requests without tools, such as those for a title. Default `Looking at files`. */
  readonly aside?: string | undefined;
}

/** What the model does in one round. */
export interface ScriptStep {
  /** Said before the calls. Default: nothing. */
  readonly text?: string | undefined;
  readonly calls: readonly ScriptCall[];
}

export interface ScriptCall {
  /** Name of the tool, or names of which the first one that is offered is called. */
  readonly tool: string | readonly string[];
  readonly input?: JsonObject | undefined;
}

const defaults = {
  answer: 'Done after {rounds} rounds.',
  compaction: 'Summary: {round} of {rounds} rounds are done, and nothing failed.',
  aside: 'Looking at files',
} as const;

/**
 * A model that plays rounds of calls and then answers: in every conversation anew, and once more for a question behind
 * its answer. It goes on where it was when the history was compacted in between. Conversations with the same tools at
 * the same time are told apart by their calls, so `{round}` should stand in the input of those.
 * @throws RoundfoldError `usage` for settings that do not fit, with their place
 */
export function createScript(settings: ScriptSettings): Script {
  const { steps, rounds = steps.length, compactionPrompts = [] } = readSettings(settings);
  const { answer = defaults.answer, compaction = defaults.compaction, aside = defaults.aside } = settings;
  const progress = createProgress();

  return (turn) => {
    const played = progress.playedIn(turn);
    const fillHere = (text: string): string => fill(text, numbersOf(played, rounds));
    if (asksForSummary(turn, compactionPrompts)) {
      const summary = fillHere(compaction);
      progress.summarised(summary);
      return { parts: [say(summary)] };
    }
    if (turn.tools.length === 0) return { parts: [say(fillHere(aside))] };
    const thinking: readonly ReplyPart[] = turn.thinks
      ? [{ type: 'thinking', text: `Round ${Math.min(played + 1, rounds)} of ${rounds}.` }]
      : [];
    const step = played < rounds ? steps[played % steps.length] : undefined;
    if (step === undefined) {
      progress.answered(turn);
      return { parts: [...thinking, say(fillHere(answer))] };
    }
    const missing = step.calls.find(({ tool }) => findTool(turn.tools, tool) === undefined);
    if (missing !== undefined) return { parts: [say(aboutMissing(missing, turn.tools))] };
    const numbers = numbersOf(played + 1, rounds);
    const calls = step.calls.map(({ tool, input = {} }) => ({
      type: 'tool-call' as const,
      name: findTool(turn.tools, tool)?.name ?? '',
      input: fillAll(input, numbers) as JsonObject, // an object stays one
    }));
    progress.played(turn, played + 1, calls.at(-1));
    const text = step.text === undefined ? [] : [say(fill(step.text, numbers))];
    return { parts: [...thinking, ...text, ...calls] };
  };
}

function say(text: string): ReplyPart {
  return { type: 'text', text };
}

function findTool(tools: readonly OfferedTool[], wanted: ScriptCall['tool']): OfferedTool | undefined {
  const names = typeof wanted === 'string' ? [wanted] : wanted;
  for (const name of names) {
    const tool = tools.find((offered) => offered.name === name);
    if (tool !== undefined) return tool;
  }
  return undefined;
}

function aboutMissing({ tool }: ScriptCall, tools: readonly OfferedTool[]): string {
  const wanted = typeof tool === 'string' ? tool : tool.join(' or ');
  const offered = tools.map(({ name }) => name).join(', ');
  return `The script calls ${wanted}, which this request does not offer. Offered: ${offered}.`;
}

function asksForSummary({ conversation }: Turn, prompts: readonly string[]): boolean {
  if (clientCompaction(conversation) !== undefined) return true;
  const last = conversation.messages.findLast(({ role }) => role !== 'system');
  const block = last?.role === 'user' ? last.blocks.at(-1) : undefined;
  return block?.type === 'text' && prompts.some((prompt) => block.text.trimStart().startsWith(prompt));
}

type Numbers = ReadonlyMap<string, number>;

function numbersOf(round: number, rounds: number): Numbers {
  return new Map([
    ['{round}', round],
    ['{rounds}', rounds],
  ]);
}

function fill(text: string, numbers: Numbers): string {
  return text.replaceAll(/\{rounds?\}/g, (name) => `${numbers.get(name) ?? name}`);
}

const deepestInput = 20;

function fillAll(value: unknown, numbers: Numbers, depth = 0): unknown {
  if (typeof value === 'string') return fill(value, numbers);
  if (depth >= deepestInput) return value;
  if (Array.isArray(value)) return value.map((inner) => fillAll(inner, numbers, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, fillAll(inner, numbers, depth + 1)]),
  );
}

/** What each setting holds, in words and as a check. */
const shapes: ReadonlyMap<string, readonly [words: string, check: (value: unknown) => boolean]> = new Map([
  ['steps', ['a list with at least one step', (value) => asList(value).length > 0]],
  ['rounds', ['a whole number from 1 on', (value) => Number.isSafeInteger(value) && Number(value) >= 1]],
  ['answer', ['text', isText]],
  ['compaction', ['text', isText]],
  ['compactionPrompts', ['a list of texts', isListOfTexts]],
  ['aside', ['text', isText]],
]);

const stepShapes: typeof shapes = new Map([
  ['text', ['text', isText]],
  ['calls', ['a list of calls', Array.isArray]],
]);

const callShapes: typeof shapes = new Map([
  ['tool', ['a name or a list of names', (value) => isText(value) || isListOfTexts(value)]],
  ['input', ['an object', isObject]],
]);

/** Holds settings to their shapes, since they come from files. */
function readSettings(value: ScriptSettings): ScriptSettings {
  checkShape(value, '', shapes, ['steps']);
  for (const [index, step] of value.steps.entries()) {
    checkShape(step, `steps.${index}`, stepShapes, ['calls']);
    for (const [place, call] of step.calls.entries()) {
      checkShape(call, `steps.${index}.calls.${place}`, callShapes, ['tool']);
    }
  }
  return value;
}

function checkShape(value: unknown, path: string, known: typeof shapes, needed: readonly string[]): void {
  if (!isObject(value)) throw wrong(path, 'an object');
  for (const name of Object.keys(value)) {
    if (!known.has(name)) throw wrong(joined(path, name), `one of ${[...known.keys()].join(', ')}`);
  }
  for (const [name, [words, check]] of known) {
    const given = value[name];
    const isMissing = given === undefined && !needed.includes(name);
    if (!isMissing && !check(given)) throw wrong(joined(path, name), words);
  }
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function wrong(path: string, wanted: string): RoundfoldError {
  const what = path === '' ? 'A script' : `A script's ${JSON.stringify(path)}`;
  return new RoundfoldError('usage', `${what} has to be ${wanted}`, {
    place: path === '' ? undefined : { path },
    remedy: 'See `roundfold simulate --help` for an example of a script.',
  });
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isText);
}
