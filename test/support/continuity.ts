import { isDeepStrictEqual } from 'node:util';
import { writeConversation } from '../../src/conversation/format.ts';
import { cutsOf } from '../../src/lab/trajectory.ts';
import type { Recording } from '../../src/transcripts/recordings.ts';
import { compactorUnderTest, tokensOf } from './compaction-under-test.ts';
import { listOf } from './random-bodies.ts';
import { currentTurnStart } from './raw-messages.ts';
import { refusals } from './request-judge.ts';

/** Shares of its size that a session is brought down to. */
export const continuityShares: readonly number[] = [0.1, 0.2, 0.3, 0.5];

/** What became of a recorded session, cut where a request was sent and compacted to a share of its size. */
export interface ContinuityRow {
  /** Session, stretch and number of the cut. */
  readonly place: string;
  readonly share: number;
  readonly endsWithTurn: boolean;
  /** Rules that the result breaks and the recording did not. */
  readonly broken: readonly string[];
  /** Whether an automatic run gave the same bytes as a manual one. */
  readonly isOnePath: boolean;
}

export interface ContinuityOptions {
  readonly session: string;
  readonly cuts?: number | undefined;
  readonly minimumTokens?: number | undefined;
  readonly strategy?: string | undefined;
}

/** Every cut of a recording at every share. */
export async function* continuityOf(
  recording: Recording,
  { strategy = 'ladder', ...options }: ContinuityOptions,
): AsyncGenerator<ContinuityRow, void, undefined> {
  for (const [number, { prefix, stretch }] of cutsOf(recording, options).entries()) {
    const place = `${options.session} ${recording.transcript.title} ${stretch}.${number}`;
    const subject = { format: prefix.format.name, before: writeConversation(prefix), strategy };
    for (const share of continuityShares) yield { place, share, ...(await measure(subject, share)) };
  }
}

interface Subject {
  readonly format: string;
  readonly before: unknown;
  readonly strategy: string;
}

async function measure(
  { format, before, strategy }: Subject,
  share: number,
): Promise<Omit<ContinuityRow, 'place' | 'share'>> {
  const size = tokensOf(format, before);
  const targetTokens = Math.floor(size * share);
  // Half full: nothing but the trigger calls for a run, and no emergency has a say.
  const settings = {
    format,
    strategy,
    targetTokens,
    triggerTokens: targetTokens + 1,
    windowTokens: size * 2,
  };
  const manual = await compactorUnderTest(settings).manually(before);
  const automatic = await compactorUnderTest(settings).automatically(before);
  const known = new Set(ruleNames(await refusals(format, before)));
  return {
    endsWithTurn: endsWithTurn(listOf(format, before), listOf(format, manual.value)),
    broken: ruleNames(await refusals(format, manual.value)).filter((rule) => !known.has(rule)),
    isOnePath: manual.value === automatic.value || isDeepStrictEqual(manual.value, automatic.value),
  };
}

function ruleNames(told: readonly string[]): readonly string[] {
  return told.map((text) => text.split(' ', 1)[0] ?? text);
}

function endsWithTurn(given: readonly unknown[], left: readonly unknown[]): boolean {
  const turn = given.slice(currentTurnStart(given));
  return turn.every((message, index) => message === left[left.length - turn.length + index]);
}
