/**
 * Plain chats with a plan that changes: what is left of them after three compactions in a chain, as a user would run them.
 *
 *   node bench/chats.ts [--budgets 25,12] [--family decision_override] [--missed 5]
 *
 * A value that a question asks for is kept when it stands in the compacted context, on one line with whatever the question
 * names, where the chat says both in one sentence. A revoked plan is stale when it stands there without the one that took its
 * place. The last table looks at the sayings alone, before any budget. `--missed` prints so many examples of each family.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { createCompactor } from '../src/compaction/compactor.ts';
import { type Message, textOf } from '../src/conversation/message.ts';
import { findFormat } from '../src/formats/registry.ts';
import { readSayings, type Saying, type Turn } from '../src/memory/sayings/sayings.ts';
import { createTokenEstimator } from '../src/tokens/estimator.ts';

interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

interface ChatCase {
  readonly id: string;
  readonly family: string;
  readonly messages: readonly ChatMessage[];
  readonly continuations: readonly string[];
  readonly ground_truth: {
    readonly immutable_facts: readonly string[];
    readonly locked_decisions: readonly string[];
    readonly forbidden_behaviors: readonly string[];
    readonly entity_map: Readonly<Record<string, string>>;
  };
  readonly items: readonly {
    readonly prompt: string;
    readonly expected: {
      readonly check: 'contains_normalized' | 'forbidden_absent';
      readonly value: string;
    };
  }[];
}

const { values } = parseArgs({
  options: {
    budgets: { type: 'string', default: '25,12' },
    family: { type: 'string', default: '' },
    missed: { type: 'string', default: '0' },
  },
});

const folder = [process.env['ROUNDFOLD_CHATS'], resolve(import.meta.dirname, '../../shared/chats')].find(
  (each) => each !== undefined && existsSync(join(each, 'cases.jsonl.gz')),
);
if (folder === undefined) {
  console.log('no chats here (ROUNDFOLD_CHATS names their folder)');
  process.exit(0);
}
const lines = gunzipSync(readFileSync(join(folder, 'cases.jsonl.gz')))
  .toString('utf8')
  .split('\n');
const cases = lines
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as ChatCase)
  .filter(({ family }) => family.includes(values.family));

const NEUTRAL_ANSWER = 'Understood. I will keep that in mind as we go on.';
const estimator = createTokenEstimator();
const format = findFormat('openai-chat');

function viewOf(message: ChatMessage): Message {
  if (format === undefined) throw new Error('no format for chats');
  return format.readMessage(message);
}

function tokensOf(messages: readonly ChatMessage[]): number {
  return estimator.countMessages(messages.map(viewOf));
}

/** The chat after each of three compactions, through the automatic path. */
async function compactThrice(chat: ChatCase, share: number): Promise<readonly (readonly ChatMessage[])[]> {
  const size = tokensOf(chat.messages);
  const target = Math.max(1, Math.floor(size * share));
  const compactor = createCompactor({ windowTokens: size * 4, trigger: target + 1, target, economy: false });
  const contexts: (readonly ChatMessage[])[] = [];
  let messages = chat.messages;
  for (const continuation of [undefined, ...chat.continuations]) {
    if (continuation !== undefined)
      messages = [
        ...messages,
        { role: 'user', content: continuation },
        { role: 'assistant', content: NEUTRAL_ANSWER },
      ];
    const automatic = await compactor.maybeCompact(messages);
    // A chat that is at its floor pauses automatic runs; the chain goes on by hand.
    const isPaused = automatic.outcome.status === 'skipped';
    messages = isPaused ? (await compactor.compact(messages)).value : automatic.value;
    contexts.push(messages);
  }
  return contexts;
}

function fold(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, ' ');
}

/** What a message says; a compaction may write it in parts. */
const saidIn = (message: ChatMessage) => viewOf(message).blocks.map(textOf).join('\n');
const contextLines = (messages: readonly ChatMessage[]) =>
  messages.flatMap((message) => saidIn(message).split('\n')).map(fold);

/** What a question names beside the value that it asks for, and what the chat says of both in one sentence. */
function companionOf(chat: ChatCase, prompt: string, value: string): string | undefined {
  const { immutable_facts, locked_decisions, forbidden_behaviors, entity_map } = chat.ground_truth;
  const names = [
    ...Object.keys(entity_map),
    ...immutable_facts.map((fact) => fact.replace(/^[^:]*: /, '')),
    ...locked_decisions,
    ...forbidden_behaviors,
    ...chat.items.map(({ expected }) => expected.value),
  ].map(fold);
  const sentences = chat.messages.flatMap(({ content }) => content.split(/(?<=[.!?])\s|\n/)).map(fold);
  return names.find(
    (name) =>
      name !== fold(value) &&
      fold(prompt).includes(name) &&
      sentences.some((sentence) => sentence.includes(name) && sentence.includes(fold(value))),
  );
}

interface Score {
  kept: number;
  asked: number;
  readonly missed: string[];
  stale: boolean;
}

function score(chat: ChatCase, context: readonly string[]): Score {
  const result: Score = { kept: 0, asked: 0, missed: [], stale: false };
  const holds = (value: string) => context.some((line) => line.includes(fold(value)));
  for (const { prompt, expected } of chat.items) {
    if (expected.check !== 'contains_normalized') continue;
    result.asked++;
    const companion = companionOf(chat, prompt, expected.value) ?? '';
    if (context.some((line) => line.includes(fold(expected.value)) && line.includes(companion)))
      result.kept++;
    else result.missed.push(`${prompt} → ${expected.value}${companion === '' ? '' : ` (with ${companion})`}`);
  }
  const { locked_decisions, forbidden_behaviors } = chat.ground_truth;
  if (chat.family === 'decision_override')
    result.stale = forbidden_behaviors.some(holds) && !locked_decisions.map(withoutLabel).every(holds);
  return result;
}

/** Some decisions have a label in front (`approach: …`) that the chat does not use. */
function withoutLabel(decision: string): string {
  return decision.replace(/^[a-z ]{1,30}: /, '');
}

const percent = (part: number, whole: number) => (whole === 0 ? '–' : ((100 * part) / whole).toFixed(1));
const mean = (all: readonly number[]) => all.reduce((sum, each) => sum + each, 0) / (all.length || 1);
const families = [...new Set(cases.map(({ family }) => family))];

function row(cells: readonly (string | number)[]): string {
  const aligned = cells.map((cell, index) => (index < 2 ? `${cell}`.padEnd(20) : `${cell}`.padStart(7)));
  return aligned.join(' ');
}

/** What the sayings hold by themselves, and what they make of plans that were revoked and of tangents. */
function measureSayings(): void {
  const counts = new Map<string, number>();
  for (const { messages } of cases)
    for (const { content } of messages) counts.set(content, (counts.get(content) ?? 0) + 1);
  const totals = { kept: 0, asked: 0, revoked: 0, plans: 0, idle: 0, tangents: 0 };
  for (const chat of cases) {
    const sayings = readSayings(chat.messages.map(toTurn));
    const { kept, asked } = score(chat, sayings.filter(isKept).map(tell));
    totals.kept += kept;
    totals.asked += asked;
    if (chat.family === 'decision_override') countRevoked(chat, sayings, totals);
    for (const saying of sayings.filter(({ turn }) => isTangent(chat, turn, counts))) {
      totals.tangents++;
      if (!isBinding(saying)) totals.idle++;
    }
  }
  const { kept, asked, revoked, plans, idle, tangents } = totals;
  console.log(`\nSayings alone: values in what holds ${percent(kept, asked)} % of ${asked},`);
  console.log(`revoked plans marked ${percent(revoked, plans)} % of ${plans},`);
  console.log(`tangents that bind nobody ${percent(idle, tangents)} % of ${tangents}`);
}

const toTurn = ({ role, content }: ChatMessage): Turn =>
  role === 'user' ? { by: 'user', text: content } : { by: 'agent', text: content };
const isBinding = ({ kind }: Saying) => kind === 'demand' || kind === 'decision' || kind === 'fact';
const isKept = (saying: Saying) => isBinding(saying) && saying.revokedBy === undefined;
const tell = ({ text, leansOn }: Saying) => fold([text, ...leansOn.map((each) => each.text)].join(' '));

type PlanTotals = { revoked: number; plans: number };

/** A plan counts as revoked when every saying that holds it is, but for the one that takes it back by name. */
function countRevoked(chat: ChatCase, sayings: readonly Saying[], totals: PlanTotals): void {
  const { forbidden_behaviors, locked_decisions } = chat.ground_truth;
  // In a few cases the generator drew the same plan twice.
  for (const plan of forbidden_behaviors.filter((each) => !locked_decisions.includes(each))) {
    totals.plans++;
    const revoking = new Set(sayings.map(({ revokedBy }) => sayings[revokedBy ?? -1]?.turn));
    const holding = sayings.filter(
      ({ text, turn }) => fold(text).includes(fold(plan)) && !revoking.has(turn),
    );
    if (holding.length > 0 && holding.every(({ revokedBy }) => revokedBy !== undefined)) totals.revoked++;
  }
}

/** Distractors of the generator are the same in many chats; the dialogues of the long ones are about something. */
function isTangent({ messages }: ChatCase, turn: number, counts: ReadonlyMap<string, number>): boolean {
  const isShort = messages.length < LONG_CHAT;
  return isShort && turn < messages.length - 1 && (counts.get(messages[turn]?.content ?? '') ?? 0) >= 10;
}

/** Chats of more messages have room for a memory; the share of the others is that of what always stays. */
const LONG_CHAT = 20;

for (const budget of values.budgets.split(',').map(Number)) {
  console.log(`\n${row([`at ${budget} %`, 'family', 'cases', '1st', '3rd', 'stale', 'tokens', 'long'])}`);
  for (const family of families) {
    const members = cases.filter((chat) => chat.family === family);
    const measured = await Promise.all(members.map((chat) => measure(chat, budget / 100)));
    const keptAfter = (at: number) => {
      const scores = measured.map((each) => each.scores.at(at));
      const sum = (key: 'kept' | 'asked') => scores.reduce((total, each) => total + (each?.[key] ?? 0), 0);
      return percent(sum('kept'), sum('asked'));
    };
    const stale = measured.filter(({ scores }) => scores.some((each) => each.stale)).length;
    const long = measured.filter(({ chat }) => chat.messages.length >= LONG_CHAT);
    const shares = [measured, long].map((some) => percent(mean(some.map(({ share }) => share)), 1));
    console.log(row(['', family, members.length, keptAfter(0), keptAfter(-1), stale, ...shares]));
    const losing = measured.filter(({ scores }) =>
      scores.some((each) => each.stale || each.missed.length > 0),
    );
    for (const { chat, scores, last } of losing.slice(0, Number(values.missed))) {
      const isStale = scores.some((each) => each.stale);
      console.log(`\n--- ${chat.id}${isStale ? ', STALE' : ''}: ${scores.at(-1)?.missed.join('; ')}`);
      for (const message of last) console.log(`[${message.role}] ${saidIn(message)}`);
    }
  }
}
measureSayings();

async function measure(chat: ChatCase, budget: number) {
  const contexts = await compactThrice(chat, budget);
  const last = contexts.at(-1) ?? [];
  const scores = contexts.map((context) => score(chat, contextLines(context)));
  return { chat, scores, last, share: tokensOf(last) / tokensOf(chat.messages) };
}
