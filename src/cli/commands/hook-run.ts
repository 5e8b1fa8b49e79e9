import { text } from 'node:stream/consumers';
import { runCompaction } from '../../compaction/engine.ts';
import { createEngine } from '../../compaction/options.ts';
import { changeOf } from '../../compaction/plan/strategy.ts';
import { createStrategy } from '../../compaction/strategies/registry.ts';
import { RoundfoldError } from '../../conversation/errors.ts';
import type { Conversation } from '../../conversation/format.ts';
import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { printableJson } from '../../conversation/printable.ts';
import { mendConversation } from '../../formats/mend/mend.ts';
import { carriedMemories } from '../../report/memory-lines.ts';
import type { Store } from '../../stores/store.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { type Recording, readRecordingsOf } from '../../transcripts/recordings.ts';
import type { GivenArguments } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Report, reportError } from '../output.ts';
import { openRunArchive, restoreAll, sessionName, tenantOf } from '../session-archive.ts';
import { overStore, type StoreWork } from '../store.ts';
import { importSession } from './store/import.ts';

/** Serves the event of a hook. Everything that fails ends with 1: to the agent, 2 would mean that it must not compact. */
export async function runHook(given: GivenArguments, report: Report): Promise<ExitCode> {
  const [agent] = given.positional;
  try {
    if (agent !== 'claude-code') {
      throw new RoundfoldError('usage', `there is no hook for ${JSON.stringify(agent)}`, {
        remedy: 'Known: claude-code.',
      });
    }
    const event = readEvent(await text(process.stdin));
    const work = handlers.get(event.name);
    if (work === undefined) return exitCodes.done;
    const code = await overStore(given, report, (storeWork) => work(event, storeWork));
    return code === exitCodes.done ? code : exitCodes.failed;
  } catch (error) {
    if (!RoundfoldError.is(error)) throw error;
    reportError(report, error);
    return exitCodes.failed;
  }
}

interface HookEvent {
  readonly name: string;
  readonly transcript: string;
  readonly source: string | undefined;
}

function readEvent(input: string): HookEvent {
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch {
    value = undefined;
  }
  const event: JsonObject = isObject(value) ? value : {};
  const name = asString(event['hook_event_name']);
  const transcript = asString(event['transcript_path']);
  if (name !== undefined && transcript !== undefined)
    return { name, transcript, source: asString(event['source']) };
  throw new RoundfoldError('input-not-understood', 'standard input holds no event of a hook', {
    remedy: 'Name this command as a PreCompact and SessionStart hook in the settings of the agent.',
  });
}

const handlers: ReadonlyMap<string, (event: HookEvent, work: StoreWork) => Promise<ExitCode>> = new Map([
  ['PreCompact', keep],
  ['SessionStart', giveBack],
]);

async function keep({ transcript }: HookEvent, { given, access }: StoreWork): Promise<ExitCode> {
  await importSession(transcript, access.forWriting, given.text('tenant'));
  return exitCodes.done;
}

/** About so many tokens are given back: a page or two. */
const GIVEN_BACK_TOKENS = 4000;

const FOREWORD =
  'What stood in this conversation before it was compacted, by software. Handles (rf:…) can be read with `roundfold recall HANDLE`, and words found with `roundfold search WORDS`.';

async function giveBack({ transcript, source }: HookEvent, work: StoreWork): Promise<ExitCode> {
  if (source !== 'compact') return exitCodes.done;
  const { given, report, access } = work;
  for await (const recording of readRecordingsOf(transcript)) {
    const before = beforeCompaction(recording);
    const store = access.forWriting();
    const tenant = await tenantOf(store, given.text('tenant'));
    const conversation = sessionName(recording.transcript, transcript);
    const memory = await memoryOf(before, store, { tenant, conversation, createdAt: Date.now() });
    if (memory !== undefined) {
      const output = { hookEventName: 'SessionStart', additionalContext: `${FOREWORD}\n\n${memory}` };
      report.terminal.data(`${printableJson(JSON.stringify({ hookSpecificOutput: output }))}\n`);
    }
    break;
  }
  return exitCodes.done;
}

/** What the agent compacted: the stretch before the newest one, which holds hardly more than the agent's summary. */
function beforeCompaction({ transcript, conversations }: Recording): Conversation {
  const opening = transcript.segments.at(-1)?.opening;
  const newest = conversations.at(-1);
  const isFresh = opening !== undefined && (newest?.messages.length ?? 0) <= opening.carried + 1;
  const chosen = (isFresh ? conversations.at(-2) : undefined) ?? newest;
  if (chosen !== undefined) return chosen;
  throw new RoundfoldError('input-not-understood', 'the transcript holds no conversation');
}

/** What our own memory says about a conversation, with everything that it names kept in the store. */
async function memoryOf(
  whole: Conversation,
  store: Store,
  key: Parameters<typeof openRunArchive>[1],
): Promise<string | undefined> {
  const { conversation } = mendConversation(whole);
  const engine = createEngine({ windowTokens: 0, economy: false, strategy: createStrategy('summarize', {}) });
  const archive = openRunArchive(conversation, key);
  const tokens = requestTokens(conversation, engine.estimator);
  const turn = {
    conversation,
    tokens,
    idleSeconds: undefined,
    signal: undefined,
    handleFor: archive.handleFor,
  };
  const { outcome } = await runCompaction(engine, turn, {
    trigger: 'manual',
    targetTokens: Math.min(GIVEN_BACK_TOKENS, Math.floor(tokens / 2)),
  });
  const change = changeOf(outcome);
  if (change === undefined) return undefined;
  const { messages } = change.conversation;
  const spans = archive.spansIn(messages.map(({ raw }) => raw));
  await restoreAll(
    store,
    spans.map((span) => ({ span })),
  );
  const texts = carriedMemories(messages).flatMap(({ quoted, text: said }) => [...quoted, said]);
  return texts.length === 0 ? undefined : texts.join('\n\n');
}
