/** Reads the argument of /compact and /preview: a strategy and its settings. */

import { notCompacted, type Strategy, type StrategyDefinition } from '../../compaction/plan/strategy.ts';
import { createStrategy, strategies } from '../../compaction/strategies/registry.ts';
import { slidingWindow } from '../../compaction/strategies/sliding-window.ts';
import { safeSplitPoint } from '../../conversation/cuts.ts';
import { RoundfoldError } from '../../conversation/errors.ts';
import { hasToolCall, type Message } from '../../conversation/message.ts';
import { readOptions } from '../../conversation/options.ts';
import type { Chat } from '../chat.ts';
import type { RunByHand } from '../chat-compactor.ts';

const SLIDING = 'sliding';
const SLIDING_KEEPS = 6;
const SUMMARIZE_KEEPS = 4;

/** Names that `/compact` and `/preview` take. */
export function strategyChoices(): readonly string[] {
  return [SLIDING, ...strategies.map(({ name }) => name)];
}

/**
 * The strategy that an argument names; an empty argument means the configured one. Undefined when there is no such
 * strategy or setting, which the user has then been told.
 */
export function readStrategy(argument: string, chat: Chat): RunByHand | undefined {
  const [word = '', ...settings] = splitWords(argument);
  if (word === '') return { strategy: chat.configured() };
  const name = word.toLowerCase() === SLIDING ? 'sliding-window' : word.toLowerCase();
  const definition: StrategyDefinition | undefined = strategies.find((known) => known.name === name);
  if (definition === undefined) {
    const meant = chat.host.nearest(word, strategyChoices());
    const question =
      meant === undefined ? `There are ${strategyChoices().join(', ')}.` : `Did you mean ${meant}?`;
    chat.refuse('no strategy has that name; nothing was changed', question);
    return undefined;
  }
  try {
    const given = readSettings(settings);
    if (word.toLowerCase() === SLIDING)
      return { strategy: slidingTurns({ keepLast: SLIDING_KEEPS, ...given }) };
    return { strategy: createStrategy(name, { ...shortForm(name), ...given }) };
  } catch (error) {
    if (!RoundfoldError.is(error)) throw error;
    chat.refuse(`${error.message}; nothing was changed`, error.remedy);
    return undefined;
  }
}

/** Under its short name a strategy keeps little, so that its effect shows in a short chat. */
function shortForm(name: string): Readonly<Record<string, unknown>> {
  return name === 'summarize' ? { keepRecentMessages: SUMMARIZE_KEEPS, minGain: 0 } : {};
}

/** Words between blanks; from `="` to the next quotation mark at the end of a word it is one. */
function splitWords(text: string): readonly string[] {
  const words: string[] = [];
  let isQuoted = false;
  for (const part of text.split(/\s+/).filter((piece) => piece !== '')) {
    if (isQuoted) words.push(`${words.pop() ?? ''} ${part}`);
    else words.push(part);
    isQuoted = (isQuoted || part.includes('="')) && !/[^=]"$/.test(part);
  }
  return words;
}

function readSettings(words: readonly string[]): Readonly<Record<string, string>> {
  const entries = words.map((word) => {
    const place = word.indexOf('=');
    if (place > 0) return [word.slice(0, place), withoutQuotes(word.slice(place + 1))];
    throw new RoundfoldError('usage', `${JSON.stringify(word.slice(0, 40))} is no setting`, {
      remedy: 'A setting is written key=value, or key="several words".',
    });
  });
  return Object.fromEntries(entries);
}

function withoutQuotes(value: string): string {
  return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}

const { name, options } = slidingWindow;

/**
 * The window of somebody who reads along: it begins with a question, so that no answer stays without it. Where one turn is
 * longer than the window there is none; then it begins with a call.
 * @throws RoundfoldError `usage` for settings that a window does not take
 */
function slidingTurns(settings: Readonly<Record<string, unknown>>): Strategy {
  const { keepLast } = readOptions(options, settings, name);
  return {
    name,
    async compact(conversation, context) {
      const { messages } = conversation;
      const wanted = messages.length - keepLast;
      const start = wanted <= 0 ? wanted : windowStart(messages, wanted);
      if (wanted > 0 && start <= 0) {
        const message = `the last ${keepLast} messages cannot be parted from those before them`;
        return notCompacted('skipped', 'nothing-to-drop', message);
      }
      return slidingWindow({ keepLast: messages.length - start }).compact(conversation, context);
    },
  };
}

/** The latest question at or before `wanted`, else the latest call; 0 when there is neither. */
function windowStart(messages: readonly Message[], wanted: number): number {
  const question = safeSplitPoint(messages, wanted);
  if (question > 0) return question;
  return Math.max(
    0,
    messages.findLastIndex((message, index) => index <= wanted && hasToolCall(message)),
  );
}
