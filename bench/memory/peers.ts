/** Other libraries as rows, where they are installed. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { callArguments, type Message, textOf } from '../../src/conversation/message.ts';
import { findFormat } from '../../src/formats/registry.ts';
import type { LabCase } from '../../src/lab/measure.ts';
import type { Row } from '../../src/lab/row.ts';
import type { CountMessages } from '../../src/lab/score.ts';
import type { Cut } from '../../src/lab/trajectory.ts';
import { assistantMessage, type ChatMessage } from '../peers/chat.ts';
import type { Cutter, LoadModule, Peer } from '../peers/peer.ts';
import { LOADER } from '../peers/results.ts';
import { searchedRow } from './searched-row.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const FOLDER = join(PROJECT, '.peers');

/** Every other library. Loaded when somebody asks: it is not needed for anything else. */
async function others(): Promise<readonly Peer[]> {
  const { peers } = await import('../peers/registry.ts');
  return peers.filter((peer) => peer.package !== 'roundfold');
}

/** Loads from where `npm run bench:peers` has installed packages, or what the project itself has of the same version. */
async function loaderOf({ package: name, version }: Peer): Promise<LoadModule | undefined> {
  const loader = join(FOLDER, LOADER);
  if (versionIn(FOLDER, name) !== undefined && existsSync(loader)) {
    // Our own loader, written by the bench that installs them.
    const { load } = (await import(pathToFileURL(loader).href)) as { load: LoadModule };
    return load;
  }
  return versionIn(PROJECT, name) === version ? (specifier) => import(specifier) : undefined;
}

function versionIn(folder: string, name: string): string | undefined {
  const manifest = join(folder, 'node_modules', name, 'package.json');
  if (!existsSync(manifest)) return undefined;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }).version;
}

/** Names of the libraries that can be measured, and of those that would need `npm run bench:peers` first. */
export async function knownPeers(): Promise<{
  readonly installed: readonly string[];
  readonly missing: readonly string[];
}> {
  const found = await Promise.all(
    (await others()).map(async (peer) => ({
      name: peer.name,
      isInstalled: (await loaderOf(peer)) !== undefined,
    })),
  );
  return {
    installed: found.filter(({ isInstalled }) => isInstalled).map(({ name }) => name),
    missing: found.filter(({ isInstalled }) => !isInstalled).map(({ name }) => name),
  };
}

/** The rows of these names. Each is searched for its largest output within a budget, since none takes one in our tokens. */
export async function peerRows(
  names: readonly string[],
  countMessages: CountMessages,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const peer of (await others()).filter(({ name }) => names.includes(name))) {
    const load = await loaderOf(peer);
    if (load !== undefined)
      rows.push(await peer.use(load, async (cutter) => toRow(peer.name, cutter, countMessages)));
  }
  return rows;
}

/** Shares that a peer is asked to keep, one after the other: each a quarter more than the last. */
const SHARES = Array.from({ length: 25 }, (_, step) => 1.25 ** (step - 24));

function toRow<Native>(name: string, cutter: Cutter<Native>, countMessages: CountMessages): Row {
  const compactAt = async ({ prefix }: Cut, share: number) => {
    const all = prefix.messages.map(({ raw }) => raw as ChatMessage); // written by `chatCase`
    const instructions = all.filter(({ role }) => role === 'system');
    const native = cutter.toNative(all.filter(({ role }) => role !== 'system'));
    const left = cutter.fromNative(await cutter.cut(native, share));
    return [...instructions, ...left].map((message) => prefix.format.readMessage(message));
  };
  // Where every share gives the same output there is nothing to look for.
  if (cutter.takesNoBudget) return { name, compact: (cut) => compactAt(cut, 1) };
  return searchedRow({ name, countMessages, settingsFor: () => SHARES, compactAt });
}

/** The same case as messages of OpenAI Chat, which is what peers are given. What it needs stays the same. */
export function chatCase(labCase: LabCase, countMessages: CountMessages): LabCase {
  const { cut } = labCase;
  const format = findFormat('openai-chat');
  if (format === undefined) throw new Error('no format openai-chat');
  const prefix = format.read({ messages: cut.prefix.messages.flatMap(toChat) });
  const instructions = prefix.messages.filter(({ role }) => role === 'system');
  const tokens = {
    prefixTokens: countMessages(prefix.messages),
    instructionTokens: countMessages(instructions),
  };
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
