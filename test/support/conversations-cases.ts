import fc from 'fast-check';
import { applyPlan, undoPlan } from '../../src/compaction/plan/plan.ts';
import {
  type Change,
  changeOf,
  type Strategy,
  type StrategyContext,
} from '../../src/compaction/plan/strategy.ts';
import { createStrategy, strategies } from '../../src/compaction/strategies/registry.ts';
import { findContract } from '../../src/contracts/registry.ts';
import { type Conversation, writeConversation } from '../../src/conversation/format.ts';
import { isUserText, type Message, textOf } from '../../src/conversation/message.ts';
import { ensureToolResultPairing } from '../../src/conversation/pairing.ts';
import { findFormat } from '../../src/formats/registry.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { eagerOptions } from './compaction-under-test.ts';
import { applyDamages, type Damage, damages, type Step, steps } from './conversations.ts';
import { brokenRules, faultsOf } from './conversations-judge.ts';
import { deepFreeze } from './deep-freeze.ts';
import { lastSentWords } from './sent-words.ts';
import { stepWriters } from './step-writers.ts';
import { strategyContext } from './strategy-context.ts';

/** A conversation in a wire format, as a harness left it, and what every strategy is asked to do with it. */
export interface Case {
  readonly format: string;
  readonly steps: readonly Step[];
  /** What a harness broke; nothing in half of the cases. */
  readonly damages: readonly Damage[];
  readonly instructions: string | undefined;
  readonly targetTokens: number;
  readonly bindsReasoning: boolean;
}

/** Every strategy, ready to act on small conversations. */
export const eagerStrategies: readonly Strategy[] = strategies.map(({ name }) =>
  createStrategy(name, eagerOptions[name]),
);

/** The formats that cases are written in: those with rules to judge them by. */
export const caseFormats: readonly string[] = Object.keys(stepWriters).filter(
  (name) => findContract(name) !== undefined,
);

const picturePlaces = fc.option(fc.tuple(fc.nat(11), fc.nat(11)), { nil: undefined, freq: 3 });

/** Cases of one format, or of all. */
export function casesOf(formats: readonly string[] = caseFormats): fc.Arbitrary<Case> {
  return fc.record({
    format: fc.constantFrom(...formats),
    steps: fc.tuple(steps, picturePlaces).map(([list, places]) => addPictures(list, places)),
    damages: fc.oneof(fc.constant([]), damages),
    instructions: fc.option(fc.constantFrom('Be brief.', 'Never touch the file README.md.'), {
      nil: undefined,
      freq: 2,
    }),
    targetTokens: fc.integer({ min: 0, max: 400 }),
    bindsReasoning: fc.boolean(),
  });
}

/** A picture beside one question and beside one result, and that result is an error. */
function addPictures(
  list: readonly Step[],
  places: readonly [question: number, result: number] | undefined,
): readonly Step[] {
  if (places === undefined) return list;
  const [question, result] = places;
  return list.map((step, index) => ({
    ...step,
    ...(index === question % list.length ? { showsPicture: true } : {}),
    calls: step.calls.map((call, place) =>
      index === result % list.length && place === 0 ? { ...call, showsPicture: true, hasFailed: true } : call,
    ),
  }));
}

/** The frozen request body of a case, or a bare list where it has no instructions. */
function writeCase({ format, steps: list, damages: broken, instructions }: Case): unknown {
  const { write, system } = stepWriters[format]!;
  const key = findFormat(format)!.listKey;
  const messages = applyDamages(write(list), broken);
  if (instructions === undefined) return deepFreeze(messages);
  if (system === undefined)
    return deepFreeze({ [key]: [{ role: 'system', content: instructions }, ...messages] });
  const text = format === 'gemini' ? { parts: [{ text: instructions }] } : instructions;
  return deepFreeze({ [system]: text, [key]: messages });
}

/** One estimator for all cases: what it remembers goes with the messages it counted. */
const estimator = createTokenEstimator();

/** How many compactions each strategy made in all cases so far. */
export const compactions = new Map<string, number>(eagerStrategies.map(({ name }) => [name, 0]));

/**
 * Has every strategy compact the case twice, and repairs it. A legal list stays legal and keeps what is pinned, a broken
 * one gets no worse; every output can be undone, accounts for all and is never empty; nothing given is changed.
 * @throws Error that names the strategy and what is wrong
 */
export async function checkCase(one: Case): Promise<void> {
  const body = writeCase(one);
  const conversation = findFormat(one.format)!.read(body);
  const original = JSON.stringify(body);
  const isLegal = brokenRules(conversation).size === 0;
  if (one.damages.length === 0 && !isLegal) throw new Error('the generator wrote an illegal list');
  checkRepair(conversation, one.damages.length > 0);
  for (const strategy of eagerStrategies) {
    const { targetTokens, bindsReasoning } = one;
    const context = strategyContext({ estimator, targetTokens, bindsReasoning });
    const change = await compact(conversation, strategy, context);
    if (change === undefined) continue;
    const limit = SUMMARISING.has(strategy.name) ? shortText(conversation, targetTokens) : undefined;
    refuse(strategy.name, [
      ...planFaults(conversation, change, original),
      ...(isLegal ? pinFaults(conversation, change.conversation, { bindsReasoning, limit }) : []),
    ]);
    await compact(change.conversation, strategy, { ...context, targetTokens: targetTokens / 2 });
  }
}

async function compact(
  conversation: Conversation,
  strategy: Strategy,
  context: StrategyContext,
): Promise<Change | undefined> {
  const change = changeOf(await strategy.compact(conversation, context));
  if (change === undefined) return undefined;
  compactions.set(strategy.name, (compactions.get(strategy.name) ?? 0) + 1);
  deepFreeze(writeConversation(change.conversation));
  refuse(strategy.name, faultsOf(conversation, change));
  return change;
}

function refuse(name: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`${name}: ${faults.join('; ')}`);
}

function checkRepair(conversation: Conversation, isDamaged: boolean): void {
  if (conversation.messages.length === 0) return;
  const repaired = ensureToolResultPairing(conversation);
  if (!isDamaged && repaired !== conversation) throw new Error('repair: a sound list was changed');
  if (brokenRules(repaired).size > 0) throw new Error('repair: the list is still illegal');
}

/** The plan by itself gives the same output, and the record of undoing survives a store. */
function planFaults(
  before: Conversation,
  { conversation, plan, undo }: Change,
  original: string,
): readonly string[] {
  const { messages } = applyPlan(before, plan).conversation;
  const isSame = ({ raw }: Message, other: Message | undefined) =>
    raw === other?.raw || JSON.stringify(raw) === JSON.stringify(other?.raw);
  const isRepeated =
    messages.length === conversation.messages.length &&
    messages.every((message, index) => isSame(message, conversation.messages[index]));
  const stored = JSON.parse(JSON.stringify([writeConversation(conversation), undo]));
  const undone = writeConversation(undoPlan(before.format.read(stored[0]), stored[1]));
  return [
    ...(isRepeated ? [] : ['the plan applied again gives another output']),
    ...(JSON.stringify(undone) === original ? [] : ['what was stored cannot be undone']),
  ];
}

/** Strategies that may tell a text of the user's in other words where it would fill the target. */
const SUMMARISING: ReadonlySet<string> = new Set(['summarize', 'ladder', 'collapse']);

/** Tokens up to which they keep it in any case. */
function shortText({ frame }: Conversation, targetTokens: number): number {
  return Math.min(targetTokens / 4, Math.max(0, targetTokens - estimator.countSystem(frame)) / 2);
}

/**
 * The user's first and last text and system messages are the very same values, or stand word for word in front of what a
 * compaction put in.
 */
function pinFaults(
  before: Conversation,
  after: Conversation,
  {
    bindsReasoning,
    limit = Number.POSITIVE_INFINITY,
  }: { readonly bindsReasoning: boolean; readonly limit: number | undefined },
): readonly string[] {
  const isShort = (message: Message | undefined) =>
    message !== undefined && estimator.countMessage(message) <= limit;
  const first = before.messages.filter(isUserText).slice(0, 1).filter(isShort);
  const system = bindsReasoning ? [] : before.messages.filter(({ role }) => role === 'system');
  const isAskedThere = () => {
    const newest = before.messages.findLast(isUserText);
    return !isShort(newest) || newest === undefined || isStillThere(newest, after) || isQuoted(before, after);
  };
  return [...first, ...system].every((message) => isStillThere(message, after)) && isAskedThere()
    ? []
    : ['what is pinned was changed'];
}

/** Whether what the user wrote last is there, without what a harness may have put around it. */
function isQuoted(before: Conversation, after: Conversation): boolean {
  const texts = after.messages.flatMap(({ blocks }) => blocks.map(textOf));
  return lastSentWords(before.messages).every((words) => texts.some((text) => text.includes(words)));
}

function isStillThere({ raw, blocks }: Message, { messages }: Conversation): boolean {
  const words = blocks.map(textOf).join('\n\n');
  const quotes = (text: string) => text === words || text.endsWith(`]\n${words}`);
  return messages.some(
    (message) =>
      message.raw === raw || message.blocks.some((block) => block.type === 'text' && quotes(textOf(block))),
  );
}
