import type { Message, Role } from '../../conversation/message.ts';
import { modelHabits } from './anthropic-models.ts';
import type { MendContext } from './mender.ts';
import { SYSTEM_MARK } from './raw-message.ts';

/**
 * System messages stand directly behind a user message (or behind the result of a provider's own tool), and last or before
 * an answer. One that a user message follows goes behind that; any other, and all of them for models that take none, becomes
 * a user message that says what it was.
 */
export function placeSystemMessages(messages: readonly Message[], context: MendContext): readonly Message[] {
  if (!messages.some(({ role }) => role === 'system')) return messages;
  const placer = new SystemPlacer(context);
  const followers = rolesThatFollow(messages);
  for (const [index, message] of messages.entries()) placer.add(message, followers[index]);
  return placer.end();
}

/** For each message who speaks next, system messages not counted; undefined at the end. */
function rolesThatFollow(messages: readonly Message[]): readonly (Role | undefined)[] {
  const roles: (Role | undefined)[] = [];
  let next: Role | undefined;
  for (const { role } of messages.toReversed()) {
    roles.push(next);
    if (role !== 'system') next = role;
  }
  return roles.reverse();
}

class SystemPlacer {
  private readonly context: MendContext;
  private readonly isRefused: boolean;
  private readonly placed: Message[] = [];
  /** Messages of the answer that is going on; the words of a system message may have to go in front of it. */
  private answer: Message[] = [];
  /** System messages that wait for a place. */
  private waiting: Message[] = [];
  private openServerCalls = 0;

  constructor(context: MendContext) {
    this.context = context;
    this.isRefused = context.isRequest && !modelHabits(context.model).takesSystemMessages;
  }

  add(message: Message, next: Role | undefined): void {
    if (message.role === 'system') {
      this.waiting.push(message);
      if (next !== 'user') this.settle();
      return;
    }
    if (message.role === 'user') {
      this.flush();
      this.placed.push(message);
      if (this.waiting.length > 0 && next !== 'user') this.settleMoved();
      return;
    }
    this.answer.push(message);
    this.openServerCalls += countServerCalls(message);
  }

  end(): readonly Message[] {
    this.flush();
    return this.placed;
  }

  private flush(): void {
    for (const message of this.answer) this.placed.push(message);
    this.answer = [];
    this.openServerCalls = 0;
  }

  /** No user message follows: they stay where they are if they may, else they speak as the user. */
  private settle(): void {
    const before = this.answer.at(-1) ?? this.placed.at(-1);
    // Behind another system message it is part of a group that has its place.
    const isPlaced = before?.role === 'user' || before?.role === 'system';
    const mayStay = isPlaced || (before !== undefined && endsWithServerResult(before));
    if (mayStay && !this.isRefused) this.answer.push(...this.waiting);
    else if (this.openServerCalls > 0) this.placed.push(...this.spoken());
    else this.answer.push(...this.spoken());
    this.waiting = [];
  }

  private settleMoved(): void {
    const { log } = this.context;
    if (this.isRefused) this.placed.push(...this.spoken());
    else {
      log.add('system message in the wrong place', 'moved behind the next user message', this.waiting.length);
      this.placed.push(...this.waiting);
    }
    this.waiting = [];
  }

  private spoken(): readonly Message[] {
    const { format, log } = this.context;
    log.add('system message in the middle', 'turned into a marked user message', this.waiting.length);
    return this.waiting.flatMap(({ blocks }) =>
      format.userMessages([format.textBlock(SYSTEM_MARK), ...blocks]),
    );
  }
}

function endsWithServerResult({ blocks }: Message): boolean {
  const last = blocks.at(-1);
  return last?.type === 'tool-result' && last.runBy === 'server';
}

function countServerCalls({ blocks }: Message): number {
  let count = 0;
  for (const block of blocks) {
    if (block.type === 'tool-call' && block.runBy === 'server') count++;
    if (block.type === 'tool-result' && block.runBy === 'server') count--;
  }
  return count;
}
