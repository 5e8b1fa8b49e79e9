import type { Conversation } from '../../conversation/format.ts';
import type { Summarizer, SummaryFailure, SummaryOutcome } from '../../memory/summary-request.ts';
import {
  type CompactTrigger,
  notCompacted,
  type Outcome,
  type Strategy,
  type StrategyContext,
} from '../plan/strategy.ts';
import { decorate, errorText } from './decorate.ts';

/** The run that a hook is called for. */
export interface HookRun {
  /** Name of the strategy. */
  readonly strategy: string;
  readonly conversation: Conversation;
  readonly trigger: CompactTrigger;
  readonly targetTokens: number;
  readonly signal: AbortSignal | undefined;
}

/** What a hook wants of a run: none at all, or something of its summary. Nothing given is as if there was no hook. */
export type HookDecision =
  | {
      /** Why there shall be no run, for people. */
      readonly skip: string;
    }
  | {
      /** Added to what the summary shall look after. */
      readonly instructions?: string | undefined;
      /** Taken as the summary, within the same limit; no summarizer is asked. */
      readonly summary?: string | undefined;
    };

type MaybePromise<Value> = Value | Promise<Value>;

export interface Hooks {
  readonly before?: ((run: HookRun) => MaybePromise<HookDecision | undefined>) | undefined;
  /** Sees what came of every run, a skipped one too. It cannot change it, and is waited for. */
  readonly after?: ((outcome: Outcome, run: HookRun) => MaybePromise<unknown>) | undefined;
}

/**
 * Calls hooks around every run. A run that `before` does not want is `skipped` with `skipped-by-hook`. When a hook throws,
 * the run is `failed` with `hook-failed` and nothing is changed.
 */
export function withHooks(inner: Strategy, { before, after }: Hooks): Strategy {
  return decorate(inner, async (conversation, context) => {
    const { trigger, targetTokens, signal } = context;
    const run: HookRun = { strategy: inner.name, conversation, trigger, targetTokens, signal };
    let decision: HookDecision | undefined;
    try {
      decision = await before?.(run);
    } catch (error) {
      return notCompacted('failed', 'hook-failed', failedText(inner.name, 'before', error));
    }
    const outcome =
      decision !== undefined && 'skip' in decision
        ? notCompacted('skipped', 'skipped-by-hook', `${inner.name}: ${decision.skip}`)
        : await inner.compact(conversation, decide(context, decision));
    try {
      await after?.(Object.freeze({ ...outcome }), run);
    } catch (error) {
      const message = failedText(inner.name, 'after', error);
      return notCompacted('failed', 'hook-failed', message, outcome.usage);
    }
    return outcome;
  });
}

function failedText(name: string, hook: keyof Hooks, error: unknown): string {
  return `${name}: the ${hook} hook failed (${errorText(error)}); the conversation is as it was`;
}

function decide(
  context: StrategyContext,
  { instructions, summary }: Exclude<HookDecision, { skip: string }> = {},
): StrategyContext {
  if (summary !== undefined) return { ...context, summarizer: saying(summary) };
  if (instructions === undefined || instructions.trim() === '') return context;
  return { ...context, summarizer: instructed(context.summarizer, instructions) };
}

/** A summarizer that knows its summary already. */
function saying(text: string): Summarizer {
  return {
    name: 'hook',
    asksModel: false,
    async summarize({ estimator, maximumTokens }) {
      if (text.trim() === '') return failed('empty', 'the summary of the hook is empty');
      const tokens = Math.ceil(estimator.countText(text));
      return tokens > maximumTokens
        ? failed('too-large', `the summary of the hook has ${tokens} tokens, more than ${maximumTokens}`)
        : { status: 'summarized', text, usage: undefined };
    },
  };
}

function failed(reason: SummaryFailure, message: string): SummaryOutcome {
  return { status: 'failed', reason, message, usage: undefined };
}

function instructed(summarizer: Summarizer, added: string): Summarizer {
  return {
    ...summarizer,
    summarize: (request) => {
      const instructions = request.instructions === undefined ? added : `${request.instructions}\n\n${added}`;
      return summarizer.summarize({ ...request, instructions });
    },
  };
}
