import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCompaction } from '../../src/compaction/engine.ts';
import { createEngine } from '../../src/compaction/options.ts';
import { changeOf } from '../../src/compaction/plan/strategy.ts';
import type { Conversation } from '../../src/conversation/format.ts';
import { isObject } from '../../src/conversation/json.ts';
import { convertConversation } from '../../src/formats/convert/convert.ts';
import { mendConversation } from '../../src/formats/mend/mend.ts';
import { findFormat } from '../../src/formats/registry.ts';
import { startSimulator } from '../../src/simulator/index.ts';
import { requestTokens } from '../../src/tokens/measure.ts';
import { fileSource } from '../../src/transcripts/input/source.ts';
import { readRecordings } from '../../src/transcripts/recordings.ts';
import { sessionWriters } from '../../src/transcripts/registry.ts';
import { type NewSession, writeSession } from '../../src/transcripts/session-writer.ts';
import { codingSession } from '../fixtures/sessions/example-sessions.ts';
import { corpusFiles, corpusFolder, corpusIsMissing, corpusPath } from '../support/corpus.ts';
import {
  type ClientName,
  type ClientPlace,
  clientEnvironment,
  clientIsMissing,
  configureClient,
  findClient,
  runClient,
} from '../support/real-clients.ts';
import { spokenIn } from '../support/spoken.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const temporary = temporaryFolder();

/** A client, the API it speaks, and the model that answers. */
interface Setup {
  readonly client: ClientName;
  readonly format: 'anthropic-messages' | 'openai-responses';
  readonly model: string;
  readonly api?: string;
}

const setups: readonly Setup[] = [
  { client: 'codex', format: 'openai-responses', model: 'gpt-5.5' },
  { client: 'pi', format: 'anthropic-messages', model: 'claude-opus-4-6' },
  { client: 'pi', format: 'openai-responses', model: 'gpt-5.5', api: 'openai-responses' },
  { client: 'opencode', format: 'anthropic-messages', model: 'claude-opus-4-6' },
];

const QUESTION = 'Please go on.';

/** How each client is told to go on with a session. */
function callsOf({ client, model }: Setup, id: string, path: string): readonly (readonly string[])[] {
  const exec = ['exec', 'resume', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
  return {
    codex: [[...exec, id, QUESTION]],
    pi: [['--provider', 'sim', '--model', model, '--session', path, '-p', QUESTION]],
    opencode: [
      ['import', path],
      ['run', '--model', `sim/${model}`, '--session', id, QUESTION],
    ],
  }[client];
}

/** Resumes a written session with the real client, and gives what its first request says. */
async function resume(setup: Setup, conversation: Conversation) {
  const writer = sessionWriters.find(({ name }) => name === setup.client)!;
  await using simulator = await simulatorWithAnswer();
  const root = join(temporary.path, randomUUID());
  const place: ClientPlace = {
    home: join(root, 'home'),
    folder: join(root, 'work'),
    url: simulator.url,
    model: setup.model,
    ...(setup.api === undefined ? {} : { api: setup.api }),
  };
  mkdirSync(place.folder, { recursive: true });
  configureClient(setup.client, place);
  const about: NewSession = {
    folder: place.folder,
    model: setup.model,
    recorded: { provider: 'sim' },
    now: new Date(),
    createId: randomUUID,
  };
  const written = writeSession(writer, conversation, about);
  const { path } = writer.locate(written, about, {
    home: place.home,
    variables: clientEnvironment(setup.client, place),
  });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, written.text);
  for (const call of callsOf(setup, written.id, path)) {
    const run = await runClient(setup.client, place, call);
    expect(run, run.stderr).toMatchObject({ code: 0 });
  }
  const request = simulator.requests.find(({ format }) => format === setup.format);
  expect(request?.status).toBe(200);
  return { written, sent: findFormat(setup.format)!.read(request?.body) };
}

async function simulatorWithAnswer() {
  const simulator = await startSimulator({
    windowTokens: 4_000_000,
    script: () => ({ parts: [{ type: 'text', text: 'Done.' }] }),
  });
  return { ...simulator, [Symbol.asyncDispose]: () => simulator.close() };
}

/** What the user and the model say, one by one: clients may join what stands next to each other. */
function partsIn({ messages }: Conversation): readonly string[] {
  return spokenIn(messages).flatMap(({ role, parts }) => parts.map((part) => JSON.stringify([role, part])));
}

const OWN_WORDS = [
  QUESTION,
  '<environment_context>',
  // Codex looks at the bytes of pictures; one in the corpus is damaged.
  'image content omitted because it could not be processed',
];

/** Messages that a client adds by itself: what it says about its surroundings, and the question. */
function isOwnWord(part: string): boolean {
  return OWN_WORDS.some((words) => part.includes(words));
}

async function expectResumed(setup: Setup, conversation: Conversation): Promise<void> {
  const { sent } = await resume(setup, conversation);
  const meant = partsIn(convertConversation(conversation, setup.format).conversation);
  const isOwnOf = (part: string) => isOwnWord(part) && !meant.includes(part);

  expect(partsIn(sent).filter((part) => !isOwnOf(part))).toEqual(meant);
}

async function compacted(conversation: Conversation, share: number): Promise<Conversation> {
  const engine = createEngine({ windowTokens: 0, economy: false });
  const tokens = requestTokens(conversation, engine.estimator);
  const turn = { conversation, tokens, idleSeconds: undefined, signal: new AbortController().signal };
  const { outcome } = await runCompaction(engine, turn, {
    trigger: 'manual',
    targetTokens: Math.floor(tokens * share),
  });
  return changeOf(outcome)?.conversation ?? conversation;
}

describe.each(setups)('a compacted session resumed by $client with $format', (setup) => {
  const isThere = findClient(setup.client) !== undefined;
  const why = isThere ? '' : ` (skipped: ${clientIsMissing(setup.client)})`;

  it.skipIf(!isThere)(
    `is sent as it was written${why}`,
    async () => {
      const whole = findFormat('anthropic-messages')!.read(codingSession);
      await expectResumed(setup, await compacted(mendConversation(whole).conversation, 0.5));
    },
    90_000,
  );

  it.skipIf(!isThere)(
    `is sent whole where nothing was made smaller${why}`,
    async () => {
      const whole = findFormat('anthropic-messages')!.read(codingSession);
      await expectResumed(setup, mendConversation(whole).conversation);
    },
    90_000,
  );
});

/**
 * Which client goes on with how many recordings of a folder of the corpus. Those of Claude Code go to others; OpenCode takes
 * ten seconds for one.
 */
const byFolder: readonly (readonly [folder: string, setup: Setup, files: number])[] = [
  ['codex-rollout', setups[0]!, Number.POSITIVE_INFINITY],
  ['pi-session', setups[1]!, Number.POSITIVE_INFINITY],
  ['claude-code', setups[1]!, Number.POSITIVE_INFINITY],
  ['claude-code', setups[0]!, Number.POSITIVE_INFINITY],
  ['claude-code', setups[3]!, 3],
  ['opencode', setups[3]!, Number.POSITIVE_INFINITY],
];

const recorded = byFolder.flatMap(([folder, setup, files]) =>
  corpusFiles()
    .filter(({ file }) => file.startsWith(`${folder}/`))
    .slice(0, files)
    .map(({ file }) => ({ file, setup, client: setup.client })),
);
const missing = [
  ...(corpusFolder === undefined ? [corpusIsMissing] : []),
  ...setups.flatMap(({ client }) => (findClient(client) === undefined ? [clientIsMissing(client)] : [])),
];

describe.skipIf(missing.length > 0)(
  `recorded sessions${missing.length > 0 ? ` (skipped: ${[...new Set(missing)].join('; ')})` : ''}`,
  () => {
    it.each(recorded)(
      '$file, made smaller, is resumed by $client as it was written',
      async ({ file, setup }) => {
        const conversation = await compacted(await liveIn(file), 0.3);
        const { sent } = await resume(setup, conversation);
        const meant = wordsIn(convertConversation(conversation, setup.format).conversation);
        const own = new Set(meant);

        expect(wordsIn(sent).filter((word) => own.has(word) || !isOwnWord(word))).toEqual(meant);
      },
      90_000,
    );
  },
);

async function liveIn(file: string): Promise<Conversation> {
  for await (const { conversations } of readRecordings(await fileSource(corpusPath(file)))) {
    const live = conversations.at(-1);
    if (live !== undefined) return mendConversation(live).conversation;
  }
  throw new Error(`no conversation in ${file}`);
}

/** Texts, calls and results. Clients make pictures smaller, and send reasoning only to the model that wrote it. */
function wordsIn(conversation: Conversation): readonly string[] {
  return spokenIn(conversation.messages).flatMap(({ role, parts }) =>
    parts.flatMap((part) => {
      if (!isObject(part)) return [JSON.stringify([role, part])];
      if (typeof part['media'] === 'string' || part['reasoning'] !== undefined) return [];
      return [JSON.stringify([role, { ...part, media: undefined, hasMore: undefined }])];
    }),
  );
}
