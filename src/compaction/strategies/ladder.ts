import type { Conversation } from '../../conversation/format.ts';
import { addUsage, type Message, type Usage } from '../../conversation/message.ts';
import type { Survival } from '../../memory/facts/facts.ts';
import { requestTokens } from '../../tokens/measure.ts';
import type { Edit } from '../plan/plan.ts';
import type { HandleFor } from '../plan/receipt.ts';
import {
  asBest,
  changeOf,
  defineStrategy,
  finishPlan,
  type NotCompacted,
  notCompacted,
  type Outcome,
  type Strategy,
  type StrategyContext,
} from '../plan/strategy.ts';
import { clearToolResults } from './clear-tool-results.ts';
import { collapseReads } from './collapse-reads.ts';
import { stripMedia } from './strip-media.ts';
import { summarize } from './summarize.ts';

/** The default: what is cheap and local first, a summary last, measured again after each step. */
export const ladder = defineStrategy({
  name: 'ladder',
  summary: 'the cheap and local means first, a summary last, until the target is met',
  options: summarize.options,
  create(values) {
    // Each is climbed from the ground: a summary is made of what was said, not of what a cheaper rung has left of it.
    const ladders = [
      [stripMedia(), collapseReads(), clearToolResults()],
      [stripMedia(), summarize(values)],
    ];
    return {
      name: 'ladder',
      isDue: (conversation, context) =>
        ladders.flat().some((rung) => rung.isDue?.(conversation, context) === true),
      compact: (conversation, context) => climbAll(conversation, context, ladders),
    };
  },
});

/** How far a climb has come. */
interface Climb {
  current: Conversation;
  tokens: number;
  usage: Usage | undefined;
  readonly steps: (readonly Edit[])[];
  readonly climbed: string[];
  survival: readonly Survival[] | undefined;
  /** Why a rung could not do what it should, and whether that is something that went wrong. */
  refusal: NotCompacted | undefined;
}

async function climbAll(
  conversation: Conversation,
  context: StrategyContext,
  ladders: readonly (readonly Strategy[])[],
): Promise<Outcome> {
  const tokens = requestTokens(conversation, context.estimator);
  if (tokens <= context.targetTokens)
    return notCompacted('skipped', 'below-target', 'the request is within its target');
  let best: Climb | undefined;
  let usage: Usage | undefined;
  let refusal: NotCompacted | undefined;
  for (const rungs of ladders) {
    const climb = await climbOne(conversation, context, rungs);
    usage = addUsage(usage, climb.usage);
    refusal = climb.refusal ?? refusal;
    // A later ladder is the better method: it is not given up because it missed the number as well.
    if (best === undefined || climb.steps.length > 0) best = climb;
    if (isWellUsed(best.tokens, context)) break;
  }
  if (best !== undefined && best.steps.length > 0) {
    const { steps, climbed, survival } = best;
    const outcome = finishPlan(conversation, { steps }, context, {
      strategy: 'ladder',
      reason: climbed.join(', '),
      usage,
      survival,
    });
    if (best.tokens <= context.targetTokens) return outcome;
    // What cannot be made small enough is told by the rung that knows what is in the way.
    const { message = `${Math.round(best.tokens)} tokens are left` } = refusal ?? {};
    return asBest(outcome, message);
  }
  if (refusal !== undefined) return { ...refusal, usage };
  const message = 'nothing in this conversation may be made smaller';
  return notCompacted('insufficient', 'nothing-to-do', message, usage);
}

/** Share of the target that a cheap result must leave, if a summary of our own could keep more within it. */
const WELL_USED = 0.8;

/** Whether a result is within its target and has not thrown away much more than was asked for. */
function isWellUsed(tokens: number, { targetTokens, summarizer }: StrategyContext): boolean {
  const least = summarizer.asksModel ? 0 : targetTokens * WELL_USED;
  return tokens <= targetTokens && tokens >= least;
}

async function climbOne(
  conversation: Conversation,
  context: StrategyContext,
  rungs: readonly Strategy[],
): Promise<Climb> {
  const climb: Climb = {
    current: conversation,
    tokens: requestTokens(conversation, context.estimator),
    usage: undefined,
    steps: [],
    climbed: [],
    survival: undefined,
    refusal: undefined,
  };
  // What a rung rewrites a second time can be read again as it was, not as the rung before has left it.
  const { handleFor } = context;
  const originals = new Map<Message, Message>();
  const originalOf = (message: Message) => originals.get(message) ?? message;
  const told: StrategyContext =
    handleFor === undefined ? context : { ...context, handleFor: namingOriginals(handleFor, originalOf) };
  for (const rung of rungs) {
    if (climb.tokens <= context.targetTokens) break;
    const before = climb.current.messages;
    takeRung(climb, rung, await rung.compact(climb.current, told), context);
    const after = climb.current.messages;
    if (after.length !== before.length) continue;
    for (const [index, message] of after.entries()) {
      const was = before[index];
      if (was !== undefined && was !== message) originals.set(message, originalOf(was));
    }
  }
  return climb;
}

function namingOriginals(handleFor: HandleFor, originalOf: (message: Message) => Message): HandleFor {
  const { originalOf: keptAs = (message) => message } = handleFor;
  const naming = (messages: readonly Message[]) => handleFor(messages.map(originalOf));
  return Object.assign(naming, { originalOf: (message: Message) => keptAs(originalOf(message)) });
}

function takeRung(climb: Climb, rung: Strategy, outcome: Outcome, { estimator }: StrategyContext): void {
  climb.usage = addUsage(climb.usage, outcome.usage);
  if (outcome.status === 'failed' || outcome.status === 'insufficient') climb.refusal ??= outcome;
  const change = changeOf(outcome);
  const tokens = change === undefined ? climb.tokens : requestTokens(change.conversation, estimator);
  if (change === undefined || tokens >= climb.tokens) return;
  climb.tokens = tokens;
  climb.current = change.conversation;
  climb.steps.push(...change.plan.steps);
  climb.climbed.push(rung.name);
  climb.survival = change.receipt.survival ?? climb.survival;
}
