import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { createTokenEstimator } from '../tokens/estimator.ts';
import { recallMemory } from './recall.ts';
import { remember } from './remember.ts';

const estimator = createTokenEstimator();
const user = (content: unknown) => ({ role: 'user', content });
const agent = (text: string) => ({ role: 'assistant', content: [{ type: 'text', text }] });

let calls = 0;
/** Calls that are made at once, with their results. */
function together(
  ...made: readonly {
    readonly name: string;
    readonly input: unknown;
    readonly output: string;
    readonly isError?: boolean;
  }[]
): readonly unknown[] {
  const named = made.map((each) => ({ ...each, id: `toolu_${++calls}` }));
  return [
    {
      role: 'assistant',
      content: named.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
    },
    user(
      named.map(({ id, output, isError = false }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: output,
        is_error: isError,
      })),
    ),
  ];
}
const shell = (command: string, output: string, isError = false) => ({
  name: 'Bash',
  input: { command },
  output,
  isError,
});
const run = (command: string, output: string, isError = false) => together(shell(command, output, isError));
const edit = (path: string, old_string: string, new_string: string) =>
  together({ name: 'Edit', input: { file_path: path, old_string, new_string }, output: 'Updated.' });

interface Terms {
  readonly tokens?: number;
  readonly quoted?: readonly string[];
  readonly earlier?: string;
  /** How many messages at the end stay as they are. */
  readonly kept?: number;
}

async function memoryOf(
  list: readonly unknown[],
  { tokens = 4000, quoted, earlier, kept = 0 }: Terms = {},
): Promise<string> {
  const conversation = anthropicMessages.read(list);
  const outcome = await remember({
    messages: conversation.messages.slice(0, list.length - kept),
    conversation,
    previousSummary: earlier,
    quoted,
    instructions: undefined,
    maximumTokens: tokens,
    estimator,
    signal: undefined,
  });
  if (outcome.status === 'failed') throw new Error(outcome.message);
  return outcome.text;
}

const part = (text: string, heading: string) => text.split(`## ${heading}\n`)[1]?.split('\n\n## ')[0] ?? '';
const state = async (list: readonly unknown[], terms: Terms = {}) =>
  part(await memoryOf(list, terms), 'Where we are');

describe('the request in force', () => {
  const list = [
    user('Port the importer to streams.'),
    agent('Reading it.'),
    user('Also keep the old flag working for one release.'),
    agent('It stays.'),
    user('why is the buffer that small?'),
    agent('It was 4 kB in the old one.'),
  ];
  const terms = { quoted: ['Port the importer to streams.'] };

  it('stands with every later remark of the user under it, in order', async () => {
    expect(await state(list, terms)).toBe(
      [
        'Request in force: [1], quoted above. Said since, newest last:',
        '[2] Also keep the old flag working for one release.',
        '[3] why is the buffer that small?',
      ].join('\n'),
    );
  });

  it('has one place for its text, where the next memory is given it', async () => {
    const text = await memoryOf(list, terms);
    expect(text.match(/\(quoted above\)/g)).toEqual(['(quoted above)']);
    expect(part(text, 'What the user said')).toContain('[1] (quoted above)');
  });

  it('is read back with its remarks, each once', async () => {
    const again = await memoryOf([user('Go on.'), agent('On it.')], { earlier: await memoryOf(list, terms) });
    expect(again.match(/why is the buffer that small\?/g)).toHaveLength(1);
    expect(again).toContain('[2] Also keep the old flag working for one release.');
  });

  it('needs no word where nothing was said since', async () => {
    expect(await memoryOf(list.slice(0, 2), terms)).not.toContain('Request in force');
  });
});

describe('the branch', () => {
  it('is the one that the last of calls made at once has shown', async () => {
    const text = await state([
      user('Review it.'),
      ...run('git status --short --branch', '## fix/pumps...origin/fix/pumps'),
      ...together(
        shell('git diff main...HEAD', ''),
        shell('git branch --show-current', 'main'),
        shell('ls', 'a.go'),
      ),
    ]);
    expect(text).toContain('branch main');
    expect(text).not.toContain('fix/pumps');
  });

  it.each([
    ['git checkout -q -b fix/leak && git branch --show-current', 'fix/leak', 'fix/leak'],
    ['git status && git switch -q next', 'On branch main\nnothing to commit, working tree clean', 'next'],
    ['git rev-parse --abbrev-ref HEAD; ls', 'topic/b\nREADME.md', 'topic/b'],
    ['git branch', '  main\n* topic/c', 'topic/c'],
    ['git checkout README.md', 'Updated 1 path from the index', 'main'],
  ])('after `%s`', async (command, output, branch) => {
    const text = await state([user('Go.'), ...run('git status', 'On branch main'), ...run(command, output)]);
    expect(text).toContain(`branch ${branch}`);
  });
});

describe('commits', () => {
  const change = edit('/app/pump.ts', 'old line of the pump', 'new line of the pump');
  const quiet = run(
    "git add -A && git commit -q -F - <<'EOF'\nStop the pump in time\n\nIt ran dry.\nEOF",
    '',
  );

  it('count also where git was told to be quiet, by their message', async () => {
    const text = await state([user('Fix it.'), ...change, ...quiet]);
    expect(text).toContain('committed Stop the pump in time');
    expect(text).not.toContain('not committed yet');
  });

  it('get the hash that a later log shows', async () => {
    const list = [
      user('Fix it.'),
      ...change,
      ...quiet,
      ...run('git log --oneline -1', '1a2b3c4 Stop the pump in time'),
    ];
    expect(await state(list)).toContain('commit 1a2b3c4 Stop the pump in time');
    expect(recallMemory(await memoryOf([user('Fix it.'), ...change, ...quiet])).commits).toMatchObject([
      { hash: '', subject: 'Stop the pump in time' },
    ]);
  });

  it('are none where git found nothing, or failed', async () => {
    const failed = run('git commit -q -m "Stop the pump in time"', 'error: pathspec', true);
    const text = await state([user('Fix it.'), ...run('git status', 'On branch main'), ...change, ...failed]);
    expect(text).toContain('not committed yet: /app/pump.ts');
    expect(text).not.toContain('committed Stop');
  });

  it('are not missing where the working tree is clean', async () => {
    const clean = run('git status', 'On branch main\nnothing to commit, working tree clean');
    expect(await state([user('Fix it.'), ...change, ...clean])).not.toContain('not committed yet');
    const later = await state([user('Fix it.'), ...clean, ...change]);
    expect(later).toContain('not committed yet');
    expect(later).not.toContain('working tree clean');
  });

  it('are not asked for where changes were put away', async () => {
    const text = await state([
      user('Fix it.'),
      ...run('git status', 'On branch main'),
      ...change,
      ...run('git stash', ''),
    ]);
    expect(text).not.toContain('not committed yet');
  });
});

describe('pull requests', () => {
  it('stand there with their title, and a hint of a push does not', async () => {
    const text = await state([
      user('Open one.'),
      ...run('git push -u origin fix/leak', 'remote: https://git.example/a/b/pull/new/fix/leak'),
      ...run('gh pr create --title "Stop the leak" --body x', 'https://git.example/a/b/pull/77'),
    ]);
    expect(text).toContain('made https://git.example/a/b/pull/77 Stop the leak');
    expect(text).not.toContain('pull/new');
  });
});

describe('processes', () => {
  const started = 'Chunk ID: 1\nProcess running with session ID 4711\nOutput:\n';

  it('that only look around are not told as running', async () => {
    const text = await memoryOf([
      user('Look.'),
      ...run('rg -n pump $(go env GOPATH 2>/dev/null)/src', `${started}a.go:1: pump`),
    ]);
    expect(text).not.toContain('Still running');
  });

  it('are gone once a harness has spoken of their end, or once nobody has looked for long', async () => {
    const server = run('npm run serve', 'Command running in background with ID: b7f3a1');
    expect(await memoryOf([user('Start.'), ...server])).toContain('Still running: b7f3a1');
    const ended = user('<task-notification>\nb7f3a1 completed\n</task-notification>');
    expect(await memoryOf([user('Start.'), ...server, ended])).not.toContain('Still running');
    const others = Array.from({ length: 40 }, (_, index) => run(`ls ${index}`, 'a')).flat();
    const long = run('python3 convert.py', `${started}row 1`);
    expect(await memoryOf([user('Start.'), ...long, ...others])).not.toContain('Still running');
  });
});

describe('checks', () => {
  it('of several parts say how each did, and why one failed', async () => {
    const output = [
      'ok  \tpumps/plan\t0.3s',
      '--- FAIL: TestFlow (0.00s)',
      'panic: flow: failed to open the valve',
      '\t/opt/go/src/runtime/panic.go:860 +0x12c',
      'FAIL\tpumps/flow\t0.1s',
    ].join('\n');
    expect(await state([user('Test.'), ...run('go test ./plan ./flow', output, true)])).toContain(
      'failed: --- FAIL: TestFlow (0.00s) | FAIL\tpumps/flow\t0.1s | panic: flow: failed to open the valve | ok  \tpumps/plan\t0.3s',
    );
  });

  it('of a program that stopped tell what stopped it', async () => {
    const output =
      'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: cannot read the gauge';
    expect(await state([user('Test.'), ...run('python3 -m pytest', output, true)])).toContain(
      'failed: ValueError: cannot read the gauge',
    );
  });

  it('are none where a file is removed, and the file is there no more', async () => {
    const text = await memoryOf([
      user('Clean up.'),
      ...edit('/app/src/pump.test.ts', 'const a = readTheGauge(1);', 'const a = readTheGauge(2);'),
      ...run('rm src/pump.test.ts', '(empty)'),
      ...run('rm src/pump.test.ts', '(empty)'),
    ]);
    expect(text).not.toContain('Last checks');
    expect(part(text, 'Where we are')).toContain('pump.test.ts (removed)');
    expect(text).not.toContain('## Files as they are now');
  });
});

describe('announcements', () => {
  it('give way to what came of them', async () => {
    const text = await memoryOf(
      [
        user('Fix the gauge.'),
        agent('The gauge reads twice, because the timer is never cleared.'),
        ...run('ls', 'gauge.ts'),
        agent('I will check whether clearTimer is called in gauge.ts.'),
        ...run('npm test', 'Tests  3 passed (3)'),
        agent('I need to clear the timer in stopGauge:'),
        ...edit('/app/gauge.ts', 'stopGauge() {}', 'stopGauge() { clearTimer(); }'),
        agent('Fixed.'),
        user('Thanks.'),
        agent('You are welcome.'),
      ],
      { tokens: 160 },
    );
    expect(text).not.toContain('I will check whether');
    expect(text).toContain('because the timer is never cleared.');
    expect(text).toContain('I need to clear the timer in stopGauge. (done)');
  });
});

/** Talk that fills a session. */
const filler = (count: number) =>
  Array.from({ length: count }, (_, index) => [
    user(`Please look at gauge number ${index} in hall ${index + 7}.`),
    agent(`Gauge ${index} in hall ${index + 7} shows ${index * 3} bar, as the log of that day says.`),
  ]).flat();

describe('what the user answers', () => {
  const options = [
    'Two ways are open:',
    '',
    '1. **Rebuild the index**',
    '   - Time: 4 hours',
    '   - Risk: none',
    '2. **Patch the index in place**',
    '   - Time: 10 minutes',
    '   - Risk: old readers fail',
    '',
    'Which one shall I take?',
  ].join('\n');

  it('stands there whole, with labels told once, whatever else has to go', async () => {
    const text = await memoryOf([...filler(30), user('Fix it.'), agent(options), user('The second.')], {
      tokens: 260,
      kept: 1,
    });
    expect(text).toContain(
      [
        '- agent: Two ways are open:',
        '  1. Rebuild the index; Time: 4 hours; Risk: none',
        '  2. Patch the index in place; 10 minutes; old readers fail',
        '  Which one shall I take?',
      ].join('\n'),
    );
  });

  it('stands with an answer that points back to it', async () => {
    const text = await memoryOf(
      [
        user('It stops at night.'),
        agent('The watchdog ends it. Shall I set `watchdog.limit` to 0 for good?'),
        user("no, don't set it"),
        agent('I leave it.'),
        ...filler(30),
      ],
      { tokens: 220 },
    );
    expect(text).toContain("(agent had said: Shall I set `watchdog.limit` to 0 for good?) no, don't set it");
  });
});

describe('tasks', () => {
  const names = ['pump', 'valve', 'gauge', 'tank', 'pipe', 'meter', 'filter', 'cooler', 'heater'];
  const list = names.map((name, index) => ({
    content: `Port the ${name} driver`,
    status: index < 2 ? 'completed' : index === 2 ? 'in_progress' : 'pending',
  }));
  const session = [
    user('Port the drivers.'),
    ...together({ name: 'TodoWrite', input: { todos: list }, output: 'ok' }),
    ...filler(20),
  ];

  it('are told by the one in progress, the next two and counts where there is little room', async () => {
    const text = await memoryOf(session, { tokens: 130 });
    expect(part(text, 'Where we are')).toBe(
      [
        'Tasks: 2 completed, 1 in_progress, 6 pending',
        '  [in_progress] 3 Port the gauge driver',
        '  [pending] 4 Port the tank driver',
        '  [pending] 5 Port the pipe driver',
      ].join('\n'),
    );
  });

  it('keep their counts from memory to memory', async () => {
    const earlier = await memoryOf(session, { tokens: 130 });
    const done = together({ name: 'TaskUpdate', input: { taskId: '3', status: 'completed' }, output: 'ok' });
    expect(await memoryOf([user('Go on.'), ...done], { earlier })).toContain(
      'Tasks: 3 completed, 6 pending\n',
    );
  });
});

/** Looking around that fills a session. */
const looks = Array.from({ length: 40 }, (_, index) => run(`ls hall${index}`, `gauge${index}.txt`)).flat();

describe('what the agent concluded', () => {
  it.each([80, 110, 140])(
    'is told by the sentence that says why, and not by its opening words, in %i tokens',
    async (tokens) => {
      const opening = 'Good question, that one is a classic and worth a closer look.';
      const more = 'Many things happen in the halls at night, and some of them are loud. '.repeat(2);
      const other = 'People come and go, and nobody writes it down for the next day. '.repeat(6);
      const reason = 'The pump stops because `drainTank` closes the valve first.';
      const list = [
        user('Why does the pump stop?'),
        agent(`${opening} ${more}${other}${reason}`),
        user('Thanks.'),
        agent('Sure.'),
        user('Look around.'),
        ...looks,
      ];
      const text = await memoryOf(list, { tokens });
      expect(text).toContain(reason);
      expect(text).not.toContain('Good question');
    },
  );

  it('after a failure stands with the line that failed', async () => {
    const output = [
      'starting the pump',
      'Traceback (most recent call last):',
      '  File "pump.py", line 3',
      'ValueError: valve 7 is closed',
    ];
    const text = await memoryOf(
      [
        user('Run it.'),
        ...run('python3 pump.py', output.join('\n'), true),
        agent('Valve 7 is closed because `open_valve` runs after the start.'),
        ...edit('/app/pump.py', 'start(); open_valve()', 'open_valve(); start()'),
        agent('Mended.'),
        ...looks,
      ],
      { tokens: 170 },
    );
    expect(text).toContain('ValueError: valve 7 is closed');
    expect(text).toContain('Valve 7 is closed because `open_valve` runs after the start.');
    expect(text).not.toContain('File "pump.py"');
  });
});

describe('files in a small memory', () => {
  const source = (name: string) =>
    Array.from(
      { length: 60 },
      (_, index) => `export const ${name}Limit${index} = readLimitOf("${name}", ${index});`,
    );
  const read = (name: string) =>
    together({
      name: 'Read',
      input: { file_path: `/app/src/${name}.ts` },
      output: source(name)
        .map((line, index) => `${index + 1}→${line}`)
        .join('\n'),
    });
  const session = [
    user('Raise the limits.'),
    ...read('tank'),
    ...read('pump'),
    ...edit('/app/src/tank.ts', 'readLimitOf("tank", 3)', 'readLimitOf("tank", 30)'),
    ...run('npm test', 'Tests  9 passed (9)'),
    ...edit('/app/src/pump.ts', 'readLimitOf("pump", 5)', 'readLimitOf("pump", 50)'),
    agent('The limits are raised.'),
    ...filler(60),
  ];

  it('are only those that no check has passed since they were changed', async () => {
    const shown = part(await memoryOf(session, { tokens: 320 }), 'Files as they are now');
    expect(shown).not.toContain('tank.ts');
    expect(shown).not.toMatch(/^\d+: /m);
  });

  it('take a small part of it, in contiguous lines', async () => {
    const text = await memoryOf(session, { tokens: 620 });
    const shown = part(text, 'Files as they are now');
    expect(shown.length).toBeLessThan(text.length * 0.25);
    expect(shown).not.toMatch(/^\d+: /m);
  });
});

describe('what a harness says in the name of the user', () => {
  it('is not told as their words: notices that come again and again', async () => {
    const notices = ['a1', 'b2', 'c3'].map((id) => user(`Full log is kept at: /tmp/logs/${id}.txt`));
    const text = await memoryOf([
      user('Start the jobs.'),
      ...notices.flatMap((notice) => [agent('Started.'), notice]),
    ]);
    expect(part(text, 'What the user said')).toBe('[1] Start the jobs.');
  });

  it('nor the pages of a command that came while the agent was at work', async () => {
    const manual = `## Phase 1\n${'Launch the reviewers and never skip one.\n'.repeat(50)}## Phase 2\nFix what they find.`;
    const text = await memoryOf([
      user('Tidy up.'),
      ...together({ name: 'Skill', input: { skill: 'tidy' }, output: 'Launching' }),
      user(manual),
      agent('Tidied.'),
    ]);
    expect(part(text, 'What the user said')).toBe('[1] Tidy up.');
  });

  it('and fields that repeat what was asked with are told once', async () => {
    const text = await memoryOf([
      user('Who is it?'),
      ...together({
        name: 'get_user',
        input: { user_id: 'ada_4410' },
        output: JSON.stringify({ user_id: 'ada_4410', level: 'silver', note: 'pays by card. '.repeat(20) }),
      }),
      agent('Ada.'),
    ]);
    expect(text).toContain('- called get_user user_id ada_4410\n  level silver');
  });
});

describe('questions', () => {
  it('that were answered long ago give way to what was decided', async () => {
    const asked = Array.from({ length: 25 }, (_, index) => [
      user(`how does hall ${index} get its water at night?`),
      agent(`Through pipe ${index}.`),
    ]).flat();
    const text = await memoryOf([...asked, user("let's take the blue pumps"), agent('Taken.'), ...asked], {
      tokens: 120,
    });
    expect(text).toContain("let's take the blue pumps");
  });
});

describe('a change that did not happen', () => {
  it.each([
    'File path must be within one of the workspace directories: /app',
    'ERROR:\nInvalid `path` parameter: /app/a.ts\nFile already exists. Cannot overwrite files.',
    'String to replace was not found in the file.',
    '---------------\nRuntimeError: the kernel has died',
    'Permission denied',
  ])('is no changed file and not done, though no flag says so: %s', async (output) => {
    const text = await memoryOf([
      user('Add the flag.'),
      agent('Let me write the flag to `/app/a.ts`:'),
      ...together({ name: 'write_file', input: { file_path: '/app/a.ts', content: 'flag = 1' }, output }),
    ]);
    expect(part(text, 'Where we are')).not.toContain('Files changed');
    expect(text).not.toContain('(done)');
  });

  it.each([
    'The file /app/a.ts has been updated. Here is a snippet:\n3\tthrow new Error("invalid")',
    'Successfully replaced text; cannot show a diff of it',
    'Datei gespeichert',
  ])('is told from one that speaks of errors only in what it shows: %s', async (output) => {
    const list = [
      user('Add the flag.'),
      ...together({ name: 'write_file', input: { file_path: '/app/a.ts', content: 'flag = 1' }, output }),
    ];
    expect(await state(list)).toContain('Files changed, newest first: /app/a.ts');
  });
});

describe('files that were moved', () => {
  it.each([
    ['mv docs/guide.md docs/architecture/', '/app/docs/architecture/guide.md'],
    ['mkdir -p docs/old && git mv docs/guide.md docs/old/guide-1.md', '/app/docs/old/guide-1.md'],
    ['mv /app/docs/guide.md /tmp/guide.md', '/tmp/guide.md'],
  ])('are changed under their new name alone: %s', async (command, path) => {
    const list = [
      user('Write the guide.'),
      ...together({
        name: 'Write',
        input: { file_path: '/app/docs/guide.md', content: 'A' },
        output: 'Created.',
      }),
      ...run(command, ''),
    ];
    expect(await state(list)).toContain(`Files changed, newest first: ${path}`);
    expect(await state(list)).not.toContain('/app/docs/guide.md');
  });
});

describe('what counts as a check', () => {
  it.each([
    'blob=8c02; for idx in .git/objects/pack/*.idx; do if git -C /app verify-pack -v $idx | grep -q $blob; then echo $idx; fi; done',
    'for f in test/*.ts; do grep -c "it(" $f; done',
    'git -C /app/test log --oneline',
  ])('are no commands that only look for something: %s', async (command) => {
    const list = [user('Find it.'), ...run(command, ''), ...run(command, '3')];
    expect(await state(list)).not.toContain('Last checks');
  });

  it('of a compiler say how many errors there are, and that they failed', async () => {
    const output = [1, 2, 3].map((line) => `src/a.ts(${line},4): error TS2304: Cannot find name 'n${line}'.`);
    const told = await state([user('Build it.'), ...run('npx tsc --noEmit | head -20', output.join('\n'))]);
    expect(told).toContain('`npx tsc --noEmit` failed');
    expect(told).toContain('3 errors like this');
  });

  it('are not told by the line with which a package manager starts them', async () => {
    const told = await state([
      user('Check it.'),
      ...run('npm run check', '\n> app@1.0.0 check\n> tsc --noEmit\n'),
    ]);
    expect(told).toContain('`npm run check` ended: (no output)');
  });
});

describe('a refusal of what the agent proposed', () => {
  it('is told, however little room there is', async () => {
    const refusal = 'No I think this is fine and has too much risk of false alarms in the other halls.';
    const list = [
      user('What happens to parked orders?'),
      agent('They are lost. The fix would be to keep `parkedOrders` when the writer is skipped.'),
      user(`${refusal} ${'If somebody parks one and orders anew, then what was parked is gone. '.repeat(6)}`),
      agent('Understood.'),
      user('Write it down.'),
      agent('Written.'),
      ...filler(40),
    ];
    expect(await memoryOf(list, { tokens: 160 })).toContain(refusal);
  });
});
