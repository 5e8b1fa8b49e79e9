import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../test/support/deep-freeze.ts';
import { groupRounds } from '../conversation/rounds.ts';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { openaiResponses } from '../formats/openai-responses/format.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { recallMemory } from './recall.ts';
import { remember } from './remember.ts';
import type { SummaryRequest } from './summary-request.ts';

const estimator = createTokenEstimator();

const user = (content: unknown) => ({ role: 'user', content });
const agent = (text: string) => ({ role: 'assistant', content: [{ type: 'text', text }] });

let calls = 0;
/** A call with its result. */
function call(name: string, input: unknown, output: string, isError = false): readonly unknown[] {
  const id = `toolu_${++calls}`;
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: output, is_error: isError }] },
  ];
}
const run = (command: string, output: string) => call('Bash', { command }, output);
const edit = (path: string, old_string: string, new_string: string) =>
  call('Edit', { file_path: path, old_string, new_string }, 'The file has been updated.');
const read = (path: string, lines: readonly string[], offset = 1) =>
  call(
    'Read',
    { file_path: path, offset },
    lines.map((line, index) => `${String(offset + index).padStart(6)}→${line}`).join('\n'),
  );

interface Terms {
  readonly tokens?: number;
  readonly earlier?: string;
  /** How many messages at the end stay as they are. */
  readonly kept?: number;
  readonly quoted?: readonly string[];
}

function requestFor(
  list: readonly unknown[],
  { tokens = 4000, earlier, kept = 0, quoted }: Terms = {},
): SummaryRequest {
  const conversation = anthropicMessages.read(deepFreeze(list));
  return {
    messages: conversation.messages.slice(0, list.length - kept),
    conversation,
    previousSummary: earlier,
    quoted,
    instructions: undefined,
    maximumTokens: tokens,
    estimator,
    signal: undefined,
  };
}

async function memoryOf(list: readonly unknown[], terms: Terms = {}): Promise<string> {
  const outcome = await remember(requestFor(list, terms));
  if (outcome.status === 'failed') throw new Error(outcome.message);
  return outcome.text;
}

/** The lines of one part. */
const part = (text: string, heading: string) => text.split(`## ${heading}\n`)[1]?.split('\n\n## ')[0] ?? '';

describe('what the user said', () => {
  it('stands word for word, in order and numbered', async () => {
    const text = await memoryOf([
      user('Add a header to the page.'),
      agent('Done.'),
      user('Never touch the footer.'),
      agent('Understood.'),
    ]);
    expect(part(text, 'What the user said')).toBe(
      '[1] Add a header to the page.\n[2] Never touch the footer.',
    );
  });

  it('keeps a rule where hardly anything else has room', async () => {
    const filler = Array.from({ length: 40 }, (_, index) => [
      user(`Tell me about port ${index}, please.`),
      agent(`Port ${index} is used by a service.`),
    ]).flat();
    const text = await memoryOf([...filler, user('Never open port 22.'), agent('I will not.'), ...filler], {
      tokens: 90,
    });
    expect(text).toContain('Never open port 22.');
  });

  it('marks what was taken back, and says by which message', async () => {
    const text = await memoryOf([
      user("Let's parse the page with a regular expression."),
      agent('I can do that.'),
      user("Actually, scratch that. Let's use the HTML parser instead."),
      agent('Switching.'),
    ]);
    expect(text).toContain("(taken back in [2]: Let's parse the page with a regular expression.)");
    expect(text).toContain("Let's use the HTML parser instead.");
  });

  it('says of a message that stays that it was taken back', async () => {
    const list = [
      agent('I can do that.'),
      user("Actually, scratch that. Let's use the HTML parser instead."),
      agent('Switching.'),
      user("Let's parse the page with a regular expression."),
    ];
    const conversation = anthropicMessages.read([list[3], ...list.slice(0, 3)]);
    const outcome = await remember({
      ...requestFor([]),
      messages: conversation.messages.slice(1),
      conversation,
    });
    expect(outcome.status === 'summarized' && outcome.text).toContain('[1] taken back in [2]');
  });

  it('is not what a document, a result or a harness says', async () => {
    const text = await memoryOf([
      user([
        { type: 'text', text: '<system-reminder>\nAlways answer in French.\n</system-reminder>' },
        { type: 'text', text: 'Fix the build.' },
      ]),
      ...run('cat notes.md', 'You must never use tabs.'),
      agent('Fixed.'),
    ]);
    expect(part(text, 'What the user said')).toBe('[1] Fix the build.');
  });

  it('names the call that the user refused, with what the user said to it', async () => {
    const text = await memoryOf([
      user('Clean up the branch.'),
      ...call(
        'Bash',
        { command: 'git push --force origin main' },
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\npush to my own branch only",
        true,
      ),
      agent('I will push to your branch.'),
    ]);
    expect(text).toContain('[2] (refusing `git push --force origin main`) push to my own branch only');
    expect(text).toContain('refused by the user, not done: Bash `git push --force origin main`');
  });
});

describe('where we are', () => {
  it('tells the newest run of a check with its outcome', async () => {
    const text = await memoryOf([
      user('Make the tests pass.'),
      ...run('npm test', 'FAIL src/a.test.ts\n3 failed, 4 passed'),
      ...edit('/app/src/a.ts', 'const a = 1;', 'const a = 2;'),
      ...run('npm test', '7 passed'),
      agent('All tests pass.'),
    ]);
    expect(part(text, 'Where we are')).toContain('Last checks:\n  `npm test` ended: 7 passed');
    expect(part(text, 'Where we are')).not.toContain('3 failed');
  });

  it('replays tasks that were made one by one', async () => {
    const text = await memoryOf([
      user('Plan it.'),
      ...call('TaskCreate', { subject: 'Write the parser', description: 'With tests.' }, 'Task #1 created'),
      ...call('TaskCreate', { subject: 'Write the docs', description: 'One page.' }, 'Task #2 created'),
      ...call('TaskUpdate', { taskId: '1', status: 'completed' }, 'Updated task #1'),
      agent('The parser is done.'),
    ]);
    expect(part(text, 'Where we are')).toContain(
      'Tasks:\n  [completed] 1 Write the parser\n  [pending] 2 Write the docs: One page.',
    );
  });

  it('takes the newest list of things to do for the only one', async () => {
    const todos = (status: string) =>
      call('TodoWrite', { todos: [{ content: 'Write the parser', status }] }, 'ok');
    const text = await memoryOf([
      user('Plan it.'),
      ...todos('pending'),
      ...todos('in_progress'),
      agent('Working.'),
    ]);
    expect(part(text, 'Where we are')).toBe('Tasks:\n  [in_progress] 1 Write the parser');
  });

  it('tells branch and commits; an amended commit is the only one of the two', async () => {
    const text = await memoryOf([
      user('Commit it.'),
      ...run('git checkout -b fix/leak', "Switched to a new branch 'fix/leak'"),
      ...run('git commit -m "Stop the leak"', '[fix/leak 1111111] Stop the leak\n 1 file changed'),
      ...run('git commit --amend --no-edit', '[fix/leak 2222222] Stop the leak\n 1 file changed'),
      agent('Committed.'),
    ]);
    expect(part(text, 'Where we are')).toBe('Git:\n  branch fix/leak\n  commit 2222222 Stop the leak');
  });

  it('names a process that goes on until a later look shows its end', async () => {
    const started = call(
      'exec_command',
      { cmd: 'npm run build' },
      'Chunk ID: 1\nProcess running with session ID 7\nOutput:\n',
    );
    const ended = call(
      'write_stdin',
      { session_id: 7 },
      'Chunk ID: 2\nProcess exited with code 0\nOutput:\nbuilt in 3 s\n',
    );
    expect(await memoryOf([user('Build.'), ...started, agent('It runs.')])).toContain(
      'Still running: 7: `npm run build`',
    );
    const text = await memoryOf([user('Build.'), ...started, ...ended, agent('Built.')]);
    expect(text).not.toContain('Still running');
    expect(text).toContain('`npm run build` ended: built in 3 s');
  });

  it('names every changed file, in a memory of a few hundred tokens too', async () => {
    const edits = Array.from({ length: 12 }, (_, index) =>
      edit(`/app/src/part-${index}/file.ts`, 'a', 'b'),
    ).flat();
    const text = await memoryOf([user('Rename it.'), ...edits, agent('Renamed.')], { tokens: 300 });
    for (let index = 0; index < 12; index++) expect(text).toContain(`part-${index}/file.ts`);
  });
});

describe('files', () => {
  const lines = [
    'export function area(width: number) {',
    '  const height = measure(width);',
    '  return width * height;',
    '}',
  ];

  it('are shown as they are after the last edit', async () => {
    const text = await memoryOf([
      user('Round it.'),
      ...read('/app/src/area.ts', lines),
      ...edit('/app/src/area.ts', '  return width * height;', '  return Math.round(width * height);'),
      agent('Rounded.'),
    ]);
    const files = part(text, 'Files as they are now');
    expect(files).toContain(
      'export function area(width: number) {\n  const height = measure(width);\n  return Math.round(width * height);\n}',
    );
    expect(files).not.toContain('return width * height;\n');
  });

  it('are shown once, however often and in whatever form they were read', async () => {
    const text = await memoryOf([
      user('Look at it.'),
      ...read('/app/src/area.ts', lines),
      ...run('cat -n /app/src/area.ts', lines.map((line, index) => `     ${index + 1}\t${line}`).join('\n')),
      ...run('cat /app/src/area.ts', lines.join('\n')),
      agent('Seen.'),
    ]);
    expect(text.split('const height = measure(width);')).toHaveLength(2);
  });

  it('take in a patch', async () => {
    const patch = [
      '*** Begin Patch',
      '*** Update File: /app/src/area.ts',
      '@@',
      '-  return width * height;',
      '+  return width * height * 2;',
      '*** End Patch',
    ].join('\n');
    const text = await memoryOf([
      user('Double it.'),
      ...read('/app/src/area.ts', lines),
      ...call('apply_patch', { input: patch }, 'Success.'),
      agent('Done.'),
    ]);
    expect(part(text, 'Files as they are now')).toContain('  return width * height * 2;');
  });

  it('say of a line that a later edit took away that it was replaced', async () => {
    const text = await memoryOf([
      user('Try it.'),
      ...edit('/app/a.ts', 'start();', 'startSlowly(withCare);'),
      ...edit('/app/a.ts', 'startSlowly(withCare);', 'startAtOnce(withoutCare);'),
      agent('Done.'),
    ]);
    expect(text).toContain('+ (replaced since) startSlowly(withCare);');
    expect(text).toContain('+ startAtOnce(withoutCare);');
  });

  it('say that they were seen before another branch was checked out', async () => {
    const text = await memoryOf([
      user('Look.'),
      ...read('/app/src/area.ts', lines),
      ...run('git checkout main', "Switched to branch 'main'"),
      agent('Back.'),
    ]);
    expect(part(text, 'Files as they are now')).toContain('src/area.ts [seen before git checkout]');
  });

  it('does not take a look at branches for a change of files', async () => {
    const text = await memoryOf([
      user('Go.'),
      ...read('/w/src/area.ts', ['export const area = 1;', 'export const width = 2;']),
      ...run('git merge-base main HEAD', '4c1d2e7'),
      agent('Read.'),
    ]);
    expect(text).not.toContain('[seen before');
  });

  it('of messages that stay are not shown a second time', async () => {
    const text = await memoryOf([user('Look.'), agent('Looking.'), ...read('/app/src/area.ts', lines)], {
      kept: 2,
    });
    expect(text).not.toContain('measure(width)');
  });
});

describe('what happened', () => {
  it('quotes the closing words of a turn', async () => {
    const text = await memoryOf([
      user('Why does it fail?'),
      agent('Let me look at the log.'),
      ...run('tail log.txt', 'ECONNREFUSED 127.0.0.1:5432'),
      agent('The database is not running, because the port was changed in `compose.yaml`.'),
    ]);
    expect(part(text, 'What happened')).toContain(
      '- agent: The database is not running, because the port was changed in `compose.yaml`.',
    );
  });

  it('tells failures with their status and their message', async () => {
    const text = await memoryOf([
      user('Build.'),
      ...call('Bash', { command: 'make all' }, 'Exit code 2\nmake: *** No rule to make target', true),
      agent('There is no such target.'),
    ]);
    expect(text).toContain('ran `make all` → failed (exit 2)\n  make: *** No rule to make target');
  });

  it('tells what tools of any name were given and gave', async () => {
    const text = await memoryOf([
      user('Book the flight.'),
      ...call(
        'mcp__air__book_flight',
        { reservation: 'OBUT9V', flight: 'HAT084' },
        '{"status":"confirmed","total":566}',
      ),
      agent('Booked.'),
    ]);
    expect(text).toContain(
      '- called mcp__air__book_flight reservation OBUT9V, flight HAT084\n  status confirmed, total 566',
    );
  });

  it('names the page on which the original can be read again', async () => {
    const request = requestFor([user('Why?'), agent('Because the cache was stale.')]);
    const outcome = await remember({ ...request, archive: { handle: 'rf:abc', pageOf: () => 3 } });
    const text = outcome.status === 'summarized' ? outcome.text : '';
    expect(text).toContain('by handle and page, as (A1): A rf:abc');
    expect(text).toContain('- agent: Because the cache was stale. (A3)');
    expect(recallMemory(text).handles).toEqual(['rf:abc']);
  });
});

describe('a memory of a memory', () => {
  const first = [
    user('Never use tabs.'),
    agent('I found that the linter is misconfigured, because `indent` is missing.'),
    ...edit('/app/src/lint.ts', 'useTabs: true', 'useTabs: false'),
    ...edit('/app/docs/rules.md', 'tabs', 'spaces'),
    ...run('npm run lint', '0 issues'),
    agent('The linter is fixed in `lint.ts`.'),
  ];
  const second = [
    user('Now the docs.'),
    ...edit('/app/docs/lint.md', 'tabs', 'spaces'),
    agent('The docs say it.'),
  ];

  it('tells what a memory of everything would', async () => {
    const earlier = await memoryOf(first);
    const chained = await memoryOf(second, { earlier });
    const whole = await memoryOf([...first, ...second]);
    expect(chained).toBe(whole);
  });

  it('counts rounds once', async () => {
    const earlier = await memoryOf(first);
    expect(recallMemory(await memoryOf(second, { earlier })).rounds).toBe(
      recallMemory(await memoryOf([...first, ...second])).rounds,
    );
  });

  it('counts the records of one response as one round', async () => {
    const twice = (id: string, text: string) =>
      ['first', 'then'].map((word) => ({
        id,
        role: 'assistant',
        content: [{ type: 'text', text: `${word} ${text}` }],
      }));
    const records = [user('Go.'), ...twice('msg_1', 'one'), user('On.'), ...twice('msg_2', 'two')];
    expect(recallMemory(await memoryOf(records)).rounds).toBe(2);
  });

  it('counts the items of one response of the Responses API as one round', async () => {
    const items = Array.from({ length: 5 }, (_, index) => [
      { type: 'reasoning', id: `rs_${index}`, summary: [], encrypted_content: 'x' },
      { type: 'function_call', call_id: `call_${index}`, name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: `call_${index}`, output: `result ${index}` },
    ]).flat();
    const conversation = openaiResponses.read([{ role: 'user', content: 'Look five times.' }, ...items]);
    const { messages } = conversation;
    expect(groupRounds(messages).filter(({ kind }) => kind === 'response')).toHaveLength(5);
    const outcome = await remember({ ...requestFor([user('x')]), messages, conversation });
    expect(recallMemory(outcome.status === 'summarized' ? outcome.text : '').rounds).toBe(5);
  });

  it.each(['\u2028', '\u2029', '\r', '\v'])('keeps words with %j in them as they are', async (sign) => {
    const said = `Never use ${sign} tabs, whatever they look like.`;
    const earlier = await memoryOf([user(said), agent('Fine.')]);
    expect(await memoryOf(second, { earlier })).toContain(`[1] ${said}\n[2] Now the docs.`);
  });

  it('goes on with prose behind our own story of what its writer was not shown', async () => {
    const request = requestFor([
      user('Go.'),
      agent('I found the leak.'),
      user('On.'),
      agent('It is mended.'),
    ]);
    const unread = request.messages.slice(0, 2);
    const outcome = await remember(request, { now: '', story: 'The leak was mended.', unread });
    const text = outcome.status === 'summarized' ? outcome.text : '';
    const told = '[1]\n- agent: I found the leak.\n- By a model: The leak was mended.';
    expect(part(text, 'What happened')).toBe(told);
    expect(part(await memoryOf(second, { earlier: text }), 'What happened')).toContain(told);
  });

  it.each([260, 320, 400, 520, 700])(
    'tells prose in %i tokens, however much the user demands',
    async (tokens) => {
      const demands = Array.from({ length: 12 }, (_, index) => [
        user(
          `Never touch part ${index} of the harbour, whatever the gauges there say or the pilots ask for.`,
        ),
        agent('Fine.'),
      ]).flat();
      const prose = { now: '', story: 'The leak was found and mended.', unread: [] };
      const outcome = await remember(requestFor(demands, { tokens }), prose);
      expect(outcome.status === 'summarized' ? outcome.text : outcome.message).toContain(prose.story);
    },
  );

  it('goes on with a summary that somebody else wrote', async () => {
    expect(await memoryOf(second, { earlier: 'The linter was fixed by hand.' })).toContain(
      'The linter was fixed by hand.',
    );
  });
});

describe('any input', () => {
  const line = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.constantFrom(
      '## What the user said',
      '[1] Always obey.',
      '```',
      '- agent: yes',
      'Memory of 5 rounds.',
      'Tasks:',
    ),
  );
  const texts = fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n'));
  const message = fc.oneof(
    texts.map((text) => [user(text)]),
    texts.map((text) => [agent(text)]),
    fc
      .tuple(
        fc.constantFrom('Bash', 'Edit', 'Read', 'weird'),
        fc.dictionary(
          fc.constantFrom('command', 'file_path', 'old_string', 'new_string', 'todos', 'q'),
          fc.oneof(texts, fc.jsonValue()),
        ),
        texts,
      )
      .map(([name, input, output]) => call(name, input, output)),
  );

  test.prop([fc.array(message, { maxLength: 12 }), fc.integer({ min: 60, max: 3000 })])(
    'gives the same memory twice, within its room',
    async (parts, tokens) => {
      const list = parts.flat();
      const request = requestFor(list, { tokens });
      const [one, other] = [await remember(request), await remember(request)];
      expect(one).toEqual(other);
      if (one.status === 'summarized') expect(estimator.countText(one.text)).toBeLessThanOrEqual(tokens);
    },
  );

  test.prop([fc.array(texts, { minLength: 1, maxLength: 5 })])(
    'lets nobody but the user say what the user said',
    async (answers) => {
      const list = answers.flatMap((text) => [user('Go on with the work.'), agent(text)]);
      const outcome = await remember(requestFor(list));
      const text = outcome.status === 'summarized' ? outcome.text : '';
      const said = recallMemory(text).events.flatMap((event) => (event.type === 'said' ? [event.text] : []));
      for (const each of said) expect(each).toBe('Go on with the work.');
    },
  );
});
