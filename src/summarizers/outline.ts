import {
  isUserText,
  type Message,
  type ToolCallBlock,
  type ToolResultBlock,
  textOf,
} from '../core/message.ts';
import type { Summarizer, SummaryOutcome, SummaryRequest } from '../core/summarizer.ts';
import { readSummaryMessage } from '../core/summary-message.ts';
import { linkTools } from '../core/tool-links.ts';
import { callTarget } from './call-text.ts';
import { shorten } from './shorten.ts';
import { judgeSize } from './write-summary.ts';

/**
 * The summarizer that needs no model: the user's words, the calls with their file or command and how they ended, the
 * first and last lines of results, and the errors. The same messages always give the same outline, within
 * `maximumTokens`. Instructions do nothing here: there is nobody to follow them.
 */
export const outline: Summarizer = {
  name: 'outline',
  asksModel: false,
  summarize: async (request) => outlineOf(request),
};

function outlineOf(request: SummaryRequest): SummaryOutcome {
  if (request.signal?.aborted === true) {
    return { status: 'failed', reason: 'aborted', message: 'the run was aborted', usage: undefined };
  }
  const text = write(collectParts(request), request);
  const rejection = judgeSize(text, request);
  return rejection === undefined
    ? { status: 'summarized', text, usage: undefined }
    : { status: 'failed', ...rejection, usage: undefined };
}

/** A heading with lines under it. */
interface Part {
  readonly heading: string;
  readonly lines: readonly string[];
  /** Part of the tokens that it may take; what it leaves is for those after it. */
  readonly share: number;
  /** Part of its own tokens that is spent on the first lines; the rest goes to the last ones. */
  readonly headShare: number;
}

const LONGEST = { user: 1200, target: 160, line: 160, previous: 8000, answer: 400 };

function collectParts({ messages, previousSummary, maximumTokens }: SummaryRequest): readonly Part[] {
  const tools = describeTools(messages);
  const previous = previousSummary?.trim() ?? '';
  // A message of the user's takes a seventh of a small outline at most.
  const userCharacters = Math.min(LONGEST.user, Math.max(80, Math.floor(maximumTokens * 0.6)));
  return [
    {
      heading: 'Before that:',
      lines: previous === '' ? [] : [shorten(previous, Math.min(LONGEST.previous, maximumTokens))],
      share: 0.3,
      headShare: 1,
    },
    {
      heading: 'The user wrote:',
      lines: messages.flatMap((message) => userLines(message, userCharacters)),
      share: 0.5,
      headShare: 0.3,
    },
    { heading: 'Errors:', lines: tools.errors, share: 0.3, headShare: 0.2 },
    { heading: 'Tool calls:', lines: tools.calls, share: 0.8, headShare: 0.2 },
    { heading: 'The assistant said last:', lines: lastAnswer(messages), share: 1, headShare: 1 },
  ];
}

function userLines(message: Message, limit: number): readonly string[] {
  if (!isUserText(message) || readSummaryMessage(message) !== undefined) return [];
  const texts = message.blocks.map((block) => (block.type === 'text' ? block.text.trim() : ''));
  return texts.filter((text) => text !== '').map((text) => `- ${indent(shorten(text, limit))}`);
}

function lastAnswer(messages: readonly Message[]): readonly string[] {
  const last = messages.findLast(
    ({ role, blocks }) => role === 'assistant' && blocks.some((block) => block.type === 'text'),
  );
  const text = last?.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n') ?? '';
  return text.trim() === '' ? [] : [`- ${indent(shorten(text.trim(), LONGEST.answer))}`];
}

function indent(text: string): string {
  return text.split('\n').join('\n  ');
}

interface ToolLines {
  readonly calls: readonly string[];
  readonly errors: readonly string[];
}

function describeTools(messages: readonly Message[]): ToolLines {
  const results = new Map<ToolCallBlock, ToolResultBlock>();
  for (const { call, result } of linkTools(messages).pairs) {
    const asked = messages[call.message]?.blocks[call.block];
    const answered = messages[result.message]?.blocks[result.block];
    if (asked?.type === 'tool-call' && answered?.type === 'tool-result') results.set(asked, answered);
  }
  const calls: string[] = [];
  const errors: string[] = [];
  for (const block of messages.flatMap(({ blocks }) => blocks)) {
    if (block.type !== 'tool-call') continue;
    const result = results.get(block);
    const line = describeCall(block, result);
    if (result?.isError === true) errors.push(line);
    else calls.push(line);
  }
  return { calls, errors };
}

function describeCall(call: ToolCallBlock, result: ToolResultBlock | undefined): string {
  const target = shorten(oneLine(callTarget(call)), LONGEST.target);
  const head = `- ${call.name}${target === '' ? '' : ` ${target}`}`;
  if (result === undefined) return `${head}: no result`;
  const status = result.isError ? 'failed' : 'ok';
  const shown = edgesOf(result);
  return shown === '' ? `${head}: ${status}` : `${head}: ${status}: ${shown}`;
}

/** The first and the last line of a result that are not blank. */
function edgesOf(result: ToolResultBlock): string {
  const text = textOf(result).trim();
  const first = text.slice(0, indexOrEnd(text.indexOf('\n'), text)).trim();
  const last = text.slice(text.lastIndexOf('\n') + 1).trim();
  const edges = first === last ? [first] : [first, last];
  return edges.map((line) => shorten(line, LONGEST.line)).join(' … ');
}

function indexOrEnd(index: number, text: string): number {
  return index < 0 ? text.length : index;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Gives each part its share of the tokens, and what it leaves to those after it. */
function write(parts: readonly Part[], { estimator, maximumTokens }: SummaryRequest): string {
  const written: string[] = [];
  let left = maximumTokens;
  for (const part of parts) {
    if (part.lines.length === 0) continue;
    const cost = (line: string) => estimator.countText(line) + 1;
    const lines = selectLines(part, left * part.share - cost(part.heading), cost);
    if (lines.length === 0) continue;
    const text = [part.heading, ...lines].join('\n');
    left -= cost(text);
    written.push(text);
  }
  return written.join('\n\n');
}

/** The first lines and the last ones as far as the tokens go, with a note of how many are missing between them. */
function selectLines(part: Part, budgetTokens: number, cost: (line: string) => number): readonly string[] {
  const { lines } = part;
  let head = 0;
  let spent = 0;
  const total = budgetTokens - cost('(1000000 more left out)');
  while (head < lines.length && spent + cost(lines[head] ?? '') <= total * part.headShare) {
    spent += cost(lines[head] ?? '');
    head++;
  }
  let tail = lines.length;
  while (tail > head && spent + cost(lines[tail - 1] ?? '') <= total) {
    spent += cost(lines[tail - 1] ?? '');
    tail--;
  }
  const missing = tail - head;
  if (missing === lines.length) return [];
  const gap = missing === 0 ? [] : [`(${missing} more left out)`];
  return [...lines.slice(0, head), ...gap, ...lines.slice(tail)];
}
