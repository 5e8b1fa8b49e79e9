import { describe, expect, it } from 'vitest';
import type { Summarizer, SummaryRequest } from '../core/summarizer.ts';
import { createTokenEstimator } from '../core/token-estimator.ts';
import { anthropicMessages } from '../formats/anthropic-messages.ts';
import { withDigest } from './with-digest.ts';

const estimator = createTokenEstimator();

/** What is told of a session that reads file after file. */
function reading(from: number, to: number): Pick<SummaryRequest, 'conversation' | 'messages'> {
  const conversation = anthropicMessages.read(
    Array.from({ length: to - from }, (_, place) => roundOf(from + place)).flat(),
  );
  return { conversation, messages: conversation.messages };
}

const roundOf = (index: number): readonly unknown[] => [
  {
    role: 'assistant',
    content: [
      { type: 'tool_use', id: `t${index}`, name: 'read_file', input: { path: `src/part_${index}.ts` } },
    ],
  },
  {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: `t${index}`,
        content: `export function loadPart${index}(): void {\n  return readShelf(${1000 + index});\n}`,
      },
    ],
  },
];

function request(given: Partial<SummaryRequest> = {}): SummaryRequest {
  return {
    ...reading(0, 40),
    previousSummary: undefined,
    instructions: undefined,
    maximumTokens: 800,
    estimator,
    signal: undefined,
    ...given,
  };
}

/** A model that always writes the same, and what it was asked. */
function writing(text: string): { inner: Summarizer; requests: SummaryRequest[] } {
  const requests: SummaryRequest[] = [];
  const inner: Summarizer = {
    name: 'model',
    asksModel: true,
    async summarize(asked) {
      requests.push(asked);
      return { status: 'summarized', text, usage: { promptTokens: 5, outputTokens: 7 } };
    },
  };
  return { inner, requests };
}

async function textOf(summarizer: Summarizer, asked: SummaryRequest): Promise<string> {
  const outcome = await summarizer.summarize(asked);
  return outcome.status === 'summarized' ? outcome.text : outcome.reason;
}

describe('withDigest', () => {
  it('shows the model what software found, and less room than there is', async () => {
    const { inner, requests } = writing('words of the model');
    await withDigest(inner).summarize(request());

    expect(requests[0]?.facts).toMatch(/^Digest of /);
    expect(requests[0]?.maximumTokens).toBe(480);
  });

  it('puts lines of the messages behind the words of the model, within the room', async () => {
    const text = await textOf(withDigest(writing('words of the model').inner), request());

    expect(text.startsWith('words of the model\n\n')).toBe(true);
    expect(text).toMatch(/loadPart\d+/);
    expect(estimator.countText(text)).toBeLessThanOrEqual(800);
  });

  it('keeps usage, and says what the model says when there is no room for lines', async () => {
    const long = 'word '.repeat(600).trim();
    const outcome = await withDigest(writing(long).inner).summarize(request({ maximumTokens: 620 }));

    expect(outcome).toMatchObject({ text: long, usage: { promptTokens: 5, outputTokens: 7 } });
  });

  it('gives the model its own words back, and goes on with the lines', async () => {
    const first = await textOf(withDigest(writing('words of the model').inner), request());
    const { inner, requests } = writing('newer words');
    const second = await textOf(withDigest(inner), request({ ...reading(40, 42), previousSummary: first }));

    expect(requests[0]?.previousSummary).toBe('words of the model');
    expect(second.startsWith('newer words\n\n')).toBe(true);
    const named = (text: string) => new Set(text.match(/loadPart\d+/g));
    expect([...named(first)].filter((name) => named(second).has(name)).length).toBeGreaterThan(2);
  });

  it('fails as the model fails', async () => {
    const failing: Summarizer = {
      name: 'model',
      asksModel: true,
      summarize: async () => ({
        status: 'failed',
        reason: 'refused',
        message: 'no',
        usage: { promptTokens: 3, outputTokens: 0 },
      }),
    };

    expect(await withDigest(failing).summarize(request())).toMatchObject({
      status: 'failed',
      reason: 'refused',
      usage: { promptTokens: 3 },
    });
  });
});
