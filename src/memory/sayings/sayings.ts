import { piecesOf } from '../words/demands.ts';
import { kindOf, NOD, type SayingKind } from './kinds.ts';
import { findLeanings, type Leaning } from './leaning.ts';
import { isMereRevision } from './revising-words.ts';
import { findRevoked } from './revisions.ts';
import { namesSomething, topicWords } from './words.ts';

export type { SayingKind } from './kinds.ts';
export type { Leaning } from './leaning.ts';

/** A turn of the conversation, oldest first. */
export interface Turn {
  readonly by: 'user' | 'agent';
  /** Of the user only their own words: what others wrote is taken out already. */
  readonly text: string;
}

/** A sentence of the user's, or a list with the line that leads it, exactly as written. */
export interface Saying {
  /** Index into the turns. */
  readonly turn: number;
  /** A piece of that turn's text. */
  readonly text: string;
  /**
   * `demand`: a rule, a prohibition, a limit, a preference, how to work. `decision`: a plan or choice in force, a request,
   * who does what, and what takes such a thing back. `fact`: something stated that later work may need. `question`: asks.
   * `talk`: thanks, consent without content, tangents.
   */
  readonly kind: SayingKind;
  /** Index into the sayings: the newest one that took it back or stands in its place. */
  readonly revokedBy: number | undefined;
  /** Earlier sentences without which it cannot be understood, nearest first, at most three. */
  readonly leansOn: readonly Leaning[];
}

interface Draft {
  readonly turn: number;
  readonly text: string;
  readonly kind: SayingKind;
  readonly lead: string | undefined;
}

/** Reads what the user said, in order, from turns of a conversation. Linear in their length. */
export function readSayings(turns: readonly Turn[]): readonly Saying[] {
  const drafts = readDrafts(turns);
  const revokedBy = findRevoked(drafts, turns);
  const leanings = findLeanings(drafts, turns);
  const revokedOf = new Map([...revokedBy].map(([revoked, by]) => [by, revoked]));
  return drafts.map(({ turn, text, kind }, index) => {
    const revoked = drafts[revokedOf.get(index) ?? -1];
    // "Forget that", with nothing in its place, is understood by what is to be forgotten.
    const own =
      revoked !== undefined && isMereRevision(text)
        ? [{ turn: revoked.turn, text: revoked.text }]
        : leanings[index];
    return { turn, text, kind, revokedBy: revokedBy.get(index), leansOn: own ?? [] };
  });
}

function readDrafts(turns: readonly Turn[]): readonly Draft[] {
  const subjects = new Subjects(turns);
  return turns.flatMap(({ by, text }, turn) => {
    if (by !== 'user') return [];
    const pieces = piecesOf(text).filter((piece) => /[\p{L}\p{N}]/u.test(piece.text));
    const kinds = pieces.map((piece) => (pieces.length > 1 && NOD.test(piece.text) ? 'talk' : kindOf(piece)));
    const isAboutWork = kinds.some(
      (kind, index) =>
        kind === 'demand' ||
        kind === 'decision' ||
        (kind === 'statement' && namesSomething(pieces[index]?.text ?? '')),
    );
    return pieces.map((piece, index): Draft => {
      const kind = kinds[index] ?? 'talk';
      const isFact = () => statesFact(piece.text, isAboutWork, () => subjects.isShared(piece.text, turn));
      const judged = kind !== 'statement' ? kind : isFact() ? 'fact' : 'talk';
      return { turn, text: piece.text, lead: piece.lead, kind: judged };
    });
  });
}

/** Statements of fewer words that say something are remarks. */
const SHORTEST_STATEMENT = 3;

/** Whether later work may need a statement: it names something, or it is about what the others are about. */
function statesFact(text: string, isAboutWork: boolean, isShared: () => boolean): boolean {
  if (namesSomething(text)) return true;
  return (isAboutWork && topicWords(text).size >= SHORTEST_STATEMENT) || isShared();
}

/** Which words more than one turn is about. Read only when asked for. */
class Subjects {
  private readonly turns: readonly Turn[];
  private known: ReadonlyMap<string, number> | undefined;
  /** The first turn with each text: the same said again is no other turn. */
  private readonly firsts = new Map<string, number>();

  constructor(turns: readonly Turn[]) {
    this.turns = turns;
  }

  /** Whether another turn is about something that this text of a turn is about. */
  isShared(text: string, turn: number): boolean {
    this.known ??= this.read();
    const first = this.firsts.get(this.turns[turn]?.text ?? '');
    for (const word of topicWords(text)) if ((this.known.get(word) ?? first) !== first) return true;
    return false;
  }

  /** The turn that a word stands in, or -1 where it stands in several. */
  private read(): ReadonlyMap<string, number> {
    const turnOf = new Map<string, number>();
    for (const [turn, { text }] of this.turns.entries()) {
      if (this.firsts.has(text)) continue;
      this.firsts.set(text, turn);
      for (const word of topicWords(text)) {
        const known = turnOf.get(word);
        if (known === undefined) turnOf.set(word, turn);
        else if (known !== turn) turnOf.set(word, -1);
      }
    }
    return turnOf;
  }
}
