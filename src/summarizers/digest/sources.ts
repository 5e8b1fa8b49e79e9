import { demandsIn } from '../../core/demands.ts';
import { type Message, type ToolCallBlock, type ToolResultBlock, textOf } from '../../core/message.ts';
import { readSummaryMessage } from '../../core/summary-message.ts';
import { linkTools } from '../../core/tool-links.ts';
import { type CallEffects, effectsOf, type ToolKind } from './call-effects.ts';
import { resultLines, statusOf } from './result-lines.ts';
import { ToolHabits } from './tool-habits.ts';

/** Where lines come from. Their numbers are part of the fitted weights. */
export const ORIGIN = {
  user: 0,
  said: 1,
  thought: 2,
  argument: 3,
  removed: 4,
  written: 5,
  read: 6,
  shell: 7,
  search: 8,
  result: 9,
  plan: 10,
} as const;

/** What lines are shown under: a file, a call, a message. It changes only while the material is collected. */
export interface Group {
  readonly kind: 'user' | 'plan' | 'file' | 'call' | 'said';
  /** What the heading says: the path, or the call; empty for messages. */
  readonly title: string;
  /** Round of its newest lines. */
  round: number;
  isFailed: boolean;
  /** How often the file was changed. */
  changes: number;
  /** What the tool said of the last change. */
  status: string;
}

/** A text with a place, line by line. */
export interface Source {
  readonly origin: number;
  readonly group: Group;
  readonly round: number;
  readonly lines: readonly string[];
  readonly isError: boolean;
  /** Stays in the request as it is, so that nothing of it has to be told again. */
  readonly isKept: boolean;
  /** Set for what an earlier digest tells: where it stood, in characters from the beginning. */
  readonly at?: number | undefined;
}

/** All that a digest is made from, in order. */
export interface Material {
  readonly sources: readonly Source[];
  readonly rounds: number;
  /** Characters that an earlier digest stands for. */
  readonly earlierCharacters: number;
  /** Demands of the user's, in their order. */
  readonly demands: readonly string[];
  /** How tools were called. */
  readonly habits: readonly string[];
}

/**
 * Collects what a list of messages says, block by block, behind what an earlier digest told. `isKept` tells which of the
 * messages stay in the request.
 */
export function collectSources(
  messages: readonly Message[],
  isKept: (message: Message) => boolean,
  earlier?: Material,
): Material {
  const collector = new Collector(linkResults(messages), earlier);
  for (const message of messages) collector.add(message, isKept(message));
  return collector.material();
}

const RESULT_ORIGINS: Readonly<Record<ToolKind, number>> = {
  read: ORIGIN.read,
  write: ORIGIN.result,
  shell: ORIGIN.shell,
  search: ORIGIN.search,
  plan: ORIGIN.result,
  other: ORIGIN.result,
};

interface OpenCall {
  readonly effects: CallEffects;
  readonly group: Group;
}

class Collector {
  private readonly sources: Source[];
  private readonly demands: Set<string>;
  private readonly habits = new ToolHabits();
  private readonly files = new Map<string, Group>();
  private readonly calls = new Map<ToolCallBlock, OpenCall>();
  private readonly callOf: ReadonlyMap<ToolResultBlock, ToolCallBlock>;
  private readonly earlierCharacters: number;
  private round: number;
  private lastRole = '';
  private isKept = false;

  constructor(callOf: ReadonlyMap<ToolResultBlock, ToolCallBlock>, earlier: Material | undefined) {
    this.callOf = callOf;
    this.sources = [...(earlier?.sources ?? [])];
    this.round = earlier?.rounds ?? 0;
    this.earlierCharacters = earlier?.earlierCharacters ?? 0;
    this.demands = new Set(earlier?.demands);
    for (const line of earlier?.habits ?? []) this.habits.addLine(line);
    for (const { group } of this.sources) if (group.kind === 'file') this.files.set(group.title, group);
  }

  material(): Material {
    const { sources, round, earlierCharacters, demands, habits } = this;
    return { sources, rounds: round, earlierCharacters, demands: [...demands], habits: habits.lines() };
  }

  add(message: Message, isKept: boolean): void {
    if (readSummaryMessage(message) !== undefined) return;
    if (message.role === 'assistant' && this.lastRole !== 'assistant') this.round++;
    this.lastRole = message.role;
    this.isKept = isKept;
    const group = this.open(message.role === 'assistant' ? 'said' : 'user', '');
    for (const block of message.blocks) {
      if (block.type === 'tool-call') this.addCall(block);
      else if (block.type === 'tool-result') this.addResult(block);
      else if (block.type === 'reasoning') this.push(ORIGIN.thought, group, block.text.split('\n'));
      else if (message.role === 'assistant') this.push(ORIGIN.said, group, textOf(block).split('\n'));
      else if (message.role === 'user') this.addUserText(textOf(block), group);
    }
  }

  private addUserText(text: string, group: Group): void {
    this.push(ORIGIN.user, group, text.split('\n'));
    if (this.isKept) return;
    for (const demand of demandsIn(text)) this.demands.add(demand);
  }

  private addCall(call: ToolCallBlock): void {
    this.habits.add(call);
    const effects = effectsOf(call);
    const group = this.groupOf(effects);
    this.calls.set(call, { effects, group });
    // The path of a file is its heading; a call to it counts as a mention even without a line of its own.
    const lines = group.kind === 'file' ? [] : effects.lines;
    this.push(effects.kind === 'plan' ? ORIGIN.plan : ORIGIN.argument, group, lines);
    for (const { path, removed, written } of effects.changes) {
      const file = this.fileGroup(path);
      file.changes++;
      if (removed.length > 0) this.push(ORIGIN.removed, file, removed);
      if (written.length > 0) this.push(ORIGIN.written, file, written);
    }
  }

  private groupOf({ kind, path, title }: CallEffects): Group {
    if (kind === 'plan') return this.open('plan', title);
    return path === undefined ? this.open('call', title) : this.fileGroup(path);
  }

  private fileGroup(path: string): Group {
    const group = this.files.get(path) ?? this.open('file', path);
    this.files.set(path, group);
    group.round = this.round;
    return group;
  }

  private addResult(result: ToolResultBlock): void {
    const call = this.callOf.get(result);
    const open = call === undefined ? undefined : this.calls.get(call);
    const group = open?.group ?? this.open('call', result.name ?? 'result');
    const kind = open?.effects.kind ?? 'other';
    const text = textOf(result);
    if (result.isError && group.kind === 'call') group.isFailed = true;
    if (kind === 'write' && !result.isError) group.status = statusOf(text, group.title);
    this.push(RESULT_ORIGINS[kind], group, resultLines(text, kind === 'read'), result.isError);
  }

  private open(kind: Group['kind'], title: string): Group {
    return { kind, title, round: this.round, isFailed: false, changes: 0, status: '' };
  }

  private push(origin: number, group: Group, lines: readonly string[], isError = false): void {
    this.sources.push({ origin, group, lines, isError, round: this.round, isKept: this.isKept });
  }
}

function linkResults(messages: readonly Message[]): ReadonlyMap<ToolResultBlock, ToolCallBlock> {
  const callOf = new Map<ToolResultBlock, ToolCallBlock>();
  for (const { call, result } of linkTools(messages).pairs) {
    const asked = messages[call.message]?.blocks[call.block];
    const answered = messages[result.message]?.blocks[result.block];
    if (asked?.type === 'tool-call' && answered?.type === 'tool-result') callOf.set(answered, asked);
  }
  return callOf;
}
