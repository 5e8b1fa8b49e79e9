import { fileAccess } from '../../conversation/file-access.ts';
import { callArguments, type Message, type ToolCallBlock } from '../../conversation/message.ts';
import {
  type GroupOptions,
  groupRounds,
  largestRound,
  nameRound,
  type Round,
} from '../../conversation/rounds.ts';
import type { TokenEstimator } from '../../tokens/token-estimator.ts';

/** A round with its size and a name for logs. Plain data. */
export interface NamedRound {
  readonly round: Round;
  /** For logs and diagnostics, as `nameRound` gives it. */
  readonly name: string;
  /** Estimated tokens of its messages. */
  readonly tokens: number;
}

/** A round with its content, its size and what it is about. */
export interface RoundDescription extends NamedRound {
  readonly messages: readonly Message[];
  /** What the first tool call is about: `src/a.ts`, `bash: npm`, `ask_expert`. Undefined for a round without calls. */
  readonly hint: string | undefined;
}

/** Names every round of a list, in order, and counts every message once. */
export function nameRounds(
  messages: readonly Message[],
  estimator: TokenEstimator,
  options: GroupOptions = {},
): readonly NamedRound[] {
  return groupRounds(messages, options).map((round) => {
    let tokens = 0;
    for (let index = round.start; index < round.end; index++) {
      const message = messages[index];
      if (message !== undefined) tokens += estimator.countMessage(message);
    }
    return { round, name: nameRound(round, tokens), tokens };
  });
}

/** The largest of the rounds of a list, the earliest of equals; undefined for an empty list. */
export function largestOf(rounds: readonly NamedRound[]): NamedRound | undefined {
  const largest = largestRound(
    rounds.map(({ round }) => round),
    ({ index }) => rounds[index]?.tokens ?? 0,
  );
  return largest === undefined ? undefined : rounds[largest.index];
}

/** Describes every round of a list, in order. Takes the options of `groupRounds`, and counts every message once. */
export function describeRounds(
  messages: readonly Message[],
  estimator: TokenEstimator,
  options: GroupOptions = {},
): readonly RoundDescription[] {
  return nameRounds(messages, estimator, options).map((named) => {
    const own = messages.slice(named.round.start, named.round.end);
    const call = own.flatMap(({ blocks }) => blocks).find((block) => block.type === 'tool-call');
    return { ...named, messages: own, hint: call === undefined ? undefined : hintOf(call) };
  });
}

/** The file that a call is about, else the tool, with the program that it runs where it runs one. */
function hintOf(call: ToolCallBlock): string {
  const file = fileAccess(call)?.path;
  if (file !== undefined) return file;
  const values = callArguments(call) ?? {};
  const path = values['file_path'];
  if (typeof path === 'string' && path !== '') return path;
  const command: unknown = values['command'];
  const program = typeof command === 'string' ? FIRST_WORD.exec(command)?.[1] : undefined;
  return program === undefined ? call.name : `${call.name}: ${program}`;
}

const FIRST_WORD = /^\s*(\S{1,100})/;
