import type { Edit, Fate } from './edit.ts';
import { RoundfoldError } from './errors.ts';
import type { Format } from './format.ts';
import type { Block, Message } from './message.ts';

/** A list after one step of a plan. */
export interface StepResult {
  readonly messages: readonly Message[];
  /** For each message the index it had before the step; -1 for one that was made. */
  readonly origins: readonly number[];
  /** What became of each message that was there before. */
  readonly fates: readonly Fate[];
}

/**
 * Makes all edits of one step.
 * @throws RoundfoldError `usage` when edits overlap or point outside the list
 */
export function applyStep(messages: readonly Message[], edits: readonly Edit[], format: Format): StepResult {
  const sorted = sortEdits(edits, messages);
  const builder = new ListBuilder(messages, format);
  for (let index = 0, next = 0; index <= messages.length; ) {
    for (const text of sorted.inserts.get(index) ?? []) builder.say(text);
    const range = sorted.ranges[next];
    if (range?.start === index) {
      if (range.type === 'summarize') builder.say(range.text);
      const isSummarised = range.type === 'summarize' || range.isSummarised === true;
      builder.leave(range.start, range.end, isSummarised ? 'summarised' : 'dropped');
      index = range.end;
      next++;
    } else {
      builder.keep(index, sorted.inside.get(index));
      index++;
    }
  }
  return builder.finish(firstChange(sorted));
}

type Range = Extract<Edit, { start: number }>;
type BlockEdit = Extract<Edit, { block: number }>;

interface SortedEdits {
  readonly ranges: readonly Range[];
  readonly inserts: ReadonlyMap<number, readonly string[]>;
  readonly inside: ReadonlyMap<number, readonly BlockEdit[]>;
}

class ListBuilder {
  private readonly before: readonly Message[];
  private readonly format: Format;
  private readonly messages: Message[] = [];
  private readonly origins: number[] = [];
  private readonly fates: Fate[];

  constructor(before: readonly Message[], format: Format) {
    this.before = before;
    this.format = format;
    this.fates = before.map(() => 'verbatim');
  }

  say(text: string): void {
    for (const message of this.format.userMessages([this.format.textBlock(text)])) {
      this.messages.push(message);
      this.origins.push(-1);
    }
  }

  leave(start: number, end: number, fate: Fate): void {
    this.fates.fill(fate, start, end);
  }

  keep(index: number, edits: readonly BlockEdit[] | undefined): void {
    const message = this.before[index];
    if (message === undefined) return;
    const edited = edits === undefined ? message : editBlocks(message, edits, this.format);
    if (edited !== message) this.fates[index] = edited.blocks.length === 0 ? 'dropped' : 'reduced';
    // No provider takes a message without content.
    if (edited !== message && edited.blocks.length === 0) return;
    this.messages.push(edited);
    this.origins.push(index);
  }

  /** What a provider reported for the longer context is not true of the shorter one, from the first change on. */
  finish(firstChanged: number): StepResult {
    const messages = this.messages.map((message, place) => {
      const isBehind = (this.origins[place] ?? -1) >= firstChanged;
      return isBehind && message.usage !== undefined ? { ...message, usage: undefined } : message;
    });
    return { messages, origins: this.origins, fates: this.fates };
  }
}

function sortEdits(edits: readonly Edit[], messages: readonly Message[]): SortedEdits {
  const { length } = messages;
  const ranges = edits
    .filter((edit) => edit.type === 'drop' || edit.type === 'summarize')
    .toSorted((left, right) => left.start - right.start);
  for (const [index, { start, end }] of ranges.entries()) {
    const isWhole = Number.isInteger(start) && Number.isInteger(end);
    const isSound = isWhole && end > start && end <= length && start >= (ranges[index - 1]?.end ?? 0);
    if (!isSound) throw badPlan(`messages ${start} to ${end}`);
  }
  const inserts = new Map<number, string[]>();
  const inside = new Map<number, BlockEdit[]>();
  for (const edit of edits) {
    if (edit.type === 'insert') append(inserts, check(edit.before, length), edit.text);
    if (edit.type === 'rewrite' || edit.type === 'strip')
      append(inside, check(edit.message, length - 1), edit);
  }
  refuseInsideRanges(ranges, [...inserts.keys()], [...inside.keys()]);
  for (const [index, own] of inside) refuseBadBlocks(own, messages[index]?.blocks ?? []);
  return { ranges, inserts, inside };
}

/** Nothing can be put into, or changed in, what leaves. */
function refuseInsideRanges(
  ranges: readonly Range[],
  inserts: readonly number[],
  inside: readonly number[],
): void {
  for (const { start, end } of ranges) {
    const lost =
      inserts.find((index) => index > start && index < end) ??
      inside.find((index) => index >= start && index < end);
    if (lost !== undefined) throw badPlan(`message ${lost}`);
  }
}

/** Every edit finds its block, and no two edits the same one. */
function refuseBadBlocks(edits: readonly BlockEdit[], blocks: readonly Block[]): void {
  const places = new Set<string>();
  for (const edit of edits) {
    const block = blocks[edit.block];
    const inner = edit.type === 'strip' ? edit.inner : undefined;
    const isThere =
      block !== undefined &&
      (edit.type !== 'rewrite' || block.type === 'tool-result') &&
      (inner === undefined || (block.type === 'tool-result' && block.content[inner] !== undefined));
    const place = `${edit.block} ${inner}`;
    const whole = `${edit.block} ${undefined}`;
    const overlaps =
      places.has(place) || places.has(whole) || (inner === undefined && hasInner(places, edit.block));
    if (!isThere || overlaps) throw badPlan(`block ${edit.block} of message ${edit.message}`);
    places.add(place);
  }
}

function hasInner(places: ReadonlySet<string>, block: number): boolean {
  return [...places].some((place) => place.startsWith(`${block} `));
}

function check(index: number, limit: number): number {
  if (!Number.isInteger(index) || index < 0 || index > limit) throw badPlan(`message ${index}`);
  return index;
}

function badPlan(place: string): RoundfoldError {
  return new RoundfoldError('usage', `the plan does not fit this conversation: ${place}`, {
    remedy: 'Apply a plan only to the conversation it was made for.',
  });
}

function append<Item>(lists: Map<number, Item[]>, index: number, item: Item): void {
  const list = lists.get(index);
  if (list === undefined) lists.set(index, [item]);
  else list.push(item);
}

function firstChange({ ranges, inserts, inside }: SortedEdits): number {
  let first = ranges[0]?.start ?? Number.POSITIVE_INFINITY;
  for (const index of inserts.keys()) first = Math.min(first, index);
  for (const index of inside.keys()) first = Math.min(first, index);
  return first;
}

function editBlocks(message: Message, edits: readonly BlockEdit[], format: Format): Message {
  const blocks = message.blocks.flatMap((block, index): readonly Block[] => {
    // Inner blocks go from the back, so that the places of those before stay true.
    const own = edits
      .filter((edit) => edit.block === index)
      .toSorted((left, right) => innerOf(right) - innerOf(left));
    return own.reduce<readonly Block[]>(
      (kept, edit) => kept.flatMap((each) => editBlock(each, edit, format)),
      [block],
    );
  });
  const isSame =
    blocks.length === message.blocks.length &&
    blocks.every((block, index) => block === message.blocks[index]);
  return isSame ? message : format.withBlocks(message, blocks);
}

function innerOf(edit: BlockEdit): number {
  return edit.type === 'strip' ? (edit.inner ?? -1) : -1;
}

function editBlock(block: Block, edit: BlockEdit, format: Format): readonly Block[] {
  if (edit.type === 'rewrite') {
    return block.type === 'tool-result'
      ? [format.withResultContent(block, [format.textBlock(edit.text)])]
      : [block];
  }
  const substitute = edit.text === undefined ? [] : [format.textBlock(edit.text)];
  if (edit.inner === undefined) return substitute;
  if (block.type !== 'tool-result') return [block];
  const content = block.content.flatMap((inner, index) => (index === edit.inner ? substitute : [inner]));
  return [format.withResultContent(block, content)];
}
