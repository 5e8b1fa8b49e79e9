import { createHmac } from 'node:crypto';
import { modelFacts } from '../../contracts/anthropic-messages/models.ts';
import type { Seal, SealVerdict, SealVerifier } from '../../contracts/contract.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { asObject, canonicalJson } from '../json.ts';
import type { Accepted } from '../provider.ts';
import { findCompaction } from './compaction.ts';

/** Signs what the simulator hands out, and judges it when it comes back. */
export interface ThinkingSeals {
  /**
   * Signer of one response to this body: knows what stands before, and every thought it has signed itself. Behind a
   * summary that the response begins with, no message stands before.
   */
  signer(body: JsonObject, isBound: boolean, isCompacted: boolean): (thinking: string) => string;
  signCompaction(content: string): string;
  readonly verify: SealVerifier;
}

/**
 * What a signature holds, as hashes: everything before the message (empty for models that bind nothing but the block),
 * the thought before this one (empty when there was none or nothing is bound), the text, and one over all of them.
 */
type Signature = readonly [prefix: string, previous: string, content: string, own: string];

/**
 * Seals of one simulator. A bound signature covers the system prompt, the tools that are loaded from the start and all
 * earlier messages, without cache markers and thinking; an unbound one covers the text of its block alone.
 */
export function createThinkingSeals(secret: string): ThinkingSeals {
  const mac = (text: string): string =>
    createHmac('sha256', secret).update(text).digest('base64url').slice(0, 22);
  const ownOf = (prefix: string, previous: string, content: string): string =>
    mac(['thinking', prefix, previous, content].join('.'));
  /** A chain costs a pass over the body and is asked for once per thought of it. */
  const chains = new WeakMap<JsonObject, Chain>();
  const prefixesOf = (body: JsonObject): Chain => {
    const chain = chains.get(body) ?? chainOf(body, mac);
    chains.set(body, chain);
    return chain;
  };

  const verifyThinking = ({ value, path, body }: Seal): SealVerdict => {
    const signature = readSignature(value);
    if (signature === undefined || !isObject(value) || !isObject(body)) return 'tampered';
    const [prefix, previous, content, own] = signature;
    if (ownOf(prefix, previous, content) !== own) return 'tampered';
    if (mac(asString(value['thinking']) ?? '') !== content) return 'modified';
    if (prefix === '') return 'valid';
    const [, messageIndex = '', , blockIndex = ''] = path.split('.');
    if (prefixesOf(body).before(Number(messageIndex)) !== prefix) return 'foreign-prefix';
    const before = prefixesOf(body).thoughtBefore(Number(messageIndex), Number(blockIndex));
    // Taking thoughts out from the start is allowed, so having none before is fine.
    return before === undefined || before === previous ? 'valid' : 'gap';
  };

  const signCompaction = (content: string): string => `${mac(`compaction ${content}`)}.${mac('compaction')}`;

  return {
    signer(body, isBound, isCompacted) {
      const chain = prefixesOf(body);
      const messageCount = asList(body['messages']).length;
      const before = isCompacted ? chain.frame : chain.before(messageCount);
      const prefix = isBound ? before : '';
      let previous = isBound && !isCompacted ? (chain.thoughtBefore(messageCount, 0) ?? '') : '';
      return (thinking) => {
        const content = mac(thinking);
        const own = ownOf(prefix, previous, content);
        const signature = writeSignature([prefix, previous, content, own]);
        if (isBound) previous = own;
        return signature;
      };
    },
    signCompaction,
    verify: (seal) =>
      seal.kind === 'compaction' ? judgeCompaction(seal.value, signCompaction) : verifyThinking(seal),
  };
}

function judgeCompaction(value: unknown, sign: (content: string) => string): SealVerdict {
  const block = asObject(value);
  const signature = asString(block['signature']) ?? '';
  const expected = sign(asString(block['content']) ?? '');
  if (signature === expected) return 'valid';
  return signature.split('.')[1] === expected.split('.')[1] ? 'modified' : 'tampered';
}

function writeSignature(signature: Signature): string {
  return Buffer.from(signature.join('.')).toString('base64');
}

function readSignature(block: unknown): Signature | undefined {
  const text = asString(asObject(block)['signature']) ?? '';
  const [prefix, previous, content, own, more] = Buffer.from(text, 'base64').toString('latin1').split('.');
  if (prefix === undefined || previous === undefined || content === undefined) return undefined;
  return own === undefined || more !== undefined ? undefined : [prefix, previous, content, own];
}

/** Hashes of everything before each message, and the thoughts of a body in their order. */
interface Chain {
  /** Of what stands before every message. */
  readonly frame: string;
  before(messageIndex: number): string;
  /** Own hash of the last thought before a place; undefined when there is none. */
  thoughtBefore(messageIndex: number, blockIndex: number): string | undefined;
}

function chainOf(body: JsonObject, mac: (text: string) => string): Chain {
  const messages = asList(body['messages']);
  const tools = asList(body['tools']).filter((tool) => asObject(tool)['defer_loading'] !== true);
  const system = typeof body['system'] === 'string' ? [textBlock(body['system'])] : (body['system'] ?? []);
  const frame = mac(canonicalJson([system, tools]));
  const hashes = [frame];
  let thoughts: { readonly message: number; readonly block: number; readonly own: string }[] = [];
  for (const [index, message] of messages.entries()) {
    const blocks = contentOf(message);
    // Everything before a summary is ignored, whether it is sent or not.
    if (findCompaction(message) >= 0) {
      hashes[index] = frame;
      thoughts = [];
    }
    const spoken = blocks.filter((block) => !isThinking(block));
    const last = hashes[index] ?? '';
    const { role } = asObject(message);
    hashes.push(spoken.length === 0 ? last : mac(`${last}${canonicalJson([role, spoken])}`));
    for (const [block, value] of blocks.entries()) {
      if (isThinking(value)) thoughts.push({ message: index, block, own: readSignature(value)?.[3] ?? '' });
    }
  }
  return {
    frame,
    before: (index) => hashes[index] ?? '',
    thoughtBefore: (messageIndex, blockIndex) =>
      thoughts.findLast(
        ({ message, block }) => message < messageIndex || (message === messageIndex && block < blockIndex),
      )?.own,
  };
}

function contentOf(message: unknown): readonly unknown[] {
  const { content } = asObject(message);
  return typeof content === 'string' ? [textBlock(content)] : asList(content);
}

function textBlock(text: string): object {
  return { type: 'text', text };
}

function isThinking(block: unknown): boolean {
  const { type } = asObject(block);
  return type === 'thinking' || type === 'redacted_thinking';
}

/**
 * Drops the first thinking block that does not fit its prefix, and all thinking behind it, where the request asks for it
 * with `thinking.block_binding.prefix_mismatch_behavior: "drop_block"`. The very same body when nothing is dropped.
 * The contract has already refused requests that ask for nothing.
 */
export function dropForeignThinking(
  body: JsonObject,
  verify: SealVerifier,
): Pick<Accepted, 'body' | 'transformations'> {
  if (!modelFacts(asString(body['model'])).bindsThinkingToPrefix) return { body, transformations: [] };
  const transformations: object[] = [];
  const messages = asList(body['messages']).map((message, messageIndex) => {
    if (!isObject(message) || message['role'] !== 'assistant') return message;
    const kept = asList(message['content']).filter((block, blockIndex) => {
      if (!isThinking(block)) return true;
      const path = `messages.${messageIndex}.content.${blockIndex}`;
      const isFailing =
        transformations.length > 0 || isForeign(verify({ kind: 'thinking', value: block, path, body }));
      if (isFailing)
        transformations.push({ type: 'thinking_dropped', path, reason: 'prefix_binding_mismatch' });
      return !isFailing;
    });
    return typeof message['content'] === 'string' ? message : { ...message, content: kept };
  });
  return transformations.length === 0
    ? { body, transformations }
    : { body: { ...body, messages }, transformations };
}

function isForeign(verdict: ReturnType<SealVerifier>): boolean {
  return verdict === 'foreign-prefix' || verdict === 'gap';
}
