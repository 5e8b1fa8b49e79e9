import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { none } from '../../src/compaction/strategies/index.ts';
import { linkTools, summaryMessageText } from '../../src/conversation/index.ts';
import { foldView } from '../../src/formats/folded/fold.ts';
import { shortenToolIds } from '../../src/formats/folded/short-tool-ids.ts';
import { unfoldView } from '../../src/formats/folded/unfold.ts';
import {
  clearToolResults,
  contextWindowForModel,
  functionClient,
  type ModelClient,
  modelSummarizer,
  openaiClient,
  type Strategy,
  writeConversation,
} from '../../src/index.ts';
import { originalCount, progressInput, targetProgress } from '../../src/keeper/progress.ts';
import { findMarker } from '../../src/memory/markers.ts';
import { summaryRequestBudget } from '../../src/memory/model/summary-call.ts';
import { openWebui } from '../../src/transcripts/open-webui/reader.ts';
import { chat, chatShape, toolCall } from '../support/chat-shapes.ts';
import { bodyOf, foldTranscript } from '../support/fold-records.ts';
import { estimator, expectCompacted, rawsOf } from '../support/small-sessions.ts';
import { strategyContext } from '../support/strategy-context.ts';

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');

const block = (id: string, result = 'ok') =>
  `<details type="tool_calls" done="true" id="${id}" name="ls" arguments="{}" result="${result}">\n<summary>Ran</summary>\n</details>\n`;

const clearing = () => clearToolResults({ protectTokens: 1, minBatchTokens: 1 });

function run(strategy: Strategy, conversation: ReturnType<typeof chat>) {
  return strategy.compact(conversation, strategyContext({ estimator, targetTokens: 10 }));
}

/** A question, a call with a long result, and what follows. */
const longResult = (after: string) => [
  ...chatShape('u'),
  { role: 'assistant', content: null, tool_calls: [toolCall('old')] },
  { role: 'tool', tool_call_id: 'old', content: 'x'.repeat(700) },
  ...chatShape(after),
];

function summarised(client: ModelClient, windowTokens = 0) {
  const conversation = chat(chatShape('uaua'));
  return modelSummarizer(client, { windowTokens, overflowOf: () => undefined }).summarize({
    messages: conversation.messages,
    conversation,
    previousSummary: undefined,
    instructions: undefined,
    maximumTokens: 1000,
    estimator,
    signal: undefined,
  });
}

const shrinking = chat([
  { role: 'system', content: 'rules' },
  ...['Q', 'A', 'B', 'C'].map((letter) => ({ role: 'user', content: letter.repeat(100) })),
  { role: 'user', content: 'last' },
]).messages;

const cases: readonly (readonly [name: string, check: () => unknown])[] = [
  [
    'nothing is too large: nothing is changed',
    async () => {
      const outcome = await run(clearToolResults({ protectTokens: 1000 }), chat(longResult('aua')));
      expect(outcome.status).not.toBe('compacted');
    },
  ],
  [
    'switched off: nothing is changed',
    async () => {
      expect(await run(none(), chat(longResult('aua')))).toMatchObject({ status: 'skipped', reason: 'off' });
    },
  ],
  [
    'short ids keep their links',
    () => {
      const id = 'call_'.padEnd(46, 'x');
      const list = [
        { role: 'assistant', content: null, tool_calls: [toolCall(id)] },
        { role: 'tool', tool_call_id: id, content: 'ok' },
      ];
      const { messages } = shortenToolIds(chat(list), sha1);
      expect(linkTools(messages).pairs).toHaveLength(1);
      expect(JSON.stringify(rawsOf({ messages }))).not.toContain(id);
    },
  ],
  [
    'a long result is cleared, and the answer behind it stays as it is',
    async () => {
      const conversation = chat(longResult('aua'));
      const { conversation: after } = expectCompacted(await run(clearing(), conversation));
      expect(rawsOf(after)[2]).toMatchObject({ tool_call_id: 'old' });
      expect(JSON.stringify(rawsOf(after))).not.toContain('xxx');
      expect(after.messages.slice(3)).toEqual(conversation.messages.slice(3));
    },
  ],
  [
    'of a folded call only the result is replaced',
    async () => {
      const list = [...chatShape('u'), { role: 'assistant', content: `${block('a', 'x'.repeat(700))}So.` }];
      const view = unfoldView(chat([...list, ...chatShape('uaua')]));
      const { conversation } = expectCompacted(await run(clearing(), view.conversation));
      const back = foldView(conversation, view.status === 'unfolded' ? view.foldings : []);
      const [, folded] = writeConversation(back.conversation) as readonly { readonly content: string }[];
      expect(folded?.content.replace(/result="[^"]*"/, '')).toBe(
        `${block('a')}So.`.replace('result="ok"', ''),
      );
      expect(folded?.content).not.toContain('xxx');
    },
  ],
  [
    'results that the model has not answered yet are kept where they are protected',
    async () => {
      const strategy = clearToolResults({ protectTokens: 2000, minBatchTokens: 0 });
      expect((await run(strategy, chat(longResult('')))).status).not.toBe('compacted');
    },
  ],
  [
    'coordinates: 10 messages, target 8',
    () => {
      const content = summaryMessageText('x', { coveredUntil: 6, source: 'roundfold' });
      const { messages } = chat([...chatShape('s'), { role: 'user', content }, ...chatShape('uaua')]);
      expect(originalCount(messages)).toBe(10);
      expect(targetProgress(messages, { keepLast: 2, protectedHead: 1 })).toBe(8);
    },
  ],
  [
    'a branch is found by its links: m1, m2, m3',
    () => {
      const messages = {
        m1: { id: 'm1', parentId: null, role: 'user', content: '1' },
        m2: { id: 'm2', parentId: 'm1', role: 'assistant', content: '2' },
        other: { id: 'other', parentId: 'm1', role: 'assistant', content: 'other' },
        m3: { id: 'm3', parentId: 'm2', role: 'user', content: '3' },
      };
      const record = { chat: { models: ['m'], history: { messages, currentId: 'm3' } } };
      expect(bodyOf(foldTranscript(openWebui, [record]))).toMatchObject(
        ['1', '2', '3'].map((content) => ({ content })),
      );
    },
  ],
  [
    'a folded view is unfolded',
    () => {
      const view = unfoldView(chat([{ role: 'assistant', content: `${block('a')}So.` }]));
      expect(view).toMatchObject({ status: 'unfolded', conversation: { messages: { length: 3 } } });
    },
  ],
  [
    'text is counted in parts as well',
    () => {
      const parts = [{ type: 'text', text: 'a'.repeat(50) }];
      const [text, list] = ['a'.repeat(50), parts].map((content) =>
        estimator.countMessages(chat([{ role: 'user', content }]).messages),
      );
      expect(list).toBe(text);
    },
  ],
  [
    'a plain answer stays when the hidden list is no richer',
    () => {
      const output = [{ type: 'message', content: [{ type: 'output_text', text: 'So.' }] }];
      const view = unfoldView(chat([{ role: 'assistant', content: 'So.', output }]));
      expect(rawsOf(view.conversation)).toEqual([{ role: 'assistant', content: 'So.' }]);
    },
  ],
  [
    'progress that is saved after shrinking: 3',
    () => {
      const { inputTokens } = summaryRequestBudget(1200, 16_384);
      const fits = ({ messages }: { messages: typeof shrinking }) =>
        estimator.countMessages(messages) <= inputTokens;
      expect(progressInput(shrinking, { target: 5, protectedHead: 1, fits })).toMatchObject({ saved: 3 });
    },
  ],
  [
    'a previous summary that leaves no room is never dropped: all that it covers would be lost',
    () => {
      const stored = { coveredUntil: 2, summary: 'p'.repeat(1000) };
      const fits = ({ previousSummary = '' }) => previousSummary.length < 500;
      expect(progressInput(shrinking, { target: 5, protectedHead: 1, stored, fits })).toEqual({
        status: 'too-large',
        cause: 'previous-summary',
      });
    },
  ],
  [
    'an error of the provider in a body is told as one',
    async () => {
      const fetch = async () => Response.json({ error: { message: 'quota is used up', code: 429 } });
      const client = openaiClient({ model: 'm', baseUrl: 'http://localhost:1/v1', fetch });
      expect(await summarised(client)).toMatchObject({ status: 'failed', reason: 'upstream' });
    },
  ],
  [
    'an error before the call is told, and nobody is called',
    async () => {
      const client = functionClient(() => expect.unreachable());
      const outcome = await summarised(client, 600);
      expect(outcome).toMatchObject({
        status: 'failed',
        reason: 'input-too-long',
        message: expect.stringMatching(/\w/),
      });
    },
  ],
  [
    'the marker of somebody else is none of ours',
    () => {
      const content = summaryMessageText('x', { coveredUntil: 6, source: 'reference' });
      expect(findMarker(chat([{ role: 'user', content }]).messages)).toBeUndefined();
    },
  ],
  [
    'a window that nobody named is that of the model, else a default; 0 is unlimited',
    () => {
      expect(contextWindowForModel('my-own-model')).toBe(128_000);
      expect(summaryRequestBudget(0, 100).inputTokens).toBe(Number.POSITIVE_INFINITY);
    },
  ],
  [
    'nothing is saved for what was cut off the input',
    () => {
      const result = progressInput(shrinking, {
        target: 5,
        protectedHead: 1,
        fits: ({ messages }) => messages.length <= 1,
      });
      expect(result).toMatchObject({ status: 'ready', saved: 2 });
      expect(progressInput(shrinking, { target: 5, protectedHead: 1, fits: () => false })).toEqual({
        status: 'too-large',
        cause: 'group',
      });
    },
  ],
];

describe('a chat whose calls may be folded into its answers', () => {
  it.each(cases)('%s', async (_name, check) => {
    await check();
  });
});
