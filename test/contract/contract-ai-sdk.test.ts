import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { aiSdkContract } from '../../src/contracts/registry.ts';
import { linkTools } from '../../src/conversation/tool-links.ts';
import { aiSdkModel } from '../../src/formats/ai-sdk/model.ts';
import { aiSdkUi } from '../../src/formats/ai-sdk/ui.ts';
import { aiSdkModelFixtures, aiSdkUiFixtures } from '../fixtures/wire/ai-sdk.ts';

const { check } = aiSdkContract;

describe('AI SDK fixtures', () => {
  it('no provider options are lost when a message loses a block', () => {
    const { messages } = aiSdkModel.read(aiSdkModelFixtures[0]?.body);
    const answer = messages[1]!;
    const fewer = aiSdkModel.withBlocks(
      answer,
      answer.blocks.filter(({ type }) => type !== 'text'),
    );

    expect(optionsIn(fewer.raw)).toEqual(optionsIn(answer.raw));
    expect(optionsIn(fewer.raw)).toHaveLength(5);
  });

  it('calls and results pair within the message, and only what is open is unanswered', () => {
    const { messages } = aiSdkUi.read(aiSdkUiFixtures[0]?.body);
    const { pairs, unanswered, orphans } = linkTools(messages);
    const open = unanswered.map(({ message, block }) => messages[message]?.blocks[block]);

    expect(pairs).toHaveLength(2);
    expect(pairs.every(({ call, result }) => call.message === result.message)).toBe(true);
    expect(open).toMatchObject([{ type: 'tool-call', id: 'call_query', name: 'runQuery' }]);
    expect(orphans).toEqual([]);
  });

  it('the three steps keep their borders when one of their tools goes', () => {
    const answer = aiSdkUi.read(aiSdkUiFixtures[0]?.body).messages[1]!;
    const kept = answer.blocks.filter((block) => !isOfCall(block, 'call_lint'));

    expect(partTypes(aiSdkUi.withBlocks(answer, kept).raw)).toEqual(
      partTypes(answer.raw).filter((type) => type !== 'dynamic-tool'),
    );
  });
});

function optionsIn(raw: unknown): readonly unknown[] {
  return JSON.stringify(raw).match(/"providerOptions":\{[^}]*\}/g) ?? [];
}

function partTypes(raw: unknown): readonly string[] {
  return (raw as { parts: { type: string }[] }).parts.map(({ type }) => type);
}

function isOfCall(block: object, id: string): boolean {
  return ('id' in block && block.id === id) || ('callId' in block && block.callId === id);
}

/** 'u' user, 's' system, a small letter a call of that name, a capital its result; '+' joins parts of one message. */
function messages(shape: string): readonly object[] {
  return shape.split(' ').map((word) => {
    if (word === 'u') return { role: 'user', content: 'go on' };
    if (word === 's') return { role: 'system', content: 'be brief' };
    const parts = word.split('+').map((letter) => {
      const toolCallId = letter.toLowerCase();
      return letter === toolCallId
        ? { type: 'tool-call', toolCallId, toolName: 'probe', input: {} }
        : { type: 'tool-result', toolCallId, toolName: 'probe', output: { type: 'text', value: 'ok' } };
    });
    return { role: word === word.toLowerCase() ? 'assistant' : 'tool', content: parts };
  });
}

function rulesOf(shape: string): readonly string[] {
  return check(messages(shape), { scope: 'messages' }).map(({ path, message }) => `${path} ${message}`);
}

describe('AI SDK rules', () => {
  it.each([
    { shape: 'u a A u', found: [], why: 'the result follows' },
    { shape: 'u a+b A+B u', found: [], why: 'results may share a message' },
    { shape: 'u a+b B A u', found: [], why: 'results may stand apart and in any order' },
    { shape: 'u a b A+B u', found: [], why: 'another answer may stand between call and result' },
    { shape: 'u A a A', found: [], why: 'a result without call is nobody’s business here' },
    {
      shape: 'u a u A',
      found: ['messages[1].content[0] Tool result is missing for tool call a.'],
      why: 'the result comes after the next user message',
    },
    {
      shape: 'u a s A',
      found: ['messages[1].content[0] Tool result is missing for tool call a.'],
      why: 'the result comes after a system message',
    },
    {
      shape: 'u a+b A u c',
      found: [
        'messages[1].content[1] Tool result is missing for tool call b.',
        'messages[4].content[0] Tool result is missing for tool call c.',
      ],
      why: 'each fault is listed once, at its call',
    },
  ])('finds $found.length faults in $shape: $why', ({ shape, found }) => {
    expect(rulesOf(shape)).toEqual(found);
  });

  it.each([
    {
      why: 'a call that the provider runs',
      list: [
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', providerExecuted: true }] },
      ],
    },
    { why: 'a prompt that is a text', list: undefined },
    {
      why: 'an approval of long ago, whose request is gone',
      list: [
        { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'x' }] },
        ...messages('u'),
      ],
    },
    {
      why: 'an approval at the end that is no tool message',
      list: [{ role: 'assistant', content: [{ type: 'tool-approval-response', approvalId: 'x' }] }],
    },
  ])('accepts $why', ({ list }) => {
    expect(check(list === undefined ? { prompt: 'hello' } : { messages: list })).toEqual([]);
  });

  it('finds the list under `prompt` too', () => {
    expect(check({ prompt: messages('u a') })).toMatchObject([
      { rule: 'tool-call-without-result', path: 'prompt[1].content[0]' },
    ]);
  });

  test.prop([fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 6 }), fc.nat()])(
    'reports the loss of any result, and nothing when none is lost',
    (calls, pick) => {
      const rounds = calls.map((call, index) => `${call}${index}`);
      const shape = (kept: readonly string[]) =>
        rounds.flatMap((id) => ['u', id, ...(kept.includes(id) ? [id.toUpperCase()] : [])]).join(' ');
      const lost = rounds[pick % rounds.length] ?? '';

      expect(rulesOf(shape(rounds))).toEqual([]);
      expect(rulesOf(shape(rounds.filter((id) => id !== lost)))).toHaveLength(1);
    },
  );
});
