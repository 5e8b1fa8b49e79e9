import { RoundfoldError } from '../../conversation/errors.ts';
import { type Conversation, writeConversation } from '../../conversation/format.ts';
import type { Message } from '../../conversation/message.ts';
import { countOf, formatCount } from '../../report/terminal.ts';
import type { Checkpoint } from '../../stores/store.ts';
import { createTokenEstimator } from '../../tokens/estimator.ts';
import { tokenProfileForModel } from '../../tokens/profiles.ts';
import type { CommandDefinition } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { checkOutputs, forceOption, writeOutput } from '../files.ts';
import {
  findConversation,
  overStore,
  refuseFaults,
  STORE_HELP,
  type StoreWork,
  storeOption,
  tenantOption,
} from '../store.ts';

/** `roundfold handoff`: what to go on with when there is no proxy any more. */
export const handoff: CommandDefinition = {
  name: 'handoff',
  summary: 'write what a conversation can go on with, without the proxy that has folded it',
  arguments: '<conversation>',
  argumentHelp: 'its id, or the beginning of it, as `roundfold store ls` lists it',
  options: [
    { flags: '--from <file>', help: 'the whole conversation: a request, or a session of the client' },
    { flags: '--text', help: 'the memory as plain text, to begin a new session with' },
    { flags: '--out <file>', help: 'where to write; default: standard output' },
    forceOption,
    storeOption,
    tenantOption,
  ],
  examples: [
    ['roundfold handoff 3fa9 --text | codex exec -', 'a new session that knows what the old one did'],
    [
      'roundfold handoff 3fa9 --from request.json --out smaller.json',
      'the request as the proxy would have sent it',
    ],
  ],
  details: () => `${WHAT_IS_KEPT}\n${STORE_HELP}`,
  run: (given, report) => overStore(given, report, run),
};

const WHAT_IS_KEPT = `A store holds memories and what left, not the messages that were sent as they are. With
--from the result is whole: the memory, and every message behind it. Without, it is the memory alone.
`;

async function run(work: StoreWork): Promise<ExitCode> {
  const { given, access } = work;
  const from = given.text('from');
  checkOutputs(given, from === undefined ? [] : [from]);
  const store = access.forReading();
  const found = await findConversation(store, {
    id: given.positional[0] ?? '',
    tenant: given.text('tenant'),
  });
  const checkpoints = (await store?.checkpoints(found)) ?? [];
  refuseFaults(access);
  if (checkpoints.length === 0) {
    throw new RoundfoldError('store', 'this conversation has not been folded', {
      remedy: 'It is as the client has it, and nothing has to be handed over.',
    });
  }
  return from === undefined ? writeMemory(work, checkpoints) : writeWhole(work, checkpoints, from);
}

/** What the store holds: the newest memory. */
async function writeMemory(work: StoreWork, checkpoints: readonly Checkpoint[]): Promise<ExitCode> {
  // Loaded here, so that help and other commands do without.
  const { storedMemory } = await import('../../keeper/handoff.ts');
  const stored = storedMemory(checkpoints);
  if (stored === undefined) {
    throw new RoundfoldError(
      'store',
      'the store has no memory of this conversation: only results were shortened',
      {
        remedy: 'Give the whole conversation with --from: a request, or a session of the client.',
      },
    );
  }
  const { checkpoint, message } = stored;
  deliver(work, [message], () => [message.raw]);
  work.report.terminal.talk(
    `the memory of the first ${countOf(checkpoint.boundary, 'message')}; what came after is with the client: --from adds it\n`,
  );
  return exitCodes.done;
}

/** What the proxy would have sent. */
async function writeWhole(
  work: StoreWork,
  checkpoints: readonly Checkpoint[],
  file: string,
): Promise<ExitCode> {
  const { report } = work;
  const { handOver } = await import('../../keeper/handoff.ts');
  const { readRecordings } = await import('../../transcripts/recordings.ts');
  const { fileSource } = await import('../../transcripts/input/source.ts');
  for await (const { conversations } of readRecordings(await fileSource(file))) {
    // The last one is live.
    for (const conversation of conversations.toReversed()) {
      const handed = handOver(conversation, checkpoints);
      if (handed === undefined) continue;
      deliver(work, handed.view.messages, () => writeConversation(handed.view));
      const { boundary } = handed.checkpoint;
      report.terminal.talk(
        `${sizeOf(conversation)} → ${sizeOf(handed.view)}, with the memory of the first ${formatCount(boundary)}\n`,
      );
      return exitCodes.done;
    }
  }
  throw new RoundfoldError('store', 'no memory of this conversation is true of what the file holds', {
    place: { source: file },
    remedy:
      'Clients keep sessions in other words than they send them. `roundfold compact` makes one that fits from the file alone, and `roundfold handoff --text` writes the memory to begin a new session with.',
  });
}

function deliver(work: StoreWork, messages: readonly Message[], value: () => unknown): void {
  const { given, report } = work;
  const text = (): string =>
    given.flag('text') ? `${textOf(messages)}\n` : `${JSON.stringify(value(), undefined, 2)}\n`;
  const path = writeOutput(given, 'out', text);
  if (path === undefined) report.terminal.data(text());
}

/** What the made messages say. Those that only stand in between say nothing. */
function textOf(messages: readonly Message[]): string {
  const texts = messages.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
  );
  return texts.join('\n\n');
}

function sizeOf({ messages, frame: { model } }: Conversation): string {
  const estimator = createTokenEstimator({ profile: tokenProfileForModel(model) });
  const tokens = Math.round(estimator.countMessages(messages));
  return `${countOf(messages.length, 'message')}, about ${formatCount(tokens)} tokens`;
}
