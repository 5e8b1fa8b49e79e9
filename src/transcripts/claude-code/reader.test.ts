import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { foldRecords, recordEntries } from '../../../test/support/fold-records.ts';
import type { JsonObject } from '../../conversation/json.ts';
import { codex } from '../codex/reader.ts';
import type { Segment } from '../transcript.ts';
import { claudeCode } from './reader.ts';

const read = (records: readonly unknown[]) => foldRecords(claudeCode, records, { source: 'session.jsonl' });
const readMain = (records: readonly unknown[]) => read(records).transcripts[0]!;

const text = (words: string) => ({ type: 'text', text: words });
const call = (id: string) => ({ type: 'tool_use', id, name: 'read_file', input: { path: `${id}.txt` } });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: `content of ${id}.txt` });

function record(type: string, uuid: string, parentUuid: string | null, more: JsonObject = {}): JsonObject {
  const timestamp = '2026-03-01T10:00:00.000Z';
  return {
    type,
    uuid,
    parentUuid,
    sessionId: 'session-1',
    isSidechain: false,
    timestamp,
    version: '2.1.30',
    ...more,
  };
}

function user(uuid: string, parentUuid: string | null, content: unknown, more: JsonObject = {}): JsonObject {
  return record('user', uuid, parentUuid, {
    message: { role: 'user', content },
    toolUseResult: { copy: content },
    ...more,
  });
}

/** One line of the response `id`. */
function assistant(
  uuid: string,
  parentUuid: string | null,
  [id, ...content]: [string, ...unknown[]],
  more: JsonObject = {},
) {
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 200,
    cache_read_input_tokens: 3000,
    output_tokens: 5,
  };
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-6',
    content,
    stop_reason: null,
    usage,
  };
  return record('assistant', uuid, parentUuid, { message, requestId: `request-${id}`, ...more });
}

function boundary(
  uuid: string,
  logicalParentUuid: string,
  compactMetadata: JsonObject = { trigger: 'auto', preTokens: 155_000 },
) {
  return record('system', uuid, null, { subtype: 'compact_boundary', logicalParentUuid, compactMetadata });
}

function summary(uuid: string, parentUuid: string | null, words: string): JsonObject {
  return user(uuid, parentUuid, words, { isCompactSummary: true, isVisibleInTranscriptOnly: true });
}

function messagesOf({ body }: Segment): { role: string; content: unknown }[] {
  return body as { role: string; content: unknown }[];
}

/** `user: hello / assistant: look at it, call a / user: result a`, one line for each message. */
function outline(segment: Segment | undefined): string[] {
  return messagesOf(segment!).map(({ role, content }) => {
    const blocks = typeof content === 'string' ? [text(content)] : (content as JsonObject[]);
    return `${role}: ${blocks.map(nameBlock).join(', ')}`;
  });
}

function nameBlock(block: JsonObject): string {
  if (block['type'] === 'tool_use') return `call ${String(block['id'])}`;
  if (block['type'] === 'tool_result') return `result ${String(block['tool_use_id'])}`;
  return String(block['text'] ?? block['type']);
}

function mainOutline(values: readonly unknown[]): string[] {
  return outline(readMain(values).segments.at(-1));
}

describe('the live chain', () => {
  const rewound = [
    user('u1', null, 'write a parser'),
    assistant('a1', 'u1', ['msg_1', text('in which language?')]),
    user('u2', 'a1', 'in Rust'),
    assistant('a2', 'u2', ['msg_2', text('a Rust parser')]),
    user('side1', null, 'find grammars', { isSidechain: true }),
    assistant('side2', 'side1', ['msg_side', text('three grammars')], { isSidechain: true }),
    user('u3', 'a1', 'in Go'),
    assistant('a3', 'u3', ['msg_3', text('a Go parser')]),
  ];

  it('58 cc-branch: follows the newest leaf past a rewind and keeps side chains out', () => {
    const { transcripts } = read(rewound);

    expect(transcripts.map(({ kind, title }) => `${kind}: ${title}`)).toEqual([
      'main: main',
      'side-chain: side chain 1',
    ]);
    expect(outline(transcripts[0]?.segments[0])).toEqual([
      'user: write a parser',
      'assistant: in which language?',
      'user: in Go',
      'assistant: a Go parser',
    ]);
    expect(transcripts[0]?.notes).toEqual(['2 records of abandoned branches left out']);
    expect(outline(transcripts[1]?.segments[0])).toEqual([
      'user: find grammars',
      'assistant: three grammars',
    ]);
  });

  it('follows the older branch again when it is the one that was continued last', () => {
    expect(mainOutline([...rewound, user('u4', 'a2', 'and tests')])).toEqual([
      'user: write a parser',
      'assistant: in which language?',
      'user: in Rust',
      'assistant: a Rust parser',
      'user: and tests',
    ]);
  });

  it('keeps a regenerated answer and leaves the first one out', () => {
    const lines = [
      user('u1', null, 'name a colour'),
      assistant('a1', 'u1', ['msg_1', text('red')]),
      assistant('a2', 'u1', ['msg_2', text('blue')]),
    ];

    expect(mainOutline(lines)).toEqual(['user: name a colour', 'assistant: blue']);
  });

  it('has the model that answered last', () => {
    const message = { id: 'msg_2', role: 'assistant', model: 'claude-sonnet-4-5', content: [text('again')] };
    const lines = [
      user('u1', null, 'hello'),
      assistant('a1', 'u1', ['msg_1', text('hi')]),
      record('assistant', 'a2', 'a1', { message }),
    ];

    expect(readMain(lines).model).toBe('claude-sonnet-4-5');
  });

  it('passes over records without a message, of unknown types too', () => {
    const lines = [
      record('progress', 'p1', null, { data: { type: 'hook_progress' } }),
      user('u1', 'p1', 'hello'),
      record('system', 's1', 'u1', { subtype: 'turn_duration' }),
      record('hologram', 'x1', 's1'),
      record('attachment', 't1', 'x1', { attachment: { type: 'task_reminder' } }),
      assistant('a1', 't1', ['msg_1', text('hi')]),
      { type: 'file-history-snapshot', messageId: 'a1', snapshot: {} },
      { type: 'telepathy', sessionId: 'session-1' },
    ];
    const { transcripts, bad } = read(lines);

    expect(transcripts).toHaveLength(1);
    expect(outline(transcripts[0]?.segments[0])).toEqual(['user: hello', 'assistant: hi']);
    expect(transcripts[0]?.notes).toEqual([
      '1 attachment left out: the wording on the wire is not recorded',
      'records of unknown type left out: 1 hologram, 1 telepathy',
    ]);
    expect(bad).toEqual([]);
  });

  it('sends what the harness wrote in the name of the user, and nothing that only the user saw', () => {
    const lines = [
      user('u1', null, 'hello'),
      user('m1', 'u1', 'mind the style guide', { isMeta: true }),
      user('v1', 'm1', 'only on the screen', { isVisibleInTranscriptOnly: true }),
      assistant('e1', 'v1', ['error_1', text('API Error: 529')], {
        isApiErrorMessage: true,
        message: { model: '<synthetic>', content: [] },
      }),
      assistant('a1', 'e1', ['msg_1', text('hi')]),
    ];
    const main = readMain(lines);

    expect(outline(main.segments[0])).toEqual(['user: hello', 'user: mind the style guide', 'assistant: hi']);
    expect(main.notes).toEqual(['1 synthetic message left out', '1 message left out that only the user saw']);
    expect(main.model).toBe('claude-opus-4-6');
  });

  it('leaves out blank text, which the provider wrote and would refuse', () => {
    const lines = [
      user('u1', null, 'hello'),
      assistant('a1', 'u1', ['msg_1', text('\n\n')]),
      assistant('a2', 'a1', ['msg_1', call('a')]),
      user('r1', 'a2', [result('a')]),
      assistant('a3', 'r1', ['msg_2', text(' '), text('done')]),
    ];
    const main = readMain(lines);

    expect(outline(main.segments[0])).toEqual([
      'user: hello',
      'assistant: call a',
      'user: result a',
      'assistant: done',
    ]);
    expect(main.notes).toEqual(['2 blank texts left out, which the provider would refuse']);
    expect(main.segments[0]?.origins[1]).toMatchObject({ responseId: 'msg_1', usage: { outputTokens: 5 } });
  });

  it('joins a record whose parent is missing to the record before it', () => {
    const lines = [
      user('u1', null, 'one'),
      assistant('a1', 'u1', ['msg_1', text('two')]),
      user('u2', 'lost', 'three'),
    ];
    const main = readMain(lines);

    expect(outline(main.segments[0])).toEqual(['user: one', 'assistant: two', 'user: three']);
    expect(main.notes).toEqual(['1 record with a missing parent joined to the record before']);
  });

  it('reads a file that begins in the middle, and leaves the orphan result visible', () => {
    const main = readMain([
      user('u1', 'lost', [result('a')]),
      assistant('a1', 'u1', ['msg_1', text('done')]),
    ]);

    expect(outline(main.segments[0])).toEqual(['user: result a', 'assistant: done']);
    expect(main.notes).toEqual(['begins in the middle: the record before the first one is missing']);
  });

  it('takes the first of records with the same uuid', () => {
    const line = assistant('a1', 'u1', ['msg_1', text('hi')]);
    const main = readMain([user('u1', null, 'hello'), line, { ...line }, user('u2', 'a1', 'bye')]);

    expect(outline(main.segments[0])).toEqual(['user: hello', 'assistant: hi', 'user: bye']);
    expect(main.notes).toEqual(['1 repeated record left out']);
  });

  it.each([
    { why: 'a record that is its own parent', parents: ['u1', 'u1', 'a1'] },
    { why: 'two records that are each other’s parent', parents: ['a1', 'u1', 'a1'] },
    { why: 'a circle of three', parents: ['u2', 'u1', 'a1'] },
  ])('cuts a circle open at its oldest record: $why', ({ parents: [first, second, third] }) => {
    const lines = [
      user('u1', first!, 'one'),
      assistant('a1', second!, ['msg_1', text('two')]),
      user('u2', third!, 'three'),
    ];

    expect(mainOutline(lines)).toEqual(['user: one', 'assistant: two', 'user: three']);
  });

  it.each([
    { why: 'every parent is null', strip: ({ ...line }: JsonObject) => ({ ...line, parentUuid: null }) },
    { why: 'there are no parents', strip: ({ parentUuid: _, ...line }: JsonObject) => line },
    { why: 'there are no uuids either', strip: ({ parentUuid: _, uuid: __, ...line }: JsonObject) => line },
  ])('follows the file where there is no tree: $why', ({ strip }) => {
    const lines = [
      user('u1', null, 'one'),
      assistant('a1', 'u1', ['msg_1', text('two'), call('a')]),
      user('u2', 'a1', [result('a')]),
      user('u3', 'u2', 'three'),
    ];

    expect(mainOutline(lines.map(strip))).toEqual([
      'user: one',
      'assistant: two, call a',
      'user: result a',
      'user: three',
    ]);
  });
});

describe('two sessions in one file', () => {
  const first = [user('u1', null, 'plan it'), assistant('a1', 'u1', ['msg_1', text('the plan')])];
  const resumed = { sessionId: 'session-2' };

  it('are one conversation when the second is linked to the first', () => {
    const { transcripts } = read([...first, user('u2', 'a1', 'do it', resumed)]);

    expect(transcripts.map(({ segments }) => outline(segments[0]))).toEqual([
      ['user: plan it', 'assistant: the plan', 'user: do it'],
    ]);
  });

  it.each([
    { why: 'the second begins anew', parent: null },
    { why: 'the second begins in the middle', parent: 'lost' },
  ])('are two conversations, the newest first, when $why', ({ parent }) => {
    const second = [
      user('u2', parent, 'carry out the plan', resumed),
      assistant('a2', 'u2', ['msg_2', text('done')], resumed),
    ];
    const { transcripts } = read([...first, ...second]);

    expect(transcripts.map(({ title, segments }) => [title, ...outline(segments[0])])).toEqual([
      ['main', 'user: carry out the plan', 'assistant: done'],
      ['earlier conversation 1', 'user: plan it', 'assistant: the plan'],
    ]);
  });
});

describe('one response over several lines', () => {
  const wanted = [
    'user: compare',
    'assistant: thinking, I read, call a, call b',
    'user: result a, result b',
    'assistant: equal',
  ];
  const thinking = { type: 'thinking', thinking: '', signature: 'c2lnbmF0dXJl' };
  const head = [
    user('u1', null, 'compare'),
    assistant('a1', 'u1', ['msg_1', thinking]),
    assistant('a2', 'a1', ['msg_1', text('I read')]),
  ];

  it.each([
    {
      layout: 'results hang on their calls, the last one goes on',
      lines: [
        assistant('a3', 'a2', ['msg_1', call('a')]),
        assistant('a4', 'a3', ['msg_1', call('b')]),
        user('r1', 'a3', [result('a')]),
        user('r2', 'a4', [result('b')]),
        assistant('a5', 'r2', ['msg_2', text('equal')]),
      ],
    },
    {
      layout: 'the first call’s result came last, so the second call is beside the chain',
      lines: [
        assistant('a3', 'a2', ['msg_1', call('a')]),
        assistant('a4', 'a3', ['msg_1', call('b')]),
        user('r2', 'a4', [result('b')]),
        user('r1', 'a3', [result('a')]),
        assistant('a5', 'r1', ['msg_2', text('equal')]),
      ],
    },
    {
      layout: 'results stand between the calls',
      lines: [
        assistant('a3', 'a2', ['msg_1', call('a')]),
        user('r1', 'a3', [result('a')]),
        assistant('a4', 'r1', ['msg_1', call('b')]),
        user('r2', 'a4', [result('b')]),
        assistant('a5', 'r2', ['msg_2', text('equal')]),
      ],
    },
    {
      layout: 'a result was written before its call',
      lines: [
        user('r1', 'a3', [result('a')]),
        assistant('a3', 'a2', ['msg_1', call('a')]),
        record('progress', 'p1', 'a3'),
        assistant('a4', 'p1', ['msg_1', call('b')]),
        user('r2', 'a4', [result('b')]),
        assistant('a5', 'r2', ['msg_2', text('equal')]),
      ],
    },
    {
      layout: 'one record has all results, in another order',
      lines: [
        assistant('a3', 'a2', ['msg_1', call('a'), call('b')]),
        user('r1', 'a3', [result('b'), result('a')]),
        assistant('a5', 'r1', ['msg_2', text('equal')]),
      ],
    },
  ])('59 cc-multi-line: is one message, and its results are the next one: $layout', ({ lines }) => {
    const main = readMain([...head, ...lines]);

    expect(outline(main.segments[0])).toEqual(wanted);
    expect(main.notes).toEqual([]);
  });

  it('is whole when the file ends on the results', () => {
    const lines = [
      assistant('a3', 'a2', ['msg_1', call('a')]),
      assistant('a4', 'a3', ['msg_1', call('b')]),
      user('r2', 'a4', [result('b')]),
      user('r1', 'a3', [result('a')]),
    ];

    expect(mainOutline([...head, ...lines])).toEqual(wanted.slice(0, 3));
  });

  it('puts text beside results behind them, and remarks on them after that', () => {
    const lines = [
      assistant('a3', 'a2', ['msg_1', call('a')]),
      assistant('a4', 'a3', ['msg_1', call('b')]),
      user('r1', 'a3', [text('interrupted'), result('a')]),
      user('m1', 'r1', 'manual of a', { isMeta: true }),
      user('r2', 'a4', [result('b')]),
      user('u2', 'r2', 'go on'),
    ];

    expect(mainOutline([...head, ...lines]).slice(2)).toEqual([
      'user: result a, result b, interrupted',
      'user: manual of a',
      'user: go on',
    ]);
  });

  it('leaves out a branch that hangs on the response and goes elsewhere', () => {
    const lines = [
      assistant('a3', 'a2', ['msg_1', call('a')]),
      user('r1', 'a3', [result('a')]),
      user('lost1', 'a3', 'never mind'),
      assistant('lost2', 'lost1', ['msg_lost', text('fine')]),
      user('lost3', 'a3', [result('a')]),
      user('lost4', 'a3', [result('elsewhere')]),
      user('u2', 'r1', 'go on'),
    ];
    const main = readMain([...head, ...lines]);

    expect(outline(main.segments[0]).slice(1)).toEqual([
      'assistant: thinking, I read, call a',
      'user: result a',
      'user: go on',
    ]);
    expect(main.notes).toEqual(['4 records of abandoned branches left out']);
  });

  it('leaves out what hangs on a result beside the chain and is no remark of the harness', () => {
    const lines = [
      assistant('a3', 'a2', ['msg_1', call('a')]),
      assistant('a4', 'a3', ['msg_1', call('b')]),
      user('r1', 'a3', [result('a')]),
      user('lost1', 'r1', 'never mind'),
      user('r2', 'a4', [result('b')]),
      assistant('a5', 'r2', ['msg_2', text('equal')]),
    ];

    expect(mainOutline([...head, ...lines])).toEqual(wanted);
  });

  it('leaves out a remark of the harness that opened an abandoned branch', () => {
    const lines = [
      record('progress', 'p1', 'a2'),
      user('lost1', 'p1', 'the user ran a command', { isMeta: true }),
      user('u2', 'a2', 'go on'),
    ];

    expect(mainOutline([...head, ...lines]).slice(2)).toEqual(['user: go on']);
  });

  it('leaves calls without a result and results without a call as they are', () => {
    const lines = [
      user('u1', null, 'go'),
      assistant('a1', 'u1', ['msg_1', call('a')]),
      user('r1', 'a1', [result('nowhere')]),
      assistant('a2', 'r1', ['msg_2', call('b')]),
    ];

    expect(mainOutline(lines)).toEqual([
      'user: go',
      'assistant: call a',
      'user: result nowhere',
      'assistant: call b',
    ]);
  });

  it('has the values of the records as blocks, and nothing but role and content', () => {
    const blocks = [{ type: 'hologram', beam: { angle: 3 } }, call('a')];
    const answer = [result('a')];
    const main = readMain([
      user('u1', null, 'go'),
      assistant('a1', 'u1', ['msg_1', blocks[0]]),
      assistant('a2', 'a1', ['msg_1', blocks[1]]),
      user('r1', 'a2', answer),
    ]);
    const [question, response, results] = messagesOf(main.segments[0]!);

    expect(question).toEqual({ role: 'user', content: 'go' });
    expect(Object.keys(response!)).toEqual(['role', 'content']);
    expect((response!.content as unknown[])[0]).toBe(blocks[0]);
    expect((response!.content as unknown[])[1]).toBe(blocks[1]);
    expect((results!.content as unknown[])[0]).toBe(answer[0]);
  });

  it('says where it comes from: first line, its id, and the last usage', () => {
    const last = assistant('a2', 'a1', ['msg_1', call('a')]);
    const usage = {
      input_tokens: 1,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 300,
      output_tokens: 44,
    };
    const message = { ...(last['message'] as JsonObject), usage };
    const main = readMain([
      user('u1', null, 'go'),
      assistant('a1', 'u1', ['msg_1', text('I read')]),
      { ...last, message, timestamp: '2026-03-01T10:00:09.000Z' },
      user('r1', 'a2', [result('a')]),
    ]);

    expect(main.segments[0]?.origins.map(({ place }) => place.line)).toEqual([1, 2, 4]);
    expect(main.segments[0]?.origins[1]).toEqual({
      place: { source: 'session.jsonl', line: 2 },
      timestamp: '2026-03-01T10:00:00.000Z',
      responseId: 'msg_1',
      usage: { promptTokens: 321, outputTokens: 44 },
    });
  });
});

describe('compactions', () => {
  const before = [user('u1', null, 'build it'), assistant('a1', 'u1', ['msg_1', text('built')])];

  it('60 cc-compact: opens a segment with each of them, around synthetic and unknown records', () => {
    const lines = [
      ...before,
      boundary('b1', 'a1'),
      summary('s1', 'b1', 'They built it.'),
      assistant('e1', 's1', ['error', text('API Error')], { message: { model: '<synthetic>', content: [] } }),
      { type: 'telepathy', thought: 'unknown' },
      assistant('a2', 'e1', ['msg_2', call('a')]),
      user('r2', 'a2', [result('a')]),
      boundary('b2', 'r2', { trigger: 'manual', preTokens: 90_000, postTokens: 4_000 }),
      summary('s2', 'b2', 'They tested it.'),
      user('u3', 's2', 'ship it'),
    ];
    const main = readMain(lines);

    expect(main.segments.map(outline)).toEqual([
      ['user: build it', 'assistant: built'],
      ['user: They built it.', 'assistant: call a', 'user: result a'],
      ['user: They tested it.', 'user: ship it'],
    ]);
    expect(main.segments.map(({ opening }) => opening)).toEqual([
      undefined,
      {
        trigger: 'auto',
        tokensBefore: 155_000,
        tokensAfter: undefined,
        summary: 'They built it.',
        carried: 1,
      },
      { trigger: 'manual', tokensBefore: 90_000, tokensAfter: 4_000, summary: 'They tested it.', carried: 1 },
    ]);
    expect(main.notes).toEqual([
      '1 synthetic message left out',
      'records of unknown type left out: 1 telepathy',
    ]);
  });

  it('follow the record before them when the one they name is not in the file', () => {
    const main = readMain([...before, boundary('b1', 'lost'), summary('s1', 'b1', 'They built it.')]);

    expect(main.segments.map(outline)).toEqual([
      ['user: build it', 'assistant: built'],
      ['user: They built it.'],
    ]);
  });

  it('between a call and its result leave the call unanswered', () => {
    const lines = [
      user('u1', null, 'build it'),
      assistant('a1', 'u1', ['msg_1', call('a')]),
      boundary('b1', 'lost'),
      summary('s1', 'b1', 'They began.'),
      assistant('a2', 's1', ['msg_1', text('and on')]),
    ];

    expect(readMain(lines).segments.map(outline)).toEqual([
      ['user: build it', 'assistant: call a'],
      ['user: They began.', 'assistant: and on'],
    ]);
  });

  const kept = [
    ...before,
    user('u2', 'a1', 'now test it'),
    assistant('a2', 'u2', ['msg_2', call('a')]),
    assistant('a3', 'a2', ['msg_2', call('b')]),
    user('r3', 'a3', [result('b')]),
    user('r2', 'a2', [result('a')]),
  ];
  it.each([
    {
      recorded: 'as a list',
      kept: { preservedMessages: { anchorUuid: 's1', uuids: ['u2', 'a2', 'r2'] } },
      parent: 's1',
    },
    {
      recorded: 'by its ends',
      kept: { preservedSegment: { anchorUuid: 's1', headUuid: 'u2', tailUuid: 'r2' } },
      parent: 's1',
    },
    {
      recorded: 'by its ends',
      kept: { preservedSegment: { anchorUuid: 's1', headUuid: 'u2', tailUuid: 'r2' } },
      parent: 'r2',
    },
  ])(
    'carry over what was kept, recorded $recorded, when the next record hangs on $parent',
    ({ kept: metadata, parent }) => {
      const compacted = [
        ...kept,
        boundary('b1', 'r2', { trigger: 'auto', preTokens: 100, ...metadata }),
        summary('s1', 'b1', 'They built it.'),
      ];
      const tail = ['user: now test it', 'assistant: call a, call b', 'user: result a, result b'];

      const main = readMain([...compacted, assistant('a4', parent, ['msg_4', text('green')])]);
      expect(main.segments.map(outline)).toEqual([
        ['user: build it', 'assistant: built', ...tail],
        ['user: They built it.', ...tail, 'assistant: green'],
      ]);
      expect(main.segments[1]?.opening?.carried).toBe(4);
      expect(main.notes).toEqual([]);

      expect(outline(readMain(compacted).segments[1])).toEqual(['user: They built it.', ...tail]);
    },
  );

  it('that were rewound leave no trace, even where they kept records', () => {
    const metadata = { preservedSegment: { anchorUuid: 's1', headUuid: 'u2', tailUuid: 'r2' } };
    const lines = [
      ...kept,
      assistant('a4', 'r2', ['msg_4', text('green')]),
      boundary('b1', 'a4', metadata),
      summary('s1', 'b1', 'They tested it.'),
      user('u5', 'a4', 'ship it'),
    ];
    const main = readMain(lines);

    expect(main.segments).toHaveLength(1);
    expect(outline(main.segments[0]).slice(-2)).toEqual(['assistant: green', 'user: ship it']);
    expect(main.notes).toEqual(['1 record of abandoned branches left out']);
  });

  it('may keep the summary of an earlier one', () => {
    const lines = [
      ...before,
      boundary('b1', 'a1'),
      summary('s1', 'b1', 'They built it.'),
      assistant('a2', 's1', ['msg_2', text('tested')]),
      boundary('b2', 'a2', { preservedMessages: { anchorUuid: 's2', uuids: ['s1', 'a2'] } }),
      summary('s2', 'b2', 'They tested it.'),
      user('u3', 's2', 'ship it'),
    ];
    const { segments } = readMain(lines);

    expect(segments.map(outline).slice(1)).toEqual([
      ['user: They built it.', 'assistant: tested'],
      ['user: They tested it.', 'user: They built it.', 'assistant: tested', 'user: ship it'],
    ]);
    expect(segments[2]?.opening).toMatchObject({ summary: 'They tested it.', carried: 3 });
  });

  it.each([
    { why: 'it has no parent', parent: null },
    { why: 'it hangs on the history', parent: 'a1' },
  ])('without a boundary are known by their summary when $why', ({ parent }) => {
    const main = readMain([...before, summary('s1', parent, 'They built it.'), user('u3', 's1', 'go on')]);

    expect(main.segments.map(outline)).toEqual([
      ['user: build it', 'assistant: built'],
      ['user: They built it.', 'user: go on'],
    ]);
    expect(main.segments[1]?.opening).toEqual({
      trigger: undefined,
      tokensBefore: undefined,
      tokensAfter: undefined,
      summary: 'They built it.',
      carried: 1,
    });
  });

  it('that only clear tool results open no segment', () => {
    const main = readMain([
      ...before,
      record('system', 'x1', 'a1', { subtype: 'microcompact_boundary' }),
      user('u2', 'x1', 'on'),
    ]);

    expect(main.segments.map(outline)).toEqual([['user: build it', 'assistant: built', 'user: on']]);
    expect(main.notes).toEqual(['1 microcompaction: cleared tool results are still here']);
  });

  it('open the first segment where the file begins with one', () => {
    const main = readMain([
      boundary('b1', 'lost'),
      summary('s1', 'b1', 'They built it.'),
      user('u1', 's1', 'go on'),
    ]);

    expect(main.segments.map(outline)).toEqual([['user: They built it.', 'user: go on']]);
    expect(main.segments[0]?.opening?.summary).toBe('They built it.');
  });
});

describe('side chains', () => {
  const side = (agentId?: string) => ({ isSidechain: true, ...(agentId === undefined ? {} : { agentId }) });

  it('are told apart by their first record when no agent is named', () => {
    const { transcripts } = read([
      user('u1', null, 'research'),
      user('x1', null, 'first question', side()),
      user('y1', null, 'second question', side()),
      assistant('x2', 'x1', ['msg_x', text('first answer')], side()),
      assistant('y2', 'y1', ['msg_y', text('second answer')], side()),
      assistant('a1', 'u1', ['msg_1', text('both found')]),
    ]);

    expect(transcripts.map(({ title, segments }) => [title, ...outline(segments[0])])).toEqual([
      ['main', 'user: research', 'assistant: both found'],
      ['side chain 1', 'user: first question', 'assistant: first answer'],
      ['side chain 2', 'user: second question', 'assistant: second answer'],
    ]);
  });

  it('bear the name of their agent, begin at the main chain, and fill a file of their own', () => {
    const { transcripts } = read([
      user('x1', 'in the main file', 'question', side('7f3a')),
      assistant('x2', 'lost', ['msg_x', text('answer')], side('7f3a')),
    ]);

    expect(transcripts.map(({ kind, title }) => [kind, title])).toEqual([
      ['side-chain', 'side chain 1 (agent 7f3a)'],
    ]);
    expect(outline(transcripts[0]?.segments[0])).toEqual(['user: question', 'assistant: answer']);
  });

  it('do not take the main chain along, nor does the main chain follow them', () => {
    const { transcripts } = read([
      user('u1', null, 'research'),
      user('x1', 'u1', 'question', side()),
      assistant('a1', 'x1', ['msg_1', text('found')]),
    ]);

    expect(transcripts.map(({ segments }) => outline(segments[0]))).toEqual([
      ['user: research', 'assistant: found'],
      ['user: question'],
    ]);
    expect(transcripts[1]?.notes).toEqual([]);
  });
});

describe('records that are not what they should be', () => {
  it.each([
    { value: 'a string', reason: 'a record must be an object with a type' },
    { value: [1, 2], reason: 'a record must be an object with a type' },
    { value: { uuid: 'x' }, reason: 'a record must be an object with a type' },
    { value: user('x', 'u1', 7), reason: 'the content of a message must be a text or a list of blocks' },
    {
      value: record('user', 'x', 'u1', { message: null }),
      reason: 'the message of a record must be an object',
    },
    {
      value: record('assistant', 'x', 'u1', { message: { role: 'user', content: [] } }),
      reason: 'the role of the message must be the type of its record, assistant',
    },
  ])('are reported with their place: $reason', ({ value, reason }) => {
    const { transcripts, bad } = read([
      user('u1', null, 'hello'),
      value,
      assistant('a1', 'u1', ['msg_1', text('hi')]),
    ]);

    expect(bad).toEqual([{ place: { source: 'session.jsonl', line: 2 }, reason }]);
    expect(outline(transcripts[0]?.segments[0])).toEqual(['user: hello', 'assistant: hi']);
  });

  it('do not break the chain that runs through them', () => {
    const lines = [
      user('u1', null, 'hello'),
      user('x', 'u1', 7),
      assistant('a1', 'x', ['msg_1', text('hi')]),
    ];

    expect(mainOutline(lines)).toEqual(['user: hello', 'assistant: hi']);
  });

  it('give no transcript when there is no message at all', () => {
    expect(
      read([record('progress', 'p1', null), { type: 'mode', sessionId: 'session-1' }]).transcripts,
    ).toEqual([]);
  });
});

describe('recognition', () => {
  const sample = (...values: unknown[]) => claudeCode.recognise(recordEntries(values));

  it.each([
    ['a conversation', user('u1', null, 'hello')],
    ['a side record', record('progress', 'p1', 'lost')],
    ['a title of an older session', { type: 'summary', summary: 'A parser', leafUuid: 'a1' }],
    ['a snapshot', { type: 'file-history-snapshot', messageId: 'm1', snapshot: {} }],
    ['a queue', { type: 'queue-operation', operation: 'enqueue', sessionId: 'session-1' }],
    [
      'an old record without a tree',
      { type: 'user', sessionId: 'session-1', message: { role: 'user', content: 'x' } },
    ],
  ])('is certain of a file that begins with %s', (_, value) => {
    expect(sample({ type: 'telepathy' }, value)).toBe(true);
    expect(codex.recognise(recordEntries([value]))).toBe(false);
  });

  it.each([
    ['an Anthropic message', { role: 'user', content: 'hello' }],
    [
      'an event stream of the same product',
      { type: 'assistant', session_id: 's', uuid: 'u', message: { role: 'assistant' } },
    ],
    [
      'a session of another harness',
      { type: 'message', id: 'm1', parentId: null, message: { role: 'user', content: [] } },
    ],
    ['a summary of something else', { type: 'summary', summary: 'A parser' }],
    ['a rollout', { timestamp: 'now', type: 'response_item', payload: { type: 'message' } }],
    ['no object', 'user'],
  ])('says no to %s', (_, value) => {
    expect(sample(value)).toBe(false);
  });
});

describe('whatever the conversation', () => {
  /** How a round of calls was written down. */
  const layouts = ['chained', 'chained backwards', 'interleaved'] as const;
  const roundArbitrary = fc.record({
    calls: fc.integer({ min: 0, max: 4 }),
    layout: fc.constantFrom(...layouts),
    hasRewind: fc.boolean(),
    hasProgress: fc.boolean(),
  });

  interface Round {
    readonly calls: number;
    readonly layout: (typeof layouts)[number];
    readonly hasRewind: boolean;
    readonly hasProgress: boolean;
  }

  /** The lines of one round after `parent`, and the record that goes on. */
  function writeRound(
    { calls, layout, hasRewind, hasProgress }: Round,
    index: number,
    parent: string | null,
  ) {
    const lines: JsonObject[] = [];
    const id = (name: string) => `${name}.${index}`;
    const response = id('msg');
    if (hasRewind) {
      lines.push(
        user(id('gone'), parent, 'forget this'),
        assistant(id('lost'), id('gone'), [id('lost'), call(id('lost'))]),
      );
      lines.push(user(id('lost result'), id('lost'), [result(id('lost'))]));
    }
    lines.push(
      user(id('user'), parent, id('ask')),
      assistant(id('text'), id('user'), [response, text(id('say'))]),
    );
    let tip = id('text');
    if (hasProgress) {
      lines.push(record('progress', id('progress'), tip));
      tip = id('progress');
    }
    const names = Array.from({ length: calls }, (_, position) => id(`call${position}`));
    const results = names.map((name) => user(`result ${name}`, name, [result(name)]));
    for (const [position, name] of names.entries()) {
      lines.push(assistant(name, tip, [response, call(name)]));
      tip = name;
      if (layout === 'interleaved') {
        lines.push(results[position]!);
        tip = `result ${name}`;
      }
    }
    if (layout === 'chained backwards') results.reverse();
    if (layout !== 'interleaved') lines.push(...results);
    const last = layout === 'interleaved' ? tip : (results.at(-1)?.['uuid'] as string | undefined);
    const wire = [
      `user: ${id('ask')}`,
      `assistant: ${[id('say'), ...names.map((name) => `call ${name}`)].join(', ')}`,
    ];
    if (calls > 0) wire.push(`user: ${names.map((name) => `result ${name}`).join(', ')}`);
    return { lines, tip: last ?? tip, wire };
  }

  test.prop([fc.array(roundArbitrary, { minLength: 1, maxLength: 6 })])(
    'its messages come out as they were sent, in every way of writing them down',
    (rounds) => {
      let parent: string | null = null;
      const written = rounds.map((round, index) => {
        const { lines, tip, wire } = writeRound(round, index, parent);
        parent = tip;
        return { lines, wire };
      });
      const main = readMain(written.flatMap(({ lines }) => lines));

      expect(outline(main.segments[0])).toEqual(written.flatMap(({ wire }) => wire));
    },
  );

  const oddValue = fc.oneof(
    fc.constantFrom(
      null,
      'u1',
      'a1',
      'user',
      'assistant',
      'system',
      'compact_boundary',
      '__proto__',
      true,
      -1,
    ),
    fc.jsonValue({ maxDepth: 3 }),
  );
  const keys = [
    'type',
    'subtype',
    'uuid',
    'parentUuid',
    'logicalParentUuid',
    'isSidechain',
    'isCompactSummary',
  ];
  const oddRecord = fc.oneof(
    oddValue,
    fc.dictionary(
      fc.constantFrom(...keys, 'message', 'sessionId', 'agentId', 'compactMetadata', '__proto__'),
      oddValue,
    ),
    fc
      .tuple(fc.constantFrom('u1', 'u2', 'a1', 'b1'), fc.constantFrom('u1', 'u2', 'a1', 'b1', null), oddValue)
      .map(([uuid, parent, odd]) =>
        user(uuid, parent, [odd, result('a')], { message: { role: 'user', content: odd } }),
      ),
    fc
      .tuple(fc.constantFrom('u1', 'u2', 'a1', 'b1'), fc.constantFrom('u1', 'u2', 'a1', 'b1', null), oddValue)
      .map(([uuid, parent, odd]) => assistant(uuid, parent, ['msg_1', odd, call('a')], { isSidechain: odd })),
    fc
      .tuple(fc.constantFrom('u1', 'b1'), fc.constantFrom('u1', 'u2', 'a1'), oddValue)
      .map(([uuid, parent, odd]) =>
        boundary(uuid, parent, { preservedSegment: { headUuid: 'u1', tailUuid: 'a1', anchorUuid: odd } }),
      ),
  );

  test.prop([fc.array(oddRecord, { maxLength: 30 })])('odd records never break the reading', (values) => {
    for (const { segments } of read(values).transcripts) {
      expect(segments.length).toBeGreaterThan(0);
      for (const segment of segments) expect(segment.origins).toHaveLength(messagesOf(segment).length);
    }
    expect(typeof claudeCode.recognise(recordEntries([0, ...values]))).toBe('boolean');
  });
});
