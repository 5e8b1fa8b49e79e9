import { fileAccess } from './file-access.ts';
import { callArguments, type Message, type ToolCallBlock } from './message.ts';
import { type GroupOptions, groupRounds, nameRound, type Round } from './rounds.ts';
import type { TokenEstimator } from './token-estimator.ts';

/** A round with its content, its size and what it is about. */
export interface RoundDescription {
  readonly round: Round;
  /** For logs and diagnostics, as `nameRound` gives it. */
  readonly name: string;
  readonly messages: readonly Message[];
  /** What the first tool call is about: `src/a.ts`, `bash: npm`, `ask_expert`. Undefined for a round without calls. */
  readonly hint: string | undefined;
  /** Estimated tokens of its messages. */
  readonly tokens: number;
}

/** Describes every round of a list, in order. Takes the options of `groupRounds`, and counts every message once. */
export function describeRounds(
  messages: readonly Message[],
  estimator: TokenEstimator,
  options: GroupOptions = {},
): readonly RoundDescription[] {
  return groupRounds(messages, options).map((round) => {
    const own = messages.slice(round.start, round.end);
    const tokens = own.reduce((sum, message) => sum + estimator.countMessage(message), 0);
    const call = own.flatMap(({ blocks }) => blocks).find((block) => block.type === 'tool-call');
    const hint = call === undefined ? undefined : hintOf(call);
    return { round, name: nameRound(round, tokens), messages: own, hint, tokens };
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
