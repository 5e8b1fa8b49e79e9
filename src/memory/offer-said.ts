import type { Happening, Said } from './events.ts';
import type { Piece, Unit } from './piece.ts';
import { readSayings, type Saying, type Turn } from './sayings.ts';
import { QUOTED_ABOVE } from './tell.ts';
import { WORTH } from './weights.ts';

/** A longer text was pasted or dictated: what is not a rule in it has to be worth its place. */
const SHORT_TEXT = 700;
const FEW_WORDS = 200;
const LONGEST_CONTEXT = 200;

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
  return spoken.flatMap(({ event, place }, turn): readonly Piece[] => {
    if (event.type !== 'said') return [];
    const number = numbers.get(event) ?? 0;
    const own = byTurn.get(turn) ?? [];
    const isQuoted = !event.isKept && quoted.some((text) => fold(text).includes(fold(event.text)));
    const numberOfSaying = (saying: number) => numberOf(sayings[saying]?.turn ?? -1);
    const units =
      event.isKept || isQuoted
        ? [...(isQuoted ? [QUOTED] : []), ...revokedNotes(own, numberOfSaying)]
        : own.flatMap((saying, index) =>
            offerSaying(saying, {
              event,
              turns,
              isHeld: revising.has(saying) || leaned.has(saying.text),
              isEdge: index === 0 || index === own.length - 1,
              revokedIn: saying.revokedBy === undefined ? undefined : numberOfSaying(saying.revokedBy),
            }),
          );
    return units.length === 0
      ? []
      : [{ part: 'said', place, head: headOf(event, number), units: linked(units), turn: number }];
  });
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
): readonly DraftUnit[] {
  return sayings.flatMap(({ text, revokedBy }) => {
    if (revokedBy === undefined) return [];
    const which = sayings.length === 1 ? '' : `: ${text}`;
    return [
      {
        text: `taken back in [${numberOf(revokedBy) ?? '?'}]${which}`,
        worth: WORTH.demand,
        startsLine: false,
        needsPrevious: false,
      },
    ];
  });
}

/** Says where a text stands. The next memory, which has only this one, is given the text in its place. */
const QUOTED: DraftUnit = {
  text: QUOTED_ABOVE,
  worth: WORTH.demand,
  startsLine: false,
  needsPrevious: false,
};

interface DraftUnit {
  readonly text: string;
  readonly worth: number;
  readonly startsLine: boolean;
  /** Whether the unit in front of it comes along. */
  readonly needsPrevious: boolean;
}

interface SayingTerms {
  readonly event: Said;
  readonly turns: readonly Turn[];
  /** Whether something else that is told stands or falls with it. */
  readonly isHeld: boolean;
  readonly isEdge: boolean;
  readonly revokedIn: number | undefined;
}

function offerSaying(
  saying: Saying,
  { event, turns, isHeld, isEdge, revokedIn }: SayingTerms,
): readonly DraftUnit[] {
  const { text, kind, leansOn, revokedBy } = saying;
  const startsLine = event.text.includes(`\n${text}`);
  if (revokedBy !== undefined)
    return [
      {
        text: `(taken back in [${revokedIn ?? '?'}]: ${text})`,
        worth: WORTH.revoked,
        startsLine,
        needsPrevious: false,
      },
    ];
  const worth = isHeld || isAnswer(event) ? WORTH.demand : worthOfSaying(kind, event.text.length, isEdge);
  const agent = isRule(kind) ? leansOn.find(({ turn }) => turns[turn]?.by === 'agent') : undefined;
  const context =
    agent === undefined
      ? []
      : [
          {
            text: `(agent had said: ${agent.text.slice(0, LONGEST_CONTEXT)})`,
            worth: WORTH.said,
            startsLine,
            needsPrevious: false,
          },
        ];
  return [
    ...context,
    { text, worth, startsLine: startsLine && context.length === 0, needsPrevious: context.length > 0 },
  ];
}

/** What the user answered to a question of the agent's, or in refusing a call. */
function isAnswer({ answers }: Said): boolean {
  return answers !== undefined;
}

function worthOfSaying(kind: Saying['kind'], length: number, isEdge: boolean): number {
  if (kind === 'demand') return WORTH.demand;
  if (kind === 'talk') return WORTH.idle;
  // A few words cost nothing, and only the user can say them.
  if (length <= FEW_WORDS) return WORTH.fewWords;
  if (kind === 'decision') return WORTH.decision;
  const typed = kind === 'question' ? WORTH.question : WORTH.said;
  return length <= SHORT_TEXT || isEdge ? typed : typed / 3;
}

function linked(units: readonly DraftUnit[]): readonly Unit[] {
  return units.map(({ needsPrevious, ...unit }, index) => ({
    ...unit,
    needs: needsPrevious ? index - 1 : undefined,
  }));
}
