import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fixtureLists } from '../../test/fixtures/wire/fixture-lists.ts';
import { deepFreeze } from '../../test/support/deep-freeze.ts';
import type { Format } from '../conversation/format.ts';
import { type Block, type Message, type ToolResultBlock, textOf } from '../conversation/message.ts';
import { formats } from './registry.ts';

interface Place {
  readonly message: Message;
  /** Index of the result among the message's blocks. */
  readonly at: number;
  readonly result: ToolResultBlock;
}

/** Results by format that no fixture has: those a program or an older file may hold. */
const furtherMessages: Readonly<Record<string, readonly unknown[]>> = {
  'anthropic-messages': [
    user({ type: 'tool_result', tool_use_id: 't', content: 'read', is_error: true, cache_control: {} }),
    user({ type: 'tool_result', tool_use_id: 't' }),
    assistant({ type: 'mcp_tool_result', tool_use_id: 'm', is_error: false, content: [text('found')] }),
    assistant({ type: 'web_search_tool_result', tool_use_id: 's', content: [{ type: 'web_search_result' }] }),
  ],
  'openai-chat': [
    { role: 'tool', tool_call_id: 'c', content: [text('one'), text('two')], name: 'read' },
    { role: 'function', name: 'read', content: 'one' },
  ],
  'openai-responses': [
    {
      type: 'function_call_output',
      call_id: 'c',
      output: { content: 'no', success: false },
      status: 'completed',
    },
    { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'read' }] },
    { type: 'local_shell_call_output', call_id: 'c', output: '{}' },
    { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', image_url: 'x' } },
    { type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'a', stderr: '' }] },
  ],
  gemini: [
    { role: 'user', parts: [{ functionResponse: { id: 'f', name: 'read', response: { error: 'no' } } }] },
    {
      role: 'user',
      parts: [{ function_response: { name: 'read', response: { rows: [1] }, willContinue: false } }],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'read', response: { error: { code: 5 } }, parts: [picture()] } }],
    },
  ],
  'ai-sdk-model': [
    tool({ type: 'json', value: { rows: [1] }, providerOptions: { a: {} } }),
    tool({ type: 'error-json', value: { code: 5 } }),
    tool({ type: 'execution-denied', reason: 'not now' }),
    tool({ type: 'content', value: [text('one'), { type: 'file-id', fileId: 'f' }] }),
    {
      role: 'assistant',
      content: [
        {
          type: 'tool-result',
          toolCallId: 's',
          toolName: 'search',
          output: { type: 'json', value: [] },
        },
      ],
    },
  ],
  'ai-sdk-ui': [
    uiTool({ state: 'output-available', output: { rows: [1] } }),
    uiTool({ state: 'output-error', errorText: 'no' }),
    uiTool({ state: 'output-denied', approval: { id: 'a', approved: false, reason: 'not now' } }),
    uiTool({ state: 'approval-responded', approval: { id: 'a', approved: false } }),
    uiTool({ state: 'output-available', output: 'sealed', providerExecuted: true }),
  ],
  langchain: [
    { type: 'tool', data: { tool_call_id: 'c', name: 'read', content: [text('one')], status: 'error' } },
    {
      lc: 1,
      type: 'constructor',
      id: ['langchain_core', 'messages', 'ToolMessage'],
      kwargs: { tool_call_id: 'c', content: 'one', artifact: { rows: [1] } },
    },
    { type: 'function', name: 'read', content: 'one' },
    { type: 'human', content: [{ type: 'tool_result', tool_use_id: 't', content: 'read' }] },
    { type: 'ai', content: [{ type: 'server_tool_call_result', toolCallId: 's', output: { hits: 1 } }] },
  ],
};

/** Results that only their provider may write, and outputs that no text fits into. */
const sealedTypes = /_tool_result$|^computer_call_output$|^shell_call_output$|^server_tool_call_result$/;

const found = formats.map((format) => ({
  name: format.name,
  format,
  places: findResults(format, format.name),
}));

it.skip.each(found.filter(({ places }) => places.length === 0))(
  '$name: no fixture has a tool result to rewrite',
  () => undefined,
);

describe.each(found.filter(({ places }) => places.length > 0))('$name', ({ format, places }) => {
  const open = places.filter(({ result }) => !isSealed(result));

  it('has results to rewrite', () => {
    expect(open.length).toBeGreaterThan(1);
  });

  it('writes new text into any result, and it reads back as the same result with that text', () => {
    const texts = fc.array(fc.string(), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.constantFrom(...open), texts, (place, lines) => {
        const { written, reread } = rewrite(format, place, lines.map(format.textBlock));

        expect(textOf(reread)).toBe(lines.join('\n'));
        expect(identityOf(reread)).toEqual(identityOf(place.result));
        expect(reread).toEqual(written);
      }),
    );
  });

  it('changes nothing else of the message', () => {
    for (const place of open) {
      const { message } = rewrite(format, place, [format.textBlock('short')]);
      const others = (blocks: readonly Block[]) => blocks.toSpliced(place.at, 1).map(withoutSharedPart);
      const { blocks: before, raw: rawBefore, ...restBefore } = place.message;
      const { blocks: after, raw: rawAfter, ...rest } = message;

      expect(rest).toEqual(restBefore);
      expect(others(after)).toEqual(others(before));
      expect(lostWords(rawBefore, rawAfter, place.result)).toEqual([]);
    }
  });

  it('keeps blocks of the old content beside the new text', () => {
    for (const place of open) {
      const kept = place.result.content;
      const { reread } = rewrite(format, place, [format.textBlock('note'), ...kept]);
      const media = (blocks: readonly Block[]) => blocks.filter(({ type }) => type === 'media');

      expect(textOf(reread).split('\n')[0]).toBe('note');
      expect(media(reread.content)).toEqual(media(kept));
      for (const block of kept) expect(textOf(reread)).toContain(textOf(block));
    }
  });

  it('takes no content at all', () => {
    for (const place of open) {
      const { reread } = rewrite(format, place, []);
      if (place.result.content.length > 0) expect(textOf(reread)).toBe('');
      expect(identityOf(reread)).toEqual(identityOf(place.result));
    }
  });

  it('gives the very same result for its own content, and for what only the provider may write', () => {
    for (const { result } of places) {
      expect(format.withResultContent(result, [...result.content])).toBe(result);
      if (isSealed(result)) expect(format.withResultContent(result, [format.textBlock('x')])).toBe(result);
    }
  });
});

describe('a shape that every server takes', () => {
  it.each([
    ['openai-chat', 0, { content: 'a\nb' }],
    ['openai-responses', 0, { output: { content: 'a\nb', success: false } }],
    ['openai-responses', 1, { output: 'a\nb' }],
    ['gemini', 0, { functionResponse: { id: 'f', name: 'read', response: { error: 'a\nb' } } }],
    ['gemini', 1, { function_response: { name: 'read', response: { output: 'a\nb' }, willContinue: false } }],
    ['ai-sdk-model', 0, { output: { type: 'text', value: 'a\nb', providerOptions: { a: {} } } }],
    ['ai-sdk-model', 1, { output: { type: 'error-text', value: 'a\nb' } }],
    ['ai-sdk-model', 2, { output: { type: 'error-text', value: 'a\nb' } }],
    ['ai-sdk-ui', 0, { state: 'output-available', output: 'a\nb' }],
    ['ai-sdk-ui', 1, { state: 'output-error', errorText: 'a\nb' }],
    ['ai-sdk-ui', 2, { state: 'output-denied', approval: { id: 'a', approved: false, reason: 'a\nb' } }],
    ['langchain', 0, { data: { tool_call_id: 'c', name: 'read', content: 'a\nb', status: 'error' } }],
    ['langchain', 1, { kwargs: { tool_call_id: 'c', content: 'a\nb', artifact: { rows: [1] } } }],
  ])('%s, further message %i', (name, index, expected) => {
    const format = formats.find((candidate) => candidate.name === name)!;
    const [place] = resultsOf(format.readMessage(furtherMessages[name]?.[index]));
    const { raw } = format.withResultContent(place!.result, [format.textBlock('a'), format.textBlock('b')]);

    expect(raw).toMatchObject(expected);
  });

  it('keeps Gemini’s body of data as it is when only a picture goes, and as text when a note joins it', () => {
    const gemini = formats.find(({ name }) => name === 'gemini')!;
    const message = gemini.readMessage(furtherMessages['gemini']?.[2]);
    const { result } = resultsOf(message)[0]!;
    const [body] = result.content;
    const without = gemini.withResultContent(result, [body!]);
    const noted = gemini.withResultContent(result, [gemini.textBlock('note'), ...result.content]);

    expect(without.raw).toEqual({ functionResponse: { name: 'read', response: { error: { code: 5 } } } });
    expect(noted.raw).toEqual({
      functionResponse: {
        name: 'read',
        response: { error: 'note\n{"error":{"code":5}}' },
        parts: [picture()],
      },
    });
  });

  it('writes a list where a picture stays beside the text', () => {
    const aiSdkModel = formats.find(({ name }) => name === 'ai-sdk-model')!;
    const { result } = resultsOf(aiSdkModel.readMessage(furtherMessages['ai-sdk-model']?.[3]))[0]!;
    const { raw } = aiSdkModel.withResultContent(result, [aiSdkModel.textBlock('note'), result.content[1]!]);

    expect(raw).toMatchObject({
      output: { type: 'content', value: [text('note'), { type: 'file-id', fileId: 'f' }] },
    });
  });
});

function findResults(format: Format, name: string): readonly Place[] {
  const bodies = (fixtureLists.get(name) ?? []).map(({ body }) => body);
  const lists = bodies.flatMap((body) => {
    const list = Array.isArray(body) ? body : Object.values(body as object).find(Array.isArray);
    return (list ?? []) as unknown[];
  });
  const raws = [...lists, ...(furtherMessages[name] ?? [])];
  return raws.flatMap((raw) => resultsOf(format.readMessage(deepFreeze(raw))));
}

function resultsOf(message: Message): readonly Place[] {
  return message.blocks.flatMap((result, at) =>
    result.type === 'tool-result' ? [{ message, at, result }] : [],
  );
}

function rewrite(format: Format, { message, at, result }: Place, content: readonly Block[]) {
  const written = format.withResultContent(result, deepFreeze(content));
  const changed = format.withBlocks(message, message.blocks.with(at, written));
  const reread = format.readMessage(structuredClone(changed.raw)).blocks[at] as ToolResultBlock;
  return { written, reread, message: changed };
}

function isSealed({ raw, runBy }: ToolResultBlock): boolean {
  const { type, providerExecuted } = raw as { readonly type?: unknown; readonly providerExecuted?: unknown };
  if (providerExecuted === true || (type === 'tool-result' && runBy === 'server')) return true;
  return typeof type === 'string' && type !== 'mcp_tool_result' && sealedTypes.test(type);
}

function identityOf({ type, callId, name, isError, runBy }: ToolResultBlock) {
  return { type, callId, name, isError, runBy };
}

/** A UI part is call and result in one, so the call's raw value changes with the result. */
function withoutSharedPart(block: Block): unknown {
  if (block.type !== 'tool-call') return block;
  const { raw: _raw, ...rest } = block;
  return rest;
}

/** Strings and keys of a raw message that are gone from it, other than those of the result's own content. */
function lostWords(before: unknown, after: unknown, { content }: ToolResultBlock): readonly string[] {
  const left = new Set(wordsOf(after));
  const replaced = new Set([
    ...content.flatMap((block) => [...wordsOf(block.raw), textOf(block)]),
    ...['', 'json', 'error-json', 'content', 'execution-denied', 'reason', 'parts', 'output', 'value'],
  ]);
  return wordsOf(before).filter((word) => !left.has(word) && !replaced.has(word));
}

function wordsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  const entries = Object.entries(value);
  return entries.flatMap(([key, inner]) =>
    Array.isArray(value) ? wordsOf(inner) : [key, ...wordsOf(inner)],
  );
}

function text(value: string) {
  return { type: 'text', text: value };
}

function picture() {
  return { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
}

function user(...content: readonly unknown[]) {
  return { role: 'user', content };
}

function assistant(...content: readonly unknown[]) {
  return { role: 'assistant', id: 'r', content };
}

function tool(output: unknown) {
  const part = { type: 'tool-result', toolCallId: 'c', toolName: 'read', output };
  return { role: 'tool', content: [part] };
}

function uiTool(fields: object) {
  const part = { type: 'tool-read', toolCallId: 'c', input: { path: 'a' }, ...fields };
  return { id: 'm', role: 'assistant', parts: [text('I read.'), part, { type: 'data-note', data: {} }] };
}
