import { MAX_OVERFLOW_RETRIES } from '../compaction/overflow/recovery.ts';
import type { Answer } from './answer.ts';
import { isSameBytes } from './body/same-bytes.ts';
import type { Folded, FoldRequest, Refusal } from './folder.ts';
import { overflowOf } from './overflow-answer.ts';

/** How a request is sent, and sent again. */
export interface Sending<Given extends Answer> {
  /** Undefined for requests that nobody may change. */
  readonly asked: FoldRequest | undefined;
  /** What goes out first. */
  readonly folded: Folded;
  send(folded: Folded): Promise<Given>;
  fold(request: FoldRequest): Promise<Folded>;
  /** Whether the client would still be there after another try. */
  mayGoOn(): boolean;
}

export interface Sent<Given extends Answer> {
  readonly answer: Given;
  /** What it is the answer to. */
  readonly folded: Folded;
  /** Tries that were needed on top of the first; 0 when none helped. */
  readonly recoveries: number;
}

/**
 * Sends a request, and sends it again with less in it while upstream says that it is too long, at most three times. When
 * nothing helps, the client gets upstream's first word, which it knows how to read.
 */
export async function sendUntilItFits<Given extends Answer>(sending: Sending<Given>): Promise<Sent<Given>> {
  const { asked, folded, send, fold, mayGoOn } = sending;
  const first = { answer: await send(folded), folded, recoveries: 0 };
  if (asked === undefined || !folded.mayBeReduced) return first;
  const refusals: Refusal[] = [];
  let last: Sent<Given> = first;
  for (;;) {
    const overflow = await overflowOf(last.answer, isNearLimit(last.folded));
    if (overflow === undefined) break;
    refusals.push({ overflow, tokensSent: last.folded.tokensSent ?? 0 });
    const less =
      refusals.length <= MAX_OVERFLOW_RETRIES && mayGoOn() ? await fold({ ...asked, refusals }) : undefined;
    if (less === undefined || !isNew(less, last.folded)) {
      if (last !== first) last.answer.discard();
      return first;
    }
    if (last !== first) last.answer.discard();
    const answer = await send(less).catch((error: unknown) => {
      // Nobody reads it any more, and it holds a connection.
      first.answer.discard();
      throw error;
    });
    last = { answer, folded: less, recoveries: refusals.length };
  }
  if (last !== first) first.answer.discard();
  return last;
}

/** Whether there is something new to try. A lower limit for the answer leaves the prompt as it is. */
function isNew({ body }: Folded, before: Folded): boolean {
  if (body === undefined) return false;
  return before.body === undefined || !isSameBytes(body, before.body);
}

/** Share of the window from which on a stream may begin and then say that the prompt is too long. */
const NEAR_LIMIT = 0.85;
/** The same where the window is not known: hardly any is smaller. */
const SMALLEST_WINDOW = 28_000;

function isNearLimit({ tokensSent = 0, windowTokens = SMALLEST_WINDOW }: Folded): boolean {
  return tokensSent >= windowTokens * NEAR_LIMIT;
}
