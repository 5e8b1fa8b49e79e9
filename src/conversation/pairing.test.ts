import { describe, expect, it } from 'vitest';
import { readConversation } from '../formats/registry.ts';
import { writeConversation } from './format.ts';
import { ensureToolResultPairing, MISSING_RESULT_TEXT, PLACEHOLDER_TEXT } from './pairing.ts';

const call = (id: string) => ({ type: 'tool_use', id, name: 'read_file', input: { path: `${id}.ts` } });
const result = (id: string, content = `text of ${id}`) => ({ type: 'tool_result', tool_use_id: id, content });
const missing = (id: string) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: MISSING_RESULT_TEXT,
  is_error: true,
});
const text = (value: string) => ({ type: 'text', text: value });
const user = (...content: unknown[]) => ({ role: 'user', content });
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const placeholder = user(text(PLACEHOLDER_TEXT));
const question = { role: 'user', content: 'why?' };
const answer = assistant(text('because'));

function repair(messages: readonly unknown[], format = 'anthropic-messages', options = {}): unknown {
  return writeConversation(ensureToolResultPairing(readConversation(messages, format), options));
}

describe('ensureToolResultPairing', () => {
  it.each([
    {
      row: 'call without result at the end',
      broken: [question, assistant(call('a'))],
      repaired: [question, assistant(call('a')), user(missing('a'))],
    },
    {
      row: 'some of several calls unanswered',
      broken: [question, assistant(call('a'), call('b'), call('c')), user(result('b'), text('go on'))],
      repaired: [
        question,
        assistant(call('a'), call('b'), call('c')),
        user(result('b'), missing('a'), missing('c'), text('go on')),
      ],
    },
    {
      row: 'result without call',
      broken: [question, assistant(call('a')), user(result('a'), result('gone'))],
      repaired: [question, assistant(call('a')), user(result('a'))],
    },
    {
      row: 'duplicate call id in one message',
      broken: [question, assistant(call('a'), call('a')), user(result('a'))],
      repaired: [question, assistant(call('a')), user(result('a'))],
    },
    {
      row: 'call id re-used later, with its later result',
      broken: [
        question,
        assistant(call('a')),
        user(result('a')),
        assistant(text('again'), call('a')),
        user(result('a'), text('so')),
      ],
      repaired: [
        question,
        assistant(call('a')),
        user(result('a')),
        assistant(text('again')),
        user(text('so')),
      ],
    },
    {
      row: 'duplicate result for one id',
      broken: [question, assistant(call('a')), user(result('a', 'first'), result('a', 'second'))],
      repaired: [question, assistant(call('a')), user(result('a', 'first'))],
    },
    {
      row: 'orphan result as very first message',
      broken: [user(result('gone')), answer, question],
      repaired: [placeholder, answer, question],
    },
    {
      row: 'message emptied by removal between two assistants',
      broken: [question, answer, user(result('gone')), assistant(text('more'))],
      repaired: [question, answer, placeholder, assistant(text('more'))],
    },
    {
      row: 'text-only assistant followed by orphan result',
      broken: [question, answer, user(result('gone'), text('and?'))],
      repaired: [question, answer, user(text('and?'))],
    },
    {
      row: 'consecutive user messages',
      broken: [question, user(text('tell me')), answer],
      repaired: [user(text('why?'), text('tell me')), answer],
    },
    {
      row: 'messages with empty content',
      broken: [question, { role: 'assistant', content: [] }, { role: 'user', content: '' }, answer],
      repaired: [question, answer],
    },
  ])('mends: $row', ({ broken, repaired }) => {
    expect(repair(broken)).toEqual(repaired);
    expect(repair(repaired)).toBe(repaired);
  });

  it('gives the very same value back when nothing is wrong', () => {
    const body = {
      model: 'm',
      messages: [question, assistant(call('a'), call('b')), user(result('b'), result('a'), text('ok'))],
    };

    expect(repair(body as never)).toBe(body);
  });

  it('keeps untouched messages as the same values', () => {
    const broken = [question, assistant(call('a'))];

    expect((repair(broken) as unknown[])[1]).toBe(broken[1]);
  });
});

describe('results that only stand in the wrong place', () => {
  it.each([
    {
      fault: 'parallel results in two user messages',
      broken: [question, assistant(call('a'), call('b')), user(result('a')), user(result('b'))],
      repaired: [question, assistant(call('a'), call('b')), user(result('a'), result('b'))],
    },
    {
      fault: 'a stray answer between call and result',
      broken: [question, assistant(call('a')), answer, user(result('a'), text('go on'))],
      repaired: [question, assistant(call('a')), user(result('a')), answer, user(text('go on'))],
    },
    {
      fault: 'text before the result',
      broken: [question, assistant(call('a')), user(text('here'), result('a'))],
      repaired: [question, assistant(call('a')), user(result('a'), text('here'))],
    },
    {
      fault: 'calls of one response over two messages',
      broken: [question, assistant(call('a')), assistant(call('b')), user(result('a'), result('b'))],
      repaired: [question, assistant(call('a')), user(result('a')), assistant(call('b')), user(result('b'))],
    },
  ])('are moved, not replaced: $fault', ({ broken, repaired }) => {
    expect(repair(broken)).toEqual(repaired);
  });
});

describe('options', () => {
  it('leave consecutive user messages alone when told so', () => {
    const messages = [question, user(text('tell me')), answer];

    expect(repair(messages, 'anthropic-messages', { mergeUserMessages: false })).toBe(messages);
  });

  it('set the texts that repair puts in', () => {
    const options = { missingResultText: 'interrupted', placeholderText: '…' };

    expect(repair([assistant(call('a'))], 'anthropic-messages', options)).toEqual([
      user(text('…')),
      assistant(call('a')),
      user({ ...missing('a'), content: 'interrupted' }),
    ]);
  });
});

describe('server tools', () => {
  const serverCall = { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} };
  const serverResult = { type: 'web_search_tool_result', tool_use_id: 'srv', content: [] };

  it('keep their pairs, lose lonely halves, and may still run in the last message', () => {
    const whole = [question, assistant(serverCall, serverResult, text('found'))];
    const running = [question, assistant(text('searching'), serverCall)];

    expect(repair(whole)).toBe(whole);
    expect(repair(running)).toBe(running);
    expect(repair([question, assistant(serverCall, text('found')), question])).toEqual([
      question,
      assistant(text('found')),
      question,
    ]);
    expect(repair([question, assistant(serverResult, text('found'))])).toEqual([
      question,
      assistant(text('found')),
    ]);
  });
});

describe('other formats', () => {
  const chatCall = (id: string) => ({ id, type: 'function', function: { name: 'ls', arguments: '{}' } });
  const tool = (id: string, content = 'x') => ({ role: 'tool', tool_call_id: id, content });
  const calling = (...ids: string[]) => ({ role: 'assistant', content: null, tool_calls: ids.map(chatCall) });
  const item = (id: string) => ({ type: 'function_call', call_id: id, name: 'ls', arguments: '{}' });
  const output = (id: string, value = 'x') => ({ type: 'function_call_output', call_id: id, output: value });
  const part = (name: string) => ({ functionCall: { name, args: {} } });
  const response = (name: string) => ({ functionResponse: { name, response: { output: 'x' } } });

  it.each([
    {
      format: 'openai-chat',
      fault: 'a missing tool message',
      broken: [question, calling('a', 'b'), tool('b'), question],
      repaired: [question, calling('a', 'b'), tool('b'), tool('a', MISSING_RESULT_TEXT), question],
    },
    {
      format: 'openai-chat',
      fault: 'a user message between call and tool message',
      broken: [calling('a'), question, tool('a')],
      repaired: [calling('a'), tool('a'), question],
    },
    {
      format: 'openai-chat',
      fault: 'an orphan and a second tool message',
      broken: [tool('gone'), calling('a'), tool('a', '1'), tool('a', '2')],
      repaired: [calling('a'), tool('a', '1')],
    },
    {
      format: 'openai-responses',
      fault: 'a missing and an orphan output',
      broken: [question, item('a'), item('b'), output('b'), output('gone')],
      repaired: [question, item('a'), item('b'), output('a', MISSING_RESULT_TEXT), output('b')],
    },
    {
      format: 'gemini',
      fault: 'too few responses',
      broken: [
        { role: 'user', parts: [{ text: 'go' }] },
        { role: 'model', parts: [part('ls'), part('cat')] },
        { role: 'user', parts: [response('cat')] },
      ],
      repaired: [
        { role: 'user', parts: [{ text: 'go' }] },
        { role: 'model', parts: [part('ls'), part('cat')] },
        {
          role: 'user',
          parts: [
            response('cat'),
            { functionResponse: { name: 'ls', response: { error: MISSING_RESULT_TEXT } } },
          ],
        },
      ],
    },
  ])('$format: $fault', ({ format, broken, repaired }) => {
    expect(repair(broken, format)).toEqual(repaired);
    expect(repair(repaired, format)).toBe(repaired);
  });

  it('leave a Responses request alone whose history is on the server', () => {
    const body = { previous_response_id: 'resp_1', input: [output('hidden')] };

    expect(repair(body as never, 'openai-responses')).toBe(body);
  });
});
