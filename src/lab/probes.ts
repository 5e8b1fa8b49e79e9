/** Probes: questions that a successor would ask, and whether a context answers them. */

import { type Place, RoundfoldError } from '../conversation/errors.ts';
import type { Format } from '../conversation/format.ts';
import { isObject, type JsonObject } from '../conversation/json.ts';
import { readConversation } from '../formats/registry.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { foldText } from './texts.ts';
import type { Cut } from './trajectory.ts';

/** A question that somebody who takes over would ask, and what in a context answers it. Plain data. */
export interface Probe {
  readonly id: string;
  /** What it asks for: `goal`, `rule`, `done`, `state`, … */
  readonly kind: string;
  readonly weight: number;
  readonly question: string;
  readonly answer: string;
  /** Groups of alternative texts. One of each group has to be there, all within 600 characters. */
  readonly evidence: readonly (readonly string[])[];
}

/** What a context answers. */
export interface ProbeScore {
  /** Answered probes by weight, from 0 to 1. */
  readonly share: number;
  readonly missed: readonly Probe[];
}

/**
 * A probe as somebody has written it. Only its evidence is needed; a probe without a weight counts once.
 * @throws RoundfoldError `input-not-understood` for what is none
 */
export function readProbe(value: unknown, place: Place = {}): Probe {
  const evidence = isObject(value) ? evidenceOf(value) : undefined;
  if (!isObject(value) || evidence === undefined) {
    throw new RoundfoldError('input-not-understood', 'a probe has a list `evidence` of lists of texts', {
      place,
      remedy: 'Write for example {"id":"p1","question":"…","answer":"…","evidence":[["port 8443","8443"]]}.',
    });
  }
  const { id, kind, weight, question, answer } = value;
  return {
    id: textOr(id, `line ${place.line ?? 1}`),
    kind: textOr(kind, ''),
    weight: typeof weight === 'number' && weight > 0 ? weight : 1,
    question: textOr(question, ''),
    answer: textOr(answer, ''),
    evidence,
  };
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** Groups of texts; undefined for anything else, since a probe that nothing answers, or everything, measures nothing. */
function evidenceOf({ evidence }: JsonObject): Probe['evidence'] | undefined {
  const isText = (text: unknown) => typeof text === 'string' && text.trim() !== '';
  const isGroup = (group: unknown) => Array.isArray(group) && group.length > 0 && group.every(isText);
  const isFine = Array.isArray(evidence) && evidence.length > 0 && evidence.every(isGroup);
  return isFine ? (evidence as Probe['evidence']) : undefined; // looked at down to the texts
}

/** The probes that the text of a context answers. */
export function scoreProbes(probes: readonly Probe[], text: string): ProbeScore {
  const context = foldText(text);
  const missed = probes.filter((probe) => !isAnswered(probe, context));
  const weightOf = (some: readonly Probe[]) => some.reduce((sum, { weight }) => sum + weight, 0);
  const whole = weightOf(probes);
  return { share: whole === 0 ? 1 : 1 - weightOf(missed) / whole, missed };
}

/** All evidence of a probe has to stand within this many characters. */
const WINDOW = 600;
/** A text that stands in more places than this is known well enough by these. */
const MOST_PLACES = 5000;

interface Stretch {
  readonly start: number;
  readonly end: number;
}

function isAnswered({ evidence }: Probe, context: string): boolean {
  const groups = evidence.map((alternatives) => placesOf(alternatives, context));
  const [rarest, ...others] = groups.toSorted((left, right) => left.length - right.length);
  if (rarest === undefined) return true;
  return rarest.some((anchor) => others.every((places) => hasNear(places, anchor)));
}

function placesOf(alternatives: readonly string[], context: string): readonly Stretch[] {
  const places: Stretch[] = [];
  for (const text of alternatives.map(foldText)) {
    let start = context.indexOf(text);
    while (start >= 0 && places.length < MOST_PLACES) {
      places.push({ start, end: start + text.length });
      start = context.indexOf(text, start + 1);
    }
  }
  return places.toSorted((left, right) => left.start - right.start);
}

/** Whether one of the places, which are in order, stands in one window with the anchor. */
function hasNear(places: readonly Stretch[], anchor: Stretch): boolean {
  for (let index = firstFrom(places, anchor.end - WINDOW); index < places.length; index++) {
    const place = places[index];
    if (place === undefined || place.start > anchor.start + WINDOW) return false;
    const start = Math.min(place.start, anchor.start);
    if (Math.max(place.end, anchor.end) - start <= WINDOW) return true;
  }
  return false;
}

function firstFrom(places: readonly Stretch[], start: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle]?.start ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A session cut where its agent was in the middle of something, with questions that a successor would ask. */
export interface ProbeSession {
  readonly cut: Cut;
  readonly probes: readonly Probe[];
}

/**
 * Makes a session of a request body with a `future` beside its messages: what really happened next, which may be left out.
 * @throws RoundfoldError `input-not-understood` for a body of no known format
 */
export function probeSessionOf(name: string, body: unknown, probes: readonly Probe[]): ProbeSession {
  const { future: given, ...request } = isObject(body) ? body : {};
  const future = listOf(given);
  const prefix = formatOf(request, future).read(request);
  const estimator = createTokenEstimator();
  const instructions = prefix.messages.filter(({ role }) => role === 'system');
  return {
    probes,
    cut: {
      session: name,
      title: name,
      stretch: 0,
      prefix,
      prefixTokens: estimator.countMessages(prefix.messages),
      instructionTokens: estimator.countMessages(instructions),
      future: future.map((message) => prefix.format.readMessage(message)),
      share: 1,
      openingSummary: undefined,
    },
  };
}

/** Short beginnings look alike in several formats; what came next tells them apart. */
function formatOf(request: JsonObject, future: readonly unknown[]): Format {
  const { messages } = request;
  const whole = Array.isArray(messages) ? { ...request, messages: [...messages, ...future] } : request;
  return readConversation(whole).format;
}

function listOf(future: unknown): readonly unknown[] {
  if (future === undefined) return [];
  if (Array.isArray(future)) return future;
  throw new RoundfoldError('input-not-understood', '`future` is no list of messages', {
    remedy: 'Give the messages that came after the cut, in the format of `messages`, or leave it out.',
  });
}
