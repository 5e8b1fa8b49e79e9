/** Writes a memory: reads events, offers pieces, chooses what fits, tells it. */

import type { Message } from '../conversation/message.ts';
import { groupRounds } from '../conversation/rounds.ts';
import { Chooser } from './choose.ts';
import { commonFolder } from './common-folder.ts';
import { type Happening, markClosings, readEvents, type Told } from './events.ts';
import type { KnownFile } from './files.ts';
import { NameWorth } from './names.ts';
import { offerFiles } from './offer/files.ts';
import type { PartName, Piece } from './offer/piece.ts';
import { numberSaid, offerSaid } from './offer/said.ts';
import { offerState } from './offer/state.ts';
import { offerStory } from './offer/story.ts';
import { nothingRecalled, type Recalled, recallMemory } from './recall.ts';
import { foldState, type State } from './state.ts';
import type { SummaryFailure, SummaryOutcome, SummaryRequest } from './summary-request.ts';
import { type Frame, opening, pageLabel, STATE_HEADS, tell } from './tell.ts';
import { SMALL_MEMORY, WORTH } from './weights.ts';

/** Token costs are estimates, so the text is filled up or cut back at most this many times. */
const ATTEMPTS = 4;
/** Stop when no more than this share of the room is unused. */
const SPARE_SHARE = 0.015;
const HEADING_TOKENS = 30;
const TERSE_TOKENS = 300;

/** What a model, or somebody else's summarizer, wrote: it stands in the place of our own story. */
export interface Prose {
  /** Where things stand; empty where nothing was written about it. */
  readonly now: string;
  readonly story: string;
  /** Covered messages that its writer was not shown: our own story tells of them. */
  readonly unread: readonly Message[];
}

/** Writes the memory of these messages, within its tokens. The same messages always give the same text. */
export async function remember(request: SummaryRequest, prose?: Prose): Promise<SummaryOutcome> {
  const { estimator, maximumTokens, signal, pause = () => Promise.resolve() } = request;
  if (signal?.aborted === true) return failed('aborted', 'the run was aborted');
  const countText = (text: string) => estimator.countText(text);
  const past = readPast(request);
  await pause();
  const { pieces, frame, names, filesShare } = offerAll(request, past, prose);
  await pause();
  const room = maximumTokens - countText(opening(frame)) - HEADING_TOKENS;
  const chooser = new Chooser(pieces, { countText, names, filesShare });
  await pause();
  chooser.add(Math.max(0, room));
  let text = tell(chooser.choice, frame);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const left = maximumTokens - countText(text);
    if (left >= 0 && left <= maximumTokens * SPARE_SHARE) break;
    if (left < 0) chooser.drop(-left + 4);
    else if (attempt < ATTEMPTS - 1) chooser.add(left * 0.95);
    else break;
    text = tell(chooser.choice, frame);
  }
  if (countText(text) <= maximumTokens) return { status: 'summarized', text, usage: undefined };
  return failed('too-large', `no memory fits into ${maximumTokens} tokens`);
}

function failed(reason: SummaryFailure, message: string): SummaryOutcome {
  return { status: 'failed', reason, message, usage: undefined };
}

/** What is known of everything that happened, before anything is chosen. */
interface ReadPast {
  readonly messages: readonly Message[];
  readonly earlier: Recalled;
  readonly events: readonly Happening[];
  readonly state: State;
  /** How many rounds of the original conversation the memory stands for. */
  readonly rounds: number;
}

function readPast({ messages, conversation, previousSummary }: SummaryRequest): ReadPast {
  const covered = new Set(messages);
  const isPart = conversation.messages.some((message) => covered.has(message));
  const all = isPart ? conversation.messages : messages;
  const earlier = previousSummary === undefined ? nothingRecalled() : recallMemory(previousSummary);
  const events = markClosings(readEvents(all, (message) => !covered.has(message), earlier.events));
  const begun = groupRounds(all).filter(
    ({ kind, start }) => kind === 'response' && covers(covered, all[start]),
  );
  const rounds = earlier.rounds + begun.length;
  return { messages: all, earlier, events, state: foldState(events, earlier), rounds };
}

function covers(covered: ReadonlySet<Message>, message: Message | undefined): boolean {
  return message !== undefined && covered.has(message);
}

interface Offered {
  readonly pieces: readonly Piece[];
  readonly frame: Frame;
  readonly names: NameWorth;
  readonly filesShare: number;
}

/** Everything that could be told, and what stands around it. */
function offerAll(request: SummaryRequest, past: ReadPast, prose: Prose | undefined): Offered {
  const { messages, archive, quoted = [], maximumTokens, estimator } = request;
  const { messages: all, earlier, events, state, rounds } = past;
  const files = state.files.all();
  const root = earlier.root === '' ? commonFolder(events) : earlier.root;
  const numbers = numberSaid(events);
  const newest = events.findLastIndex(({ type }) => type === 'said');
  const kept = maximumTokens / Math.max(1, estimator.countMessages(messages));
  const share = Math.min(1, kept / SMALL_MEMORY.fullShare);
  const hasOutline = kept >= SMALL_MEMORY.outlineShare;
  const names = new NameWorth(events, files, share ** SMALL_MEMORY.names);
  const context = {
    events,
    room: maximumTokens,
    countText: (text: string) => estimator.countText(text),
    total: events.length,
    newest,
    scale: share ** SMALL_MEMORY.files,
    names,
    state,
    linesOf: new Map(),
    moved: state.moved,
    asked: answeredBy(events, newest),
    numbers,
    shorten: (path: string) => belowFolder(path, root),
    isKept: ({ at }: { readonly at: number }) => events[at]?.isKept === true,
  };
  const pageAt = (place: number): string | undefined => {
    const event = events[Math.floor(place)];
    if (event?.type === 'past' || (event?.type === 'told' && event.page !== undefined)) return event.page;
    const message = all[event?.at ?? -1];
    const page = message === undefined ? undefined : archive?.pageOf(message);
    return page === undefined ? undefined : pageLabel(handles.length - 1, page);
  };
  const handles = [...earlier.handles, ...(archive === undefined ? [] : [archive.handle])];
  const story = withPages(belowRoot(offerStory(events, context), root), pageAt);
  const pieces = [
    ...offerState(state, events, context.shorten),
    ...offerSaid(events, numbers, quoted),
    ...(prose === undefined ? story : withProse(story, prose, (place) => all[events[place]?.at ?? -1])),
    ...offerFiles(kept < SMALL_MEMORY.openShare ? openFiles(state) : files, { ...context, hasOutline }),
  ];
  const filesShare = hasOutline ? 1 : SMALL_MEMORY.filesRoom;
  return {
    pieces,
    filesShare,
    frame: { rounds, root, handles, isTerse: maximumTokens < TERSE_TOKENS },
    names,
  };
}

/** The text of the agent's that the newest words of the user answer: the one that ended the turn before them. */
function answeredBy(events: readonly Happening[], newest: number): Told | undefined {
  const before = events.slice(0, Math.max(0, newest)).findLast(({ type }) => type !== 'given');
  return before?.type === 'told' && before.isClosing ? before : undefined;
}

/** Files that were changed since a check last passed. */
function openFiles({ files, checks }: State): readonly KnownFile[] {
  const passed = checks.findLast(({ isFailed }) => !isFailed)?.at ?? -1;
  return files.all().filter(({ changes, changedAt }) => changes > 0 && changedAt > passed);
}

function withPages(
  pieces: readonly Piece[],
  pageAt: (place: number) => string | undefined,
): readonly Piece[] {
  return pieces.map((piece) => ({ ...piece, page: pageAt(piece.place) }));
}

/** The story that somebody else wrote, with our own of what its writer was not shown in front of it. */
function withProse(
  story: readonly Piece[],
  { now, story: told, unread }: Prose,
  messageAt: (place: number) => Message | undefined,
): readonly Piece[] {
  const left = new Set<Message | undefined>(unread);
  const own = story.filter(({ place }) => left.has(messageAt(Math.floor(place))));
  // It goes on where our own story ends, also when it is read back.
  const turn = own.at(-1)?.turn ?? 0;
  return [
    ...offerProse('state', now, { place: -1, turn: 0 }),
    ...own,
    ...offerProse('story', told, { place: Number.MAX_SAFE_INTEGER, turn }),
  ];
}

function offerProse(part: PartName, text: string, about: Pick<Piece, 'place' | 'turn'>): readonly Piece[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const units = lines.map((line) => ({ text: line.trimEnd(), worth: WORTH.written, startsLine: true }));
  return units.length === 0 ? [] : [{ part, head: STATE_HEADS.prose, units, ...about }];
}

/** A path without the folder that most are below, unless the name of its own folder would be lost. */
function belowFolder(path: string, root: string): string {
  if (root === '' || !path.startsWith(root)) return path;
  const rest = path.slice(root.length);
  return rest.includes('/') ? rest : path;
}

/** Texts without the folder that all paths are below. */
function belowRoot(pieces: readonly Piece[], root: string): readonly Piece[] {
  if (root === '') return pieces;
  const strip = (text: string) => (text.includes(root) ? text.replaceAll(root, '') : text);
  return pieces.map((piece) => ({
    ...piece,
    units: piece.units.map((unit) => ({ ...unit, text: strip(unit.text) })),
  }));
}
