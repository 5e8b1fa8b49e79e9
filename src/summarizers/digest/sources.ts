import { demandsOf } from '../../core/demands.ts';
import { type Message, type ToolCallBlock, type ToolResultBlock, textOf } from '../../core/message.ts';
import { isHandover, segmentsOf } from '../../core/own-words.ts';
import { groupRounds } from '../../core/rounds.ts';
import { readSummaryMessage } from '../../core/summary-message.ts';
import { linkTools } from '../../core/tool-links.ts';
import { type CallEffects, effectsOf, type ToolKind } from './call-effects.ts';
import { isPlain, resultLines, statusOf, withoutNumber } from './result-lines.ts';
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
  /** Set where the lines are those of a text, which then need not be taken apart. */
  readonly text?: string | undefined;
  /** Whether numbers stand before the lines of that text, which are no part of them. */
  readonly isNumbered?: boolean | undefined;
  /** Set for what an earlier digest tells: where it stood, in characters from the beginning. */
  readonly at?: number | undefined;
}

/** What a digest stands for, earlier digests included. What stays beside it does not count. */
export interface Coverage {
  /** Rounds of the original conversation. */
  readonly rounds: number;
  readonly characters: number;
  /** Whether a summary is among it that does not tell how many rounds it stood for. */
  readonly hasOtherSummary: boolean;
}

/** All that a digest is made from, in order. */
export interface Material {
  readonly sources: readonly Source[];
  readonly covered: Coverage;
  /** Rounds by which places are told, those of messages that stay included. */
  readonly rounds: number;
  /** Characters that an earlier digest stands for. */
  readonly earlierCharacters: number;
  /** Demands of the user's, in their order. */
  readonly demands: readonly string[];
  /** How tools were called. */
  readonly habits: readonly string[];
}

/**
 * Characters of the newest results that are read. What tools said and wrote before them is told by their calls alone, errors
 * aside: in so long a conversation next to nothing of it would be chosen, and reading it would be most of the work.
 */
const RESULT_CHARACTERS = 400_000;

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
  const readFrom = newestResultsStart(messages);
  for (const [index, message] of messages.entries())
    collector.add(message, { isKept: isKept(message), isRead: index >= readFrom });
  return collector.material(coveredRounds(messages, isKept));
}

/** How many rounds leave: those of which the response does. */
function coveredRounds(messages: readonly Message[], isKept: (message: Message) => boolean): number {
  return groupRounds(messages).filter(({ kind, start }) => {
    const response = messages[start];
    return kind === 'response' && response !== undefined && !isKept(response);
  }).length;
}

/** Index of the first message whose results are read. */
function newestResultsStart(messages: readonly Message[]): number {
  let left = RESULT_CHARACTERS;
  for (let index = messages.length - 1; index >= 0; index--) {
    for (const block of messages[index]?.blocks ?? []) {
      if (block.type === 'tool-result') left -= textOf(block).length;
    }
    if (left < 0) return index + 1;
  }
  return 0;
}

const RESULT_ORIGINS: Readonly<Record<ToolKind, number>> = {
  read: ORIGIN.read,
  write: ORIGIN.result,
  shell: ORIGIN.shell,
  search: ORIGIN.search,
  plan: ORIGIN.result,
  other: ORIGIN.result,
};

/** Heading of what others wrote in messages of the user's: documents, sources, what a harness adds. */
const ATTACHED = 'attached to a message';

const NOTHING_COVERED: Coverage = { rounds: 0, characters: 0, hasOtherSummary: false };

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
  private readonly earlier: Coverage;
  private characters = 0;
  private round: number;
  private lastRole = '';
  private isKept = false;
  private isRead = true;
  private unreadCharacters = 0;

  constructor(callOf: ReadonlyMap<ToolResultBlock, ToolCallBlock>, earlier: Material | undefined) {
    this.callOf = callOf;
    this.sources = [...(earlier?.sources ?? [])];
    this.round = earlier?.rounds ?? 0;
    this.earlierCharacters = earlier?.earlierCharacters ?? 0;
    this.earlier = earlier?.covered ?? NOTHING_COVERED;
    this.demands = new Set(earlier?.demands);
    for (const line of earlier?.habits ?? []) this.habits.addLine(line);
    for (const { group } of this.sources) if (group.kind === 'file') this.files.set(group.title, group);
  }

  material(coveredRounds: number): Material {
    const { sources, round, demands, habits, earlier } = this;
    const covered = {
      rounds: earlier.rounds + coveredRounds,
      characters: earlier.characters + this.characters,
      hasOtherSummary: earlier.hasOtherSummary,
    };
    const earlierCharacters = this.earlierCharacters + this.unreadCharacters;
    const said = { demands: [...demands], habits: habits.lines() };
    return { sources, covered, rounds: round, earlierCharacters, ...said };
  }

  add(message: Message, { isKept, isRead }: { readonly isKept: boolean; readonly isRead: boolean }): void {
    if (readSummaryMessage(message) !== undefined) return;
    if (message.role === 'assistant' && this.lastRole !== 'assistant') this.round++;
    this.lastRole = message.role;
    this.isKept = isKept;
    this.isRead = isRead;
    const group = this.open(message.role === 'assistant' ? 'said' : 'user', '');
    for (const block of message.blocks) {
      if (block.type === 'tool-call') this.addCall(block);
      else if (block.type === 'tool-result') this.addResult(block);
      else if (block.type === 'reasoning') this.pushText(ORIGIN.thought, group, block.text);
      else if (message.role === 'assistant') this.pushText(ORIGIN.said, group, textOf(block));
      else if (message.role !== 'user') continue;
      else if (block.type === 'text') this.addUserText(block.text, group);
      else this.addAttached(textOf(block), ORIGIN.read);
    }
  }

  /** The user's own words and what they pasted; what others wrote is told apart from them. */
  private addUserText(text: string, group: Group): void {
    if (isHandover(text)) {
      this.pushText(ORIGIN.said, this.open('said', ''), text);
      return;
    }
    const segments = segmentsOf(text);
    const attached = segments.filter(({ by }) => by === 'wrapped');
    const users = segments.filter(({ by }) => by !== 'wrapped').map((segment) => segment.text);
    if (attached.length === 0) this.pushText(ORIGIN.user, group, text);
    else if (users.some((part) => part.trim() !== '')) this.pushText(ORIGIN.user, group, users.join('\n'));
    for (const part of attached) this.addAttached(part.text, ORIGIN.result);
    if (this.isKept) return;
    for (const { by, text: words } of segments) {
      if (by === 'own') for (const demand of demandsOf(words)) this.demands.add(demand);
    }
  }

  private addAttached(text: string, origin: number): void {
    if (text.trim() !== '') this.pushText(origin, this.open('call', ATTACHED), text);
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
      if (!this.isRead) continue;
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
    const origin = RESULT_ORIGINS[kind];
    if (!this.isRead && !result.isError) {
      this.unreadCharacters += text.length;
      this.count(text.length);
    } else if (isPlain(text))
      this.pushText(origin, group, text, { isNumbered: kind === 'read', isError: result.isError });
    else this.push(origin, group, resultLines(text, kind === 'read'), result.isError);
  }

  private open(kind: Group['kind'], title: string): Group {
    return { kind, title, round: this.round, isFailed: false, changes: 0, status: '' };
  }

  private count(characters: number): void {
    if (!this.isKept) this.characters += characters;
  }

  private push(origin: number, group: Group, lines: readonly string[], isError = false): void {
    for (const line of lines) this.count(line.length + 1);
    this.sources.push({ origin, group, lines, isError, round: this.round, isKept: this.isKept });
  }

  private pushText(
    origin: number,
    group: Group,
    text: string,
    { isNumbered = false, isError = false }: { isNumbered?: boolean; isError?: boolean } = {},
  ): void {
    const { round, isKept } = this;
    this.count(text.length);
    this.sources.push(new TextSource({ origin, group, text, isNumbered, isError, round, isKept }));
  }
}

/** A text with a place. Its lines are taken apart where somebody asks for them. */
class TextSource implements Source {
  readonly origin: number;
  readonly group: Group;
  readonly round: number;
  readonly text: string;
  readonly isNumbered: boolean;
  readonly isError: boolean;
  readonly isKept: boolean;

  constructor({ origin, group, round, text, isNumbered, isError, isKept }: Omit<TextSource, 'lines'>) {
    this.origin = origin;
    this.group = group;
    this.round = round;
    this.text = text;
    this.isNumbered = isNumbered;
    this.isError = isError;
    this.isKept = isKept;
  }

  get lines(): readonly string[] {
    const lines = this.text.split('\n');
    return this.isNumbered ? lines.map(withoutNumber) : lines;
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
