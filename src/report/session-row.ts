import { findContract } from '../contracts/registry.ts';
import { writeConversation } from '../conversation/format.ts';
import { isUserText, type Message, textOf } from '../conversation/message.ts';
import { groupRounds } from '../conversation/rounds.ts';
import { readSummaryMessage } from '../conversation/summary-message.ts';
import { contextWindowForModel, findModel } from '../tokens/catalog.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { measureContext } from '../tokens/measure.ts';
import { tokenProfileForModel } from '../tokens/profiles.ts';
import type { Recording } from '../transcripts/recordings.ts';
import type { Transcript } from '../transcripts/transcript.ts';
import { type RecordedCost, recordedCost } from './recorded-cost.ts';

/** What is said of one session in a list of many. Plain data: it is kept between looks. */
export interface SessionRow {
  readonly file: string;
  readonly agent: string;
  readonly id: string | undefined;
  /** The working directory. */
  readonly project: string | undefined;
  readonly branch: string | undefined;
  readonly model: string | undefined;
  /** Times as ISO 8601. */
  readonly startedAt: string | undefined;
  readonly usedAt: string | undefined;
  /** The beginning of what the user asked first. */
  readonly prompt: string;
  readonly rounds: number;
  readonly contextTokens: number;
  /** Undefined where the model is not known. */
  readonly windowTokens: number | undefined;
  readonly compactions: number;
  readonly cost: RecordedCost;
  readonly isSideChain: boolean;
  /** Sub-agents whose cost is part of this session's. */
  readonly subagents: number;
  /** What a provider would refuse it for; undefined for a legal session. */
  readonly fault: string | undefined;
}

const PROMPT_CHARACTERS = 200;

/** The sessions of a file, as rows. */
export async function* sessionsOf(
  recordings: AsyncIterable<Recording>,
  file: string,
): AsyncGenerator<SessionRow> {
  const all: Recording[] = [];
  for await (const recording of recordings) all.push(recording);
  yield* sessionRows(file, all);
}

/** A session in a file, and all that belongs to it there: sub-agents, and beginnings that lead nowhere. */
export interface SessionGroup {
  readonly main: Recording;
  readonly all: readonly Recording[];
}

/**
 * The sessions of a file. Where it has conversations of one session that are not linked, the one that was continued last is
 * the session. A file may hold several, each with charges of its own.
 */
export function sessionGroups(recordings: readonly Recording[]): readonly SessionGroup[] {
  const mains = mainRecordings(recordings);
  const groups = mains.map((main) => ({ main, all: [] as Recording[] }));
  let current = groups[0];
  for (const recording of recordings) {
    const own = groups.find(({ main }) => main === recording);
    const isForeign =
      recording.transcript.charges !== undefined &&
      recording.transcript.session?.id !== current?.main.transcript.session?.id;
    current = own ?? (isForeign ? undefined : current);
    current?.all.push(recording);
  }
  return groups;
}

function mainRecordings(recordings: readonly Recording[]): readonly Recording[] {
  const seen = new Set<string>();
  const mains = recordings.filter(({ transcript: { kind, session } }) => {
    if (kind !== 'main' || session?.id === undefined) return kind === 'main';
    const isNew = !seen.has(session.id);
    seen.add(session.id);
    return isNew;
  });
  return mains.length === 0 ? recordings.slice(0, 1) : mains;
}

/** A row for each session of a file, sub-agents counted with theirs. */
function sessionRows(file: string, recordings: readonly Recording[]): readonly SessionRow[] {
  const sides = recordings.filter(({ transcript }) => transcript.kind === 'side-chain').length;
  return mainRecordings(recordings).map((recording, index) => {
    const row = rowOf(file, recording);
    return index === 0 && !row.isSideChain ? { ...row, subagents: sides } : row;
  });
}

function rowOf(file: string, { transcript, conversations }: Recording): SessionRow {
  const live = conversations.at(-1);
  const { model } = transcript;
  const estimator = createTokenEstimator({ profile: tokenProfileForModel(model) });
  const times = timesOf(transcript);
  const violations =
    live === undefined
      ? []
      : (findContract(transcript.format)?.check(writeConversation(live), { scope: 'messages', model }) ?? []);
  return {
    file,
    agent: transcript.reader,
    id: transcript.session?.id,
    project: transcript.session?.folder,
    branch: transcript.session?.branch,
    model,
    startedAt: times.at(0),
    usedAt: times.at(-1),
    prompt: firstPrompt(conversations.flatMap(({ messages }) => messages)),
    rounds: conversations.reduce((sum, { messages }, index) => {
      const carried = transcript.segments[index]?.opening?.carried ?? 0;
      const rounds = groupRounds(messages.slice(carried));
      return sum + rounds.filter(({ kind }) => kind === 'response').length;
    }, 0),
    contextTokens: live === undefined ? 0 : measureContext(live, estimator).tokens,
    windowTokens: transcript.windowTokens ?? (model === undefined ? undefined : promptLimit(model)),
    compactions: transcript.segments.filter(({ opening }) => opening !== undefined).length,
    cost: recordedCost(transcript.charges ?? []),
    isSideChain: transcript.kind === 'side-chain',
    subagents: 0,
    fault: violations.find(({ severity }) => severity === 'error')?.message.slice(0, PROMPT_CHARACTERS),
  };
}

/** What a prompt may have at most: some models keep part of their window for the output alone. */
export function promptLimit(model: string): number {
  return findModel(model)?.maxInputTokens ?? contextWindowForModel(model);
}

/** The oldest and the newest time that the file tells. */
function timesOf({ segments, charges = [] }: Transcript): readonly string[] {
  let first: string | undefined;
  let last: string | undefined;
  const all = [...segments.flatMap(({ origins }) => origins), ...charges];
  for (const { timestamp } of all) {
    if (timestamp === undefined || Number.isNaN(Date.parse(timestamp))) continue;
    if (first === undefined || timestamp < first) first = timestamp;
    if (last === undefined || timestamp > last) last = timestamp;
  }
  return first === undefined || last === undefined ? [] : [first, last];
}

/** How texts begin that agents write in the user's name. */
const HARNESS = /^(?:<[a-z_-]{2,40}>|# AGENTS\.md|Caveat: )/;

/** The first words of the user's own; else the first text there is. */
function firstPrompt(messages: readonly Message[]): string {
  const texts = messages
    .filter((message) => isUserText(message) && readSummaryMessage(message) === undefined)
    .map(({ blocks }) => blocks.find(({ type }) => type === 'text') ?? { text: '' })
    .map((block) => ('type' in block ? textOf(block) : '').trim());
  const own = texts.find((text) => text !== '' && !HARNESS.test(text)) ?? texts.find((text) => text !== '');
  return (own ?? '').slice(0, PROMPT_CHARACTERS).replaceAll(/\s+/g, ' ');
}
