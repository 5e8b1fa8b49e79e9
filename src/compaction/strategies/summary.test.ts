import { describe, expect, it } from 'vitest';
import { countingSummarizer } from '../../../test/support/strategy-context.ts';
import {
  answer,
  ask,
  characters,
  chatToolRounds,
  countLeft,
  filling,
  madeBy,
  type RunContext,
  recording,
  runSummarize,
  session,
  task,
  toolRounds,
} from '../../../test/support/summarize-runs.ts';
import { findContract } from '../../contracts/registry.ts';
import { type Message, textOf } from '../../conversation/message.ts';
import { readOpenings, readSummaryMessage } from '../../conversation/summary-message.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { openaiChat } from '../../formats/openai-chat/format.ts';
import type { OverflowFacts } from '../../formats/overflow/detect.ts';
import { memory } from '../../memory/summarizer.ts';
import type { Summarizer, SummaryRequest } from '../../memory/summary-request.ts';
import { changeOf } from '../plan/strategy.ts';

const user = (content: string) => ({ role: 'user', content });
const system = (content: string) => ({ role: 'system', content });
const rolesOf = (messages: ReturnType<typeof madeBy>) =>
  messages.map(({ role }) => role.slice(0, 1)).join('');
const openingsIn = (messages: ReturnType<typeof madeBy>) =>
  messages.map(readOpenings).find((read) => read !== undefined);

function errorsIn(messages: ReturnType<typeof madeBy>, format: string): readonly string[] {
  const raws = messages.map(({ raw }) => raw);
  const found = findContract(format)?.check(raws, { scope: 'messages' }) ?? [];
  return found.filter(({ severity }) => severity === 'error').map(({ rule }) => rule);
}

describe('the newest rounds that stay by themselves', () => {
  it.each([
    // Two rounds or ten messages, as far as they take no more than two fifths of the target.
    { targetTokens: 8000, length: 990, rounds: 20, answers: 3 },
    { targetTokens: 8000, length: 2990, rounds: 20, answers: 1 },
    { targetTokens: 8000, length: 3990, rounds: 20, answers: 0 },
    { targetTokens: 8000, length: 40, rounds: 400, answers: 39 },
    // A fifth of the target, at most 60,000 tokens.
    { targetTokens: 50_100, length: 990, rounds: 100, answers: 10 },
    { targetTokens: 500_000, length: 990, rounds: 600, answers: 59 },
    // Nothing but the current turn.
    { targetTokens: 400, length: 990, rounds: 20, answers: 0 },
  ])(
    'are $answers of $rounds with $length characters for a target of $targetTokens',
    async ({ targetTokens, length, rounds, answers }) => {
      const given = { targetTokens, conversation: session(rounds, length) };
      for (const trigger of ['auto', 'manual'] as const)
        expect(
          rolesOf(madeBy(await runSummarize({}, { ...given, trigger }))).replaceAll('u', '').length,
        ).toBe(answers);
    },
  );

  it('are the same whoever writes the summary', async () => {
    const count = (given: RunContext) => countLeft({}, { targetTokens: 12_000, ...given });

    const expected = await count({ summarizer: countingSummarizer });
    for (const kind of [{ writesMemory: true }, { asksModel: true }, {}])
      expect(await count({ summarizer: filling(kind).summarizer })).toBe(expected);
  });

  it('take their room from what instructions and pinned messages leave', async () => {
    const { list } = session(20).frame;
    const conversation = anthropicMessages.read({ system: 's'.repeat(4000), messages: list });

    expect(await countLeft({}, { conversation })).toBeLessThan((await countLeft({})) as number);
  });
});

describe('the newest rounds that somebody wants to stay', () => {
  it.each([
    { options: { keepRounds: 1 }, left: 5 },
    { options: { keepRounds: 2 }, left: 7 },
    { options: { keepRounds: 5 }, left: 13 },
    { options: { keepRecentMessages: 1 }, left: 5 },
    { options: { keepRecentMessages: 5 }, left: 7 },
    { options: { keepRecentMessages: 6 }, left: 9 },
    { options: { keepRecentTokens: 3006 }, left: 7 },
    { options: { keepRecentTokens: 3007 }, left: 9 },
    { options: { keepRecentTokens: 3007, keepRounds: 1, keepRecentMessages: 1 }, left: 9 },
    { options: { keepRecentTokens: 1, keepRounds: 4, keepRecentMessages: 5 }, left: 11 },
    { options: { keepRecentTokens: 1, keepRounds: 1, keepRecentMessages: 9 }, left: 11 },
    // More than the target has: obeyed all the same.
    { options: { keepRecentTokens: 12_007 }, left: 27 },
    { options: { keepRounds: 12 }, left: 27 },
    { options: { keepRecentMessages: 25 }, left: 27 },
  ])('stay as they are: $options leaves $left messages', async ({ options, left }) => {
    expect(await countLeft(options)).toBe(left);
    expect(await countLeft(options, { targetTokens: 500 })).toBe(left);
  });

  it('stay behind the task and the summary, as the very same values', async () => {
    const conversation = session(20);
    const kept = madeBy(await runSummarize({ keepRounds: 1 }, { conversation }));

    expect(kept[0]).toBe(conversation.messages[0]);
    expect(kept.slice(2)).toEqual(conversation.messages.slice(-3));
    expect(kept.at(-1)).toBe(conversation.messages.at(-1));
    expect(readSummaryMessage(kept[1]!)).toMatch(/^Memory of 19 rounds\.[\s\S]*\n- By a model: 37 messages$/);
  });
});

describe('the first text of the user', () => {
  const long = user(`Never touch main. ${'task '.repeat(600)}`);
  const conversation = anthropicMessages.read([long, ...session(20).frame.list.slice(1)]);

  it.each([
    { trigger: 'auto', targetTokens: 5000, isKept: false },
    { trigger: 'manual', targetTokens: 5000, isKept: false },
    { trigger: 'auto', targetTokens: 7000, isKept: true },
    { trigger: 'manual', targetTokens: 7000, isKept: true },
  ] as const)(
    'stays where it takes no more than half of the target: $trigger, $targetTokens',
    async ({ isKept, ...given }) => {
      const messages = madeBy(await runSummarize({}, { conversation, ...given }));

      expect(messages.some(({ raw }) => raw === long)).toBe(isKept);
    },
  );

  it('leaves its demands word for word', async () => {
    const messages = madeBy(await runSummarize({}, { conversation, targetTokens: 5000 }));

    expect(messages.map(readSummaryMessage).join('\n')).toContain('Never touch main.');
  });

  it('stays where it is short, although the instructions take the whole target', async () => {
    const framed = anthropicMessages.read({ system: 's'.repeat(9000), messages: session(20).frame.list });

    expect(madeBy(await runSummarize({}, { conversation: framed }))[0]).toBe(framed.messages[0]);
  });
});

describe('the newest request of the user', () => {
  const request = 'now mend the parser';
  const asking = (content: string) =>
    anthropicMessages.read([task, answer(9), user(content), ...toolRounds(20)]);

  it('is quoted in front of the summary when the newest rounds do not hold it', async () => {
    const messages = madeBy(await runSummarize({ keepRounds: 1 }, { conversation: asking(request) }));

    expect(messages.map(readOpenings).filter((read) => read !== undefined)).toEqual([
      [{ kind: 'request', text: request }],
    ]);
    expect(errorsIn(messages, 'anthropic-messages')).toEqual([]);
  });

  it('is not quoted when they hold it', async () => {
    expect(openingsIn(madeBy(await runSummarize({ keepRounds: 1 })))).toEqual([]);
  });

  it('is carried on by the next summary as long as there is no newer one', async () => {
    const first = madeBy(await runSummarize({ keepRounds: 1 }, { conversation: asking(request) }));
    const again = async (...more: readonly unknown[]) => {
      const list = [...first.map(({ raw }) => raw), answer(9), ...more, ...toolRounds(20)];
      const conversation = anthropicMessages.read(list);
      return openingsIn(madeBy(await runSummarize({ keepRounds: 1 }, { conversation })));
    };

    expect(await again()).toEqual([{ kind: 'request', text: request }]);
    expect(await again(user('now the tests'))).toEqual([{ kind: 'request', text: 'now the tests' }]);
  });

  it('is shortened to a quarter of the target where it is longer', async () => {
    const long = `first words ${'and '.repeat(3000)} last words`;
    const [opening] = openingsIn(madeBy(await runSummarize({}, { conversation: asking(long) }))) ?? [];

    expect(opening?.text).toMatch(/^first words .*\n\[\d+ characters left out .*\]\n.* last words$/s);
    expect(opening?.text.length).toBeLessThanOrEqual(2000);
    expect(opening?.text.length).toBeGreaterThan(1800);
  });

  it('stays as it is where it is more than text', async () => {
    const data = 'iVBORw0KGgo=';
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
    const shown = { role: 'user', content: [{ type: 'text', text: request }, image] };
    const conversation = anthropicMessages.read([task, answer(9), shown, ...toolRounds(20)]);
    const messages = madeBy(await runSummarize({ keepRounds: 1 }, { conversation }));

    expect(messages.some(({ raw }) => raw === shown)).toBe(true);
    expect(openingsIn(messages)).toEqual([]);
  });
});

describe('where the two sides have to take turns', () => {
  const says = (role: string, content: string) => ({ role, content });
  const turns = Array.from({ length: 20 }, (_one, index) => [
    says('assistant', 'x'.repeat(990)),
    says('user', `more ${index}`),
  ]).flat();
  const conversation = openaiChat.read([system('rules'), task, ...turns]);

  it('the first text of the user becomes the beginning of the message with the summary', async () => {
    const messages = madeBy(await runSummarize({ keepRounds: 1 }, { conversation }));

    expect(rolesOf(messages)).toBe('suauau');
    expect(readOpenings(messages[1]!)).toEqual([{ kind: 'said', text: 'task' }]);
    expect(messages.at(-1)).toBe(conversation.messages.at(-1));
  });

  it('it stays there word for word, once, from one compaction to the next', async () => {
    const first = changeOf(await runSummarize({ keepRounds: 1 }, { conversation }))!.conversation;
    const grown = openaiChat.read([...first.messages.map(({ raw }) => raw), ...turns]);
    const messages = madeBy(await runSummarize({ keepRounds: 1 }, { conversation: grown }));

    expect(rolesOf(messages)).toBe('suauau');
    expect(readOpenings(messages[1]!)).toEqual([{ kind: 'said', text: 'task' }]);
  });

  it('in front of the newest request, where that is quoted too', async () => {
    const list = [task, says('assistant', 'well'), says('user', 'mend it'), ...chatToolRounds(20)];
    const messages = madeBy(await runSummarize({ keepRounds: 1 }, { conversation: openaiChat.read(list) }));

    expect(openingsIn(messages)).toEqual([
      { kind: 'said', text: 'task' },
      { kind: 'request', text: 'mend it' },
    ]);
  });
});

describe('system messages', () => {
  const chat = (...late: readonly string[]) =>
    openaiChat.read([
      system('rules'),
      task,
      ...late.flatMap((content) => [{ role: 'assistant', content: 'x'.repeat(2000) }, ask, system(content)]),
      ...Array.from({ length: 10 }, () => [{ role: 'assistant', content: 'x'.repeat(990) }, ask]).flat(),
    ]);
  const systemsIn = async (conversation: ReturnType<typeof chat>) =>
    madeBy(await runSummarize({ keepRounds: 1 }, { conversation }))
      .filter(({ role }) => role === 'system')
      .map(({ raw }) => (raw as { content: string }).content.slice(0, 6));

  it('stay, and once where a harness repeats them word for word', async () => {
    expect(await systemsIn(chat('late A', 'late B'))).toEqual(['rules', 'late A', 'late B']);
    expect(await systemsIn(chat('late A', 'late B', 'late A'))).toEqual(['rules', 'late B', 'late A']);
  });

  it('stay as far as a tenth of the target goes, the newest first, and the first ones always', async () => {
    const long = (name: string) => `${name} ${'!'.repeat(300)}`;

    expect(await systemsIn(chat(long('late A'), long('late B'), long('late C')))).toEqual([
      'rules',
      'late B',
      'late C',
    ]);
  });

  it.each([
    { before: 'an answer', work: toolRounds(20), roles: 'uusau', openings: [] },
    {
      before: 'a text of the user',
      work: session(20).frame.list.slice(1),
      roles: 'uuuau',
      openings: [{ kind: 'system', text: 'late rules' }],
    },
  ])(
    'of Anthropic may only stand before an answer: where $before comes next they are found in "$roles"',
    async ({ work, roles, openings }) => {
      const conversation = anthropicMessages.read([task, system('late rules'), ...work]);
      const messages = madeBy(await runSummarize({ keepRounds: 1 }, { conversation }));

      expect(errorsIn(messages, 'anthropic-messages')).toEqual([]);
      expect({ roles: rolesOf(messages), openings: openingsIn(messages) }).toEqual({ roles, openings });
    },
  );

  it('of Anthropic that were quoted are carried on by the next summary', async () => {
    const list = [task, system('late rules'), ...session(20).frame.list.slice(1)];
    const first = madeBy(
      await runSummarize({ keepRounds: 1 }, { conversation: anthropicMessages.read(list) }),
    );
    const grown = anthropicMessages.read([
      ...first.map(({ raw }) => raw),
      ...session(20).frame.list.slice(1),
    ]);

    expect(openingsIn(madeBy(await runSummarize({ keepRounds: 1 }, { conversation: grown })))).toEqual([
      { kind: 'system', text: 'late rules' },
    ]);
  });
});

it('a summarizer is shown nothing that stays beside its summary', async () => {
  const { requests, summarizer } = recording();
  const conversation = openaiChat.read([system('rules'), task, ...chatToolRounds(20)]);
  const kept = madeBy(await runSummarize({ keepRounds: 1 }, { conversation, summarizer }));
  const shown = requests[0]?.messages ?? [];

  expect(shown).toHaveLength(38);
  expect(shown.filter((message) => kept.includes(message))).toEqual([]);
  expect(shown.map(({ raw }) => raw)).not.toContain(task);
});

const tokensOf = (messages: readonly Message[]) =>
  messages.reduce((sum, message) => sum + characters.countMessage(message), 0);

/** Reads so many tokens at most, and says what is too much where it `tells`. */
function narrow(most: number, tells: (tokens: number) => OverflowFacts | undefined = () => undefined) {
  const refused: SummaryRequest[] = [];
  const read: SummaryRequest[] = [];
  const usage = { promptTokens: 10, outputTokens: 1 };
  const summarizer: Summarizer = {
    name: 'narrow',
    asksModel: true,
    async summarize(request) {
      const tokens = tokensOf(request.messages);
      if (tokens <= most) {
        read.push(request);
        return { status: 'summarized', text: 'summary', usage };
      }
      refused.push(request);
      const overflow = tells(tokens);
      return { status: 'failed', reason: 'input-too-long', message: 'too long', usage, overflow };
    },
  };
  return { refused, read, summarizer };
}

const excessOver = (most: number) => (tokens: number) => ({
  kind: 'prompt-too-long',
  actualTokens: tokens,
  excessTokens: tokens - most,
});

/** What the memory tells of these messages, in whose answers each has a sentence of its own. */
const partsIn = (texts: readonly string[]) => texts.flatMap((text) => text.match(/Part \d+ works\b/g) ?? []);
const partsOf = (messages: readonly Message[]) =>
  partsIn(messages.flatMap(({ blocks }) => blocks.map(textOf)));

/** A task and rounds of 1000 tokens, each with a sentence of its own. */
const told = (rounds: number) =>
  anthropicMessages.read([
    task,
    ...Array.from({ length: rounds }, (_one, index) => [
      { role: 'assistant', content: `Part ${index} works now. ${'x'.repeat(970)}` },
      ask,
    ]).flat(),
  ]);

const rawsOf = (messages: readonly Message[] | undefined) => messages?.map(({ raw }) => raw);

describe('an input that is too long for the summarizer, while the target has room', () => {
  const conversation = told(20);
  const given = { conversation, targetTokens: 14_000 };
  const options = { keepRounds: 1, maxSummaryTokens: 200 };

  it('leaves the newest of what was covered in the conversation, by what the refusal says', async () => {
    const { refused, read, summarizer } = narrow(12_000, excessOver(12_000));
    const outcome = await runSummarize(options, { ...given, summarizer });
    const gone = changeOf(outcome)!
      .receipt.runs.filter(({ fate }) => fate === 'summarised')
      .flatMap(({ start, end }) => conversation.messages.slice(start, end));

    expect(outcome.status).toBe('compacted');
    expect(refused).toHaveLength(1);
    expect(rawsOf(gone)).toEqual(rawsOf(read[0]?.messages));
    // A tenth of the gap on top of it, and whole rounds.
    expect(tokensOf(gone)).toBeLessThanOrEqual(12_000);
    expect(tokensOf(gone)).toBeGreaterThan(10_000);
    // Nobody else has to tell of anything.
    expect(read[0]?.shown).toBeUndefined();
    expect(partsIn(madeBy(outcome).flatMap((message) => readSummaryMessage(message) ?? []))).toEqual([]);
  });

  it('counts the excess in the tokens of the provider', async () => {
    const { read, summarizer } = narrow(12_000, (tokens) => ({
      kind: 'prompt-too-long',
      actualTokens: tokens * 3,
      excessTokens: (tokens - 12_000) * 3,
    }));
    await runSummarize(options, { ...given, summarizer });

    expect(tokensOf(read[0]?.messages ?? [])).toBeGreaterThan(10_000);
  });

  it('takes a fifth off where nobody says by how much it is too long', async () => {
    const { refused, read, summarizer } = narrow(15_500);
    await runSummarize(options, { ...given, summarizer });
    const [before] = refused.map(({ messages }) => tokensOf(messages));
    const after = tokensOf(read[0]?.messages ?? []);

    expect(after).toBeLessThanOrEqual(before! * 0.8);
    expect(after).toBeGreaterThan(before! * 0.7);
  });

  it('adds up what all tries have cost', async () => {
    const { summarizer } = narrow(12_000, excessOver(12_000));

    expect(await runSummarize(options, { ...given, summarizer })).toMatchObject({
      usage: { promptTokens: 20, outputTokens: 2 },
    });
  });
});

describe('an input that is too long for the summarizer, while the target has no room', () => {
  const conversation = told(20);
  const given = { conversation, targetTokens: 4500 };
  const options = { keepRounds: 1, maxSummaryTokens: 2000 };

  it('loses its oldest, which our own story in front of the prose tells of', async () => {
    const { read, summarizer } = narrow(6000, excessOver(6000));
    const outcome = await runSummarize(options, { ...given, summarizer });
    const [, summary = ''] = madeBy(outcome).map(readSummaryMessage);
    const [own = '', prose] = summary.split('- By a model: ');
    const shown = read[0]?.messages ?? [];

    expect(outcome.status).toBe('compacted');
    expect(madeBy(outcome)).toHaveLength(5);
    expect(prose).toBe('summary');
    // Every covered message is told by one of the two, the newest by the model, and none by both.
    const covered = conversation.messages.slice(1, 38);
    expect([...partsIn([own]), ...partsOf(shown)]).toEqual(partsOf(covered));
    expect(partsIn([own]).length).toBeGreaterThan(10);
    expect(rawsOf(shown.slice(-5))).toEqual(rawsOf(covered.slice(-5)));
  });

  it('leaves the prose at most half of the room, however little it is about', async () => {
    const { read, refused, summarizer } = narrow(6000, excessOver(6000));
    await runSummarize(options, { ...given, summarizer });

    expect([...refused, ...read].map(({ maximumTokens }) => maximumTokens)).toEqual([1000, 1000]);
  });
});

describe('a summarizer that finds every input too long', () => {
  it.each([14_000, 3000])('is asked four times and no more, for a target of %i', async (targetTokens) => {
    const { refused, summarizer } = narrow(0);
    const sizes = () => refused.map(({ messages }) => tokensOf(messages));
    const outcome = await runSummarize(
      { keepRounds: 1, maxSummaryTokens: 200 },
      { targetTokens, summarizer },
    );

    expect(outcome).toMatchObject({
      status: 'failed',
      reason: 'summary-input-too-long',
      usage: { promptTokens: 40, outputTokens: 4 },
    });
    expect(refused).toHaveLength(4);
    expect(sizes()).toEqual(sizes().toSorted((left, right) => right - left));
  });

  it('is not asked again when the user has stopped the run', async () => {
    const controller = new AbortController();
    const { refused, summarizer } = narrow(0, () => {
      controller.abort();
      return undefined;
    });
    await runSummarize({ keepRounds: 1 }, { summarizer, signal: controller.signal });

    expect(refused).toHaveLength(1);
  });
});

describe('what a summary pays for the demands of the user', () => {
  const demands = Array.from({ length: 20 }, (_, index) => `Never use port number ${50_000 + index}.`);
  const rounds = demands.map((content) => [answer(990), { role: 'user', content }]);
  const conversation = anthropicMessages.read([task, ...rounds.flat(), answer(10), ask]);
  const given = { conversation, targetTokens: 9000 };
  const options = { keepRounds: 2 };

  it.each([
    { who: 'a model', asksModel: true },
    { who: 'anybody else', asksModel: false },
  ])('room of the summary by $who, asked once, so that the target is met', async ({ asksModel }) => {
    const { asked, summarizer } = filling({ asksModel });
    const outcome = await runSummarize(options, { ...given, summarizer });

    expect(asked).toHaveLength(1);
    expect(outcome).toMatchObject({ status: 'compacted', usage: { promptTokens: 1, outputTokens: 2 } });
    expect(changeOf(outcome)?.receipt.tokensAfter).toBeLessThanOrEqual(given.targetTokens);
    expect(changeOf(outcome)?.receipt.survival).toContainEqual(
      expect.objectContaining({ kind: 'constraint', found: 18, kept: 18, lost: 0 }),
    );
  });

  it.each([true, false])(
    'at most half of it, and more than that at the cost of the target (asks a model: %s)',
    async (asksModel) => {
      const { asked, summarizer } = filling({ asksModel });
      const outcome = await runSummarize({ ...options, maxSummaryTokens: 400 }, { ...given, summarizer });
      const texts = JSON.stringify(madeBy(outcome));

      expect(asked).toEqual([200]);
      expect(texts).toContain('x'.repeat(200));
      expect(demands.filter((demand) => !texts.includes(demand))).toEqual([]);
    },
  );

  it('nothing twice: our own memory tells each of them once', async () => {
    const outcome = await runSummarize(options, { ...given, summarizer: memory });
    const texts = madeBy(outcome).flatMap(({ blocks }) => blocks.map((block) => JSON.stringify(block.raw)));

    for (const demand of demands) expect(texts.join('\n').split(demand)).toHaveLength(2);
    expect(changeOf(outcome)?.receipt.survival).toContainEqual(
      expect.objectContaining({ kind: 'constraint', kept: 18, lost: 0 }),
    );
  });

  it('as much as they need, before anything else is told', async () => {
    const checked = demands.map((content, index) => [
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: `t${index}`, name: 'Bash', input: { command: `npm test part${index}` } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: `t${index}`,
            content: `${index} failed in src/part${index}.ts`,
          },
          { type: 'text', text: content },
        ],
      },
    ]);
    const outcome = await runSummarize(
      { ...options, maxSummaryTokens: 100 },
      {
        conversation: anthropicMessages.read([task, ...checked.flat(), answer(10), ask]),
        targetTokens: 1500,
        summarizer: memory,
      },
    );
    const texts = JSON.stringify(madeBy(outcome));

    expect(demands.filter((demand) => !texts.includes(demand))).toEqual([]);
    expect(changeOf(outcome)?.receipt.survival).toContainEqual(
      expect.objectContaining({ kind: 'constraint', lost: 0 }),
    );
  });
});
