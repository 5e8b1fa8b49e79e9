/** Offers what the user said, as pieces of a memory. */

import type { Happening, Said } from '../events.ts';
import { readSayings, type Saying, type Turn } from '../sayings/sayings.ts';
import { QUOTED_ABOVE, STATE_HEADS } from '../tell.ts';
import { cutAt } from '../telling.ts';
import { WORTH } from '../weights.ts';
import type { Piece, Unit } from './piece.ts';

/** A longer text was pasted or dictated: what is not a rule in it has to be worth its place. */
const SHORT_TEXT = 700;
const FEW_WORDS = 200;
const LONGEST_CONTEXT = 200;
/** So many of the newest texts are recent. */
const RECENT = 3;

/** The user's texts by their numbers, which later memories go on with. */
export function numberSaid(events: readonly Happening[]): ReadonlyMap<Said, number> {
  const numbers = new Map<Said, number>();
  let number = 0;
  for (const event of events) {
    if (event.type !== 'said') continue;
    number = event.number ?? number + 1;
    numbers.set(event, number);
  }
  return numbers;
}

/** Offers what the user said, in order: rules and decisions first of all, what was taken back marked as such. */
export function offerSaid(
  events: readonly Happening[],
  numbers: ReadonlyMap<Said, number>,
  quoted: readonly string[],
): readonly Piece[] {
  const spoken = events.flatMap((event, place) =>
    event.type === 'said' || event.type === 'told' ? [{ event, place }] : [],
  );
  const turns = spoken.map(
    ({ event }): Turn => ({ by: event.type === 'said' ? 'user' : 'agent', text: event.text }),
  );
  const sayings = readSayings(turns);
  const leaned = new Set(
    sayings.flatMap(({ kind, leansOn }) => (isRule(kind) ? leansOn.map(({ text }) => text) : [])),
  );
  const revising = new Set(sayings.flatMap(({ revokedBy }) => replacing(sayings, revokedBy)));
  const byTurn = Map.groupBy(sayings, ({ turn }) => turn);
  const numberOf = (turn: number) => {
    const event = spoken[turn]?.event;
    return event?.type === 'said' ? numbers.get(event) : undefined;
  };
  const foldedQuotes = quoted.map(fold);
  const isAbove = (event: Happening) =>
    event.type === 'said' && !event.isKept && foldedQuotes.some((text) => text.includes(fold(event.text)));
  const inForce = spoken.findLastIndex(({ event }) => isAbove(event));
  const newest = Math.max(0, ...numbers.values());
  const pieces = spoken.flatMap(({ event, place }, turn): readonly Piece[] => {
    if (event.type !== 'said') return [];
    const number = numbers.get(event) ?? 0;
    const own = byTurn.get(turn) ?? [];
    const isQuoted = isAbove(event);
    const isSince = inForce !== -1 && turn > inForce;
    const isOld = number <= newest - RECENT;
    const numberOfSaying = (saying: number) => numberOf(sayings[saying]?.turn ?? -1);
    const isHeld = (saying: Saying) => revising.has(saying) || leaned.has(saying.text);
    const units =
      event.isKept || isQuoted
        ? [...(isQuoted ? [QUOTED] : []), ...revokedNotes(own, numberOfSaying)]
        : offerSayings(own, { event, turns, isHeld, isOld, isSince, numberOfSaying });
    const piece = { head: headOf(event, number), units, turn: number };
    if (units.length === 0) return [];
    // What the user said after the request stands under it, where things stand.
    const isState = isSince && !event.isKept;
    return [
      isState ? { part: 'state', place: turn - spoken.length, ...piece } : { part: 'said', place, ...piece },
    ];
  });
  const request = pieces.some(({ part }) => part === 'state') ? numberOf(inForce) : undefined;
  return request === undefined ? pieces : [offerRequest(request, -spoken.length), ...pieces];
}

/** Says which request is being worked on, where the user has said more since. */
function offerRequest(number: number, place: number): Piece {
  const text = `[${number}], quoted above. Said since, newest last:`;
  const units = [{ text, worth: WORTH.demand, startsLine: false }];
  return { part: 'state', place, head: STATE_HEADS.request, units, turn: 0 };
}

/** What took something back, and what was said around it: one sentence is "forget that", another what to do instead. */
function replacing(sayings: readonly Saying[], revoking: number | undefined): readonly Saying[] {
  if (revoking === undefined) return [];
  const near = sayings.slice(Math.max(0, revoking - REACH), revoking + REACH + 1);
  return near.filter(({ turn }) => turn === sayings[revoking]?.turn);
}

const REACH = 2;

function fold(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function isRule(kind: Saying['kind']): boolean {
  return kind === 'demand' || kind === 'decision';
}

function headOf({ answers }: Said, number: number): string {
  const about =
    answers === undefined || answers === ''
      ? ''
      : ` (refusing \`${answers.replaceAll(/\s+/g, ' ').slice(0, 160)}\`)`;
  return `[${number}]${about}`;
}

/** What stays as it is says nothing of what came later: that parts of it were taken back is told here. */
function revokedNotes(
  sayings: readonly Saying[],
  numberOf: (saying: number) => number | undefined,
): readonly Unit[] {
  return sayings.flatMap(({ text, revokedBy }) => {
    if (revokedBy === undefined) return [];
    const which = sayings.length === 1 ? '' : `: ${text}`;
    return [
      {
        text: `taken back in [${numberOf(revokedBy) ?? '?'}]${which}`,
        worth: WORTH.demand,
        startsLine: false,
      },
    ];
  });
}

/** Says where a text stands. The next memory, which has only this one, is given the text in its place. */
const QUOTED: Unit = { text: QUOTED_ABOVE, worth: WORTH.demand, startsLine: false };

interface SayingTerms {
  readonly event: Said;
  readonly turns: readonly Turn[];
  /** Whether something else that is told stands or falls with it. */
  readonly isHeld: (saying: Saying) => boolean;
  /** Whether the user has spoken several times since: a question was answered long ago. */
  readonly isOld: boolean;
  /** Whether it was said after the request that is being worked on. */
  readonly isSince: boolean;
  readonly numberOfSaying: (saying: number) => number | undefined;
}

function offerSayings(
  sayings: readonly Saying[],
  { event, turns, isHeld, isOld, isSince, numberOfSaying }: SayingTerms,
): readonly Unit[] {
  const units: Unit[] = [];
  for (const [index, saying] of sayings.entries()) {
    const { text, kind, leansOn, revokedBy } = saying;
    const startsLine = event.text.includes(`\n${text}`);
    if (revokedBy !== undefined) {
      const revoked = `(taken back in [${numberOfSaying(revokedBy) ?? '?'}]: ${text})`;
      units.push({ text: revoked, worth: WORTH.revoked, startsLine });
      continue;
    }
    const isEdge = index === 0 || index === sayings.length - 1;
    const isSure =
      isAnswer(event) ||
      (isSince && event.text.length <= SHORT_TEXT) ||
      (index === 0 && REFUSES.test(text) && !NO_PROBLEM.test(text));
    const own = isSure ? WORTH.demand : worthOfSaying(kind, event.text.length, { isEdge, isOld });
    const worth = isHeld(saying) ? WORTH.held : own;
    const agent = isRule(kind) ? leansOn.find(({ turn }) => turns[turn]?.by === 'agent') : undefined;
    units.push(withContext({ text, worth, startsLine }, agent?.text));
  }
  return units;
}

/** What somebody says in answer to the agent, with what it answers: without that it says nothing, or something else. */
function withContext(unit: Unit, agent: string | undefined): Unit {
  if (agent === undefined) return unit;
  return { ...unit, text: `(agent had said: ${cutAt(agent, LONGEST_CONTEXT)}) ${unit.text}` };
}

/** What the user answered to a question of the agent's, or in refusing a call. */
function isAnswer({ answers }: Said): boolean {
  return answers !== undefined;
}

const NO_PROBLEM = /^[\s\p{P}]{0,4}no (?:problem|worries|need to (?:worry|apologi[sz]e)|idea)\b/iu;
/** A "no" that goes on: what the agent proposed is not wanted, and only these words say so. */
const REFUSES =
  /^[\s\p{P}]{0,4}(?:no|nope|nah|nein|non|não)(?:[,.!:;—–-] ?| )(?=\p{L})|^(?:不要|不用|不行|いいえ)/iu;

function worthOfSaying(
  kind: Saying['kind'],
  length: number,
  { isEdge, isOld }: { readonly isEdge: boolean; readonly isOld: boolean },
): number {
  if (kind === 'demand') return WORTH.demand;
  if (kind === 'talk') return WORTH.idle;
  if (kind === 'question' && isOld) return WORTH.oldQuestion;
  // A few words cost nothing, and only the user can say them.
  if (length <= FEW_WORDS) return WORTH.fewWords;
  if (kind === 'decision') return WORTH.decision;
  const typed = kind === 'question' ? WORTH.question : WORTH.said;
  return length <= SHORT_TEXT || isEdge ? typed : typed / 3;
}
