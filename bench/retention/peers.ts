/** Other libraries as rows, where `npm run bench:peers` has installed them. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { callArguments, type Message, textOf } from '../../src/core/message.ts';
import type { TokenEstimator } from '../../src/core/token-estimator.ts';
import { findFormat } from '../../src/formats/registry.ts';
import type { LabCase } from '../../src/lab/lab-case.ts';
import type { Row } from '../../src/lab/row.ts';
import { searchedRow } from '../../src/lab/searched-row.ts';
import type { Cut } from '../../src/lab/trajectory.ts';
import { assistantMessage, type ChatMessage } from '../peers/chat.ts';
import type { Cutter, LoadModule, Peer } from '../peers/peer.ts';
import { peers } from '../peers/registry.ts';
import { LOADER } from '../peers/results.ts';

const FOLDER = resolve(import.meta.dirname, '../../.peers');

/** Every other library. */
const others = peers.filter((peer) => peer.package !== 'roundfold');

function isInstalled({ package: name }: Peer): boolean {
  return existsSync(join(FOLDER, 'node_modules', name, 'package.json')) && existsSync(join(FOLDER, LOADER));
}

/** Names of the rows that can be measured. */
export const installedPeers: readonly string[] = others.filter(isInstalled).map(({ name }) => name);

/** Those that would need `npm run bench:peers` first. */
export const missingPeers: readonly string[] = others
  .filter((peer) => !isInstalled(peer))
  .map(({ name }) => name);

/** The rows of these names. Each is searched for its largest output within a budget, since none takes one in our tokens. */
export async function peerRows(names: readonly string[], estimator: TokenEstimator): Promise<readonly Row[]> {
  const wanted = others.filter((peer) => names.includes(peer.name) && isInstalled(peer));
  if (wanted.length === 0) return [];
  // Our own loader, written by the bench that installs them.
  const { load } = (await import(pathToFileURL(join(FOLDER, LOADER)).href)) as { load: LoadModule };
  return Promise.all(
    wanted.map((peer) => peer.use(load, async (cutter) => toRow(peer.name, cutter, estimator))),
  );
}

/** Shares that a peer is asked to keep, one after the other: each a quarter more than the last. */
const SHARES = Array.from({ length: 25 }, (_, step) => 1.25 ** (step - 24));

function toRow<Native>(name: string, cutter: Cutter<Native>, estimator: TokenEstimator): Row {
  const compactAt = async ({ prefix }: Cut, share: number) => {
    const all = prefix.messages.map(({ raw }) => raw as ChatMessage); // written by `chatCase`
    const instructions = all.filter(({ role }) => role === 'system');
    const native = cutter.toNative(all.filter(({ role }) => role !== 'system'));
    const left = cutter.fromNative(await cutter.cut(native, share));
    return [...instructions, ...left].map((message) => prefix.format.readMessage(message));
  };
  // Where every share gives the same output there is nothing to look for.
  if (cutter.takesNoBudget) return { name, compact: (cut) => compactAt(cut, 1) };
  return searchedRow({ name, estimator, settingsFor: () => SHARES, compactAt });
}

/** The same case as messages of OpenAI Chat, which is what peers are given. What it needs stays the same. */
export function chatCase(labCase: LabCase, estimator: TokenEstimator): LabCase {
  const { cut } = labCase;
  const format = findFormat('openai-chat');
  if (format === undefined) throw new Error('no format openai-chat');
  const prefix = format.read({ messages: cut.prefix.messages.flatMap(toChat) });
  const countOf = (messages: readonly Message[]) => estimator.countMessages(messages);
  const instructions = prefix.messages.filter(({ role }) => role === 'system');
  const tokens = { prefixTokens: countOf(prefix.messages), instructionTokens: countOf(instructions) };
  return { ...labCase, cut: { ...cut, prefix, ...tokens } };
}

/** Reasoning becomes text, so that nothing is lost before the peer has begun; pictures are left out. */
function toChat({ role, blocks }: Message): readonly ChatMessage[] {
  const text = blocks
    .filter(({ type }) => type !== 'tool-result')
    .map(textOf)
    .filter((part) => part !== '')
    .join('\n');
  if (role === 'assistant') {
    const calls = blocks
      .filter((block) => block.type === 'tool-call')
      .map((call) => ({
        id: call.id ?? '',
        name: call.name,
        input: callArguments(call) ?? { input: call.input },
      }));
    return text === '' && calls.length === 0 ? [] : [assistantMessage(text, calls)];
  }
  const results = blocks
    .filter((block) => block.type === 'tool-result')
    .map((result) => ({ role: 'tool', content: textOf(result), tool_call_id: result.callId ?? '' }));
  return [...results, ...(text === '' ? [] : [{ role, content: text }])];
}
