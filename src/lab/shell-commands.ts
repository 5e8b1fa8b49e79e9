import { callArguments, type Message, type ToolCallBlock, textOf } from '../conversation/message.ts';
import { linkTools } from '../conversation/tool-links.ts';

/** A call with what came of it, in the order of the calls. */
export interface AnsweredCall {
  readonly call: ToolCallBlock;
  /** Text of the result. */
  readonly result: string;
  readonly isError: boolean;
}

/** Every call of these messages that has a result. */
export function answeredCalls(messages: readonly Message[]): readonly AnsweredCall[] {
  const { pairs } = linkTools(messages);
  const ordered = pairs.toSorted(
    (left, right) => left.call.message - right.call.message || left.call.block - right.call.block,
  );
  return ordered.flatMap((pair) => {
    const call = messages[pair.call.message]?.blocks[pair.call.block];
    const result = messages[pair.result.message]?.blocks[pair.result.block];
    if (call?.type !== 'tool-call' || result?.type !== 'tool-result') return [];
    return [{ call, result: textOf(result), isError: result.isError }];
  });
}

/** Names of arguments that hold a command line. */
const COMMAND_KEYS = ['command', 'cmd', 'script'] as const;

/** The command line that a call runs in a shell; undefined for a call that is none. */
export function shellCommandOf(call: ToolCallBlock): string | undefined {
  const input = callArguments(call);
  // An editor's `command` says what it does to a path.
  if (input === undefined || Object.hasOwn(input, 'path') || Object.hasOwn(input, 'file_path'))
    return undefined;
  for (const key of COMMAND_KEYS) {
    const value = Object.hasOwn(input, key) ? input[key] : undefined;
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    if (typeof last === 'string' && last !== '') return last;
  }
  return undefined;
}
