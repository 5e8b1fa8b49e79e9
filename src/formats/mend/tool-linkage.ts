import type { Message, ToolCallBlock, ToolResultBlock } from '../../conversation/message.ts';
import { toJson } from '../result-content.ts';

/** A result and where it stands. */
export interface FoundResult {
  readonly block: ToolResultBlock;
  readonly message: number;
  readonly position: number;
}

/** A call, where it stands, and the result that belongs to it. */
export interface FoundCall {
  readonly block: ToolCallBlock;
  readonly message: number;
  readonly position: number;
  /** Number of the answer it is part of: a run of the model's messages. */
  readonly run: number;
  /** Whether another call of the same id was open when it was made. */
  readonly isAmbiguous: boolean;
  result: FoundResult | undefined;
}

export interface ToolLinkage {
  readonly calls: readonly FoundCall[];
  /** Results that stand before the call they answer. */
  readonly early: ReadonlySet<FoundResult>;
  /** Results that no call is found for. */
  readonly orphans: readonly FoundResult[];
}

/**
 * Finds for every result of the client's the call that it most likely answers, also where ids are used twice or missing and
 * where the result stands in front of its call. A result goes to the newest answer that has an open call of its id, and
 * within that answer to the first such call.
 */
export function findLinkage(messages: readonly Message[]): ToolLinkage {
  const linker = new Linker();
  for (const [index, message] of messages.entries()) linker.add(message, index);
  return linker.end();
}

/** Calls that are an exact copy of another one in the same answer, and that nothing answers. */
export function findRepeats(calls: readonly FoundCall[]): ReadonlySet<FoundCall> {
  const known = new Map<string, FoundCall>();
  const repeats = new Set<FoundCall>();
  const shared = sharedIds(calls);
  for (const call of calls) {
    const { id, name, input } = call.block;
    if (id === undefined || !shared.has(`${call.run} ${id}`)) continue;
    const key = `${call.run} ${id} ${name} ${toJson(input) ?? ''}`;
    const other = known.get(key);
    if (other === undefined) known.set(key, call);
    else if (call.result === undefined) repeats.add(call);
    else if (other.result === undefined) {
      repeats.add(other);
      known.set(key, call);
    }
  }
  return repeats;
}

function sharedIds(calls: readonly FoundCall[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const { run, block } of calls) {
    const key = `${run} ${block.id}`;
    if (seen.has(key)) shared.add(key);
    seen.add(key);
  }
  return shared;
}

/** Open calls of one answer under one id, first come first served. */
interface OpenRun {
  readonly run: number;
  readonly calls: FoundCall[];
  next: number;
}

class Linker {
  private readonly calls: FoundCall[] = [];
  private readonly early: FoundResult[] = [];
  private readonly byId = new Map<string, OpenRun[]>();
  private readonly byName = new Map<string, OpenRun>();
  /** Calls without an id, in order, for results that have neither id nor name. */
  private readonly unnamed: OpenRun = { run: 0, calls: [], next: 0 };
  private run = 0;
  private isAnswering = false;

  add(message: Message, index: number): void {
    const isAnswer = message.role === 'assistant';
    if (isAnswer && !this.isAnswering) this.run++;
    this.isAnswering = isAnswer;
    for (const [position, block] of message.blocks.entries()) {
      if (block.type === 'tool-call' && block.runBy === 'client') this.open(block, index, position);
      if (block.type === 'tool-result' && block.runBy === 'client') {
        this.close({ block, message: index, position });
      }
    }
  }

  end(): ToolLinkage {
    const early = new Set<FoundResult>();
    const orphans: FoundResult[] = [];
    for (const result of this.early) {
      const call = this.take(result.block);
      if (call === undefined) orphans.push(result);
      else {
        call.result = result;
        early.add(result);
      }
    }
    return { calls: this.calls, early, orphans };
  }

  private open(block: ToolCallBlock, message: number, position: number): void {
    const runs = block.id === undefined ? undefined : this.byId.get(block.id);
    while (runs !== undefined && runs.length > 0 && isDone(runs.at(-1))) runs.pop();
    const isAmbiguous = runs !== undefined && runs.length > 0;
    const call: FoundCall = { block, message, position, run: this.run, isAmbiguous, result: undefined };
    this.calls.push(call);
    if (block.id === undefined) {
      const queue = this.byName.get(block.name);
      if (queue === undefined) this.byName.set(block.name, { run: 0, calls: [call], next: 0 });
      else queue.calls.push(call);
      this.unnamed.calls.push(call);
    } else if (runs === undefined) {
      this.byId.set(block.id, [{ run: this.run, calls: [call], next: 0 }]);
    } else {
      const newest = runs.at(-1);
      if (newest?.run === this.run) newest.calls.push(call);
      else runs.push({ run: this.run, calls: [call], next: 0 });
    }
  }

  private close(result: FoundResult): void {
    const call = this.take(result.block);
    if (call === undefined) this.early.push(result);
    else call.result = result;
  }

  private take({ callId, name }: ToolResultBlock): FoundCall | undefined {
    const runs = callId === undefined ? undefined : this.byId.get(callId);
    while (runs !== undefined && runs.length > 0) {
      const call = nextOpen(runs.at(-1));
      if (call !== undefined) return call;
      runs.pop();
    }
    return nextOpen(name === undefined ? this.unnamed : this.byName.get(name));
  }
}

function isDone(queue: OpenRun | undefined): boolean {
  return queue !== undefined && queue.next >= queue.calls.length;
}

/** The first call of a queue that nothing answers yet. */
function nextOpen(queue: OpenRun | undefined): FoundCall | undefined {
  while (queue !== undefined) {
    const call = queue.calls[queue.next];
    if (call === undefined) return undefined;
    queue.next++;
    if (call.result === undefined) return call;
  }
  return undefined;
}
