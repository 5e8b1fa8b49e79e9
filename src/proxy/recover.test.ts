import { describe, expect, it } from 'vitest';
import type { Answer } from './answer.ts';
import { passed } from './fold.ts';
import type { Folded, FoldRequest } from './folder.ts';
import { type Sending, sendUntilItFits } from './recover.ts';
import { findRoute } from './routes.ts';

interface TestAnswer extends Answer {
  isDiscarded: boolean;
}

function answerWith(status: number, message: string): TestAnswer {
  return {
    status,
    headers: [],
    isDiscarded: false,
    peek: async () => JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }),
    peekEvents: async () => undefined,
    discard() {
      this.isDiscarded = true;
    },
  };
}

const tooLong = () => answerWith(400, 'prompt is too long: 213462 tokens > 200000 maximum');
const fine = () => answerWith(200, '');

function foldedTo(text: string): Folded {
  return { ...passed('failed'), status: 'reduced', mayBeReduced: true, body: new TextEncoder().encode(text) };
}

const asked: FoldRequest = {
  route: { ...findRoute('POST', '/v1/messages'), format: 'anthropic-messages' },
  body: new TextEncoder().encode('{}'),
  tenant: 'tenant',
  upstream: 'upstream',
  betas: undefined,
  isBypassed: false,
  wishes: [],
  refusals: [],
};

/** Every try is shorter than the one before. */
function sending(
  answers: readonly (TestAnswer | Error)[],
): Sending<TestAnswer> & { readonly sent: string[] } {
  const sent: string[] = [];
  return {
    sent,
    asked,
    folded: foldedTo('first'),
    async send({ body }) {
      sent.push(new TextDecoder().decode(body));
      const answer = answers[sent.length - 1];
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error('one call too many');
      return answer;
    },
    fold: async ({ refusals }) => foldedTo(`after ${refusals.length}`),
    mayGoOn: () => true,
  };
}

describe('a request that is too long', () => {
  it('is sent again with less, and the refusal is given up', async () => {
    const answers = [tooLong(), fine()];
    const given = sending(answers);
    const { answer, recoveries } = await sendUntilItFits(given);
    expect(answer).toBe(answers[1]);
    expect(recoveries).toBe(1);
    expect(given.sent).toEqual(['first', 'after 1']);
    expect(answers.map(({ isDiscarded }) => isDiscarded)).toEqual([true, false]);
  });

  it('is sent four times at most, and the client gets the first refusal', async () => {
    const answers = [tooLong(), tooLong(), tooLong(), tooLong()];
    const given = sending(answers);
    const { answer, recoveries } = await sendUntilItFits(given);
    expect(answer).toBe(answers[0]);
    expect(recoveries).toBe(0);
    expect(given.sent).toHaveLength(4);
    expect(answers.map(({ isDiscarded }) => isDiscarded)).toEqual([false, true, true, true]);
  });

  it('leaves no answer open when the connection breaks at another try', async () => {
    const first = tooLong();
    await expect(sendUntilItFits(sending([first, new Error('no connection')]))).rejects.toThrow(
      'no connection',
    );
    expect(first.isDiscarded).toBe(true);
  });
});
