/** A call in a message of OpenAI Chat. */
export interface ChatCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message of OpenAI Chat: what the messages of every peer are made from, and what their outputs are judged as. */
export interface ChatMessage {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_calls?: readonly ChatCall[];
  readonly tool_call_id?: string;
}

/** The calls of a message with parsed arguments. */
export function callsOf({ tool_calls: calls = [] }: ChatMessage) {
  return calls.map(({ id, function: { name, arguments: text } }) => ({
    id,
    name,
    input: JSON.parse(text) as Readonly<Record<string, unknown>>,
  }));
}

/** An assistant's message as OpenAI Chat has it. Without text and calls it stays as empty as it is. */
export function assistantMessage(
  text: string,
  calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[],
): ChatMessage {
  const toolCalls = calls.map(({ id, name, input }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(input) },
  }));
  return toolCalls.length === 0
    ? { role: 'assistant', content: text }
    : { role: 'assistant', content: text === '' ? null : text, tool_calls: toolCalls };
}

/** The list with the results that stand side by side in one group, as formats with several results in a message need them. */
export function groupResults(messages: readonly ChatMessage[]): readonly (readonly ChatMessage[])[] {
  const groups: ChatMessage[][] = [];
  for (const message of messages) {
    const last = groups.at(-1);
    if (message.role === 'tool' && last?.[0]?.role === 'tool') last.push(message);
    else groups.push([message]);
  }
  return groups;
}

/** The name of the tool that each call asks for. */
export function toolNames(messages: readonly ChatMessage[]): ReadonlyMap<string, string> {
  return new Map(messages.flatMap((message) => callsOf(message).map(({ id, name }) => [id, name] as const)));
}

/** A quarter of the characters: the count that peers without a tokenizer use. */
export function quarterTokens(messages: readonly ChatMessage[]): number {
  let characters = 0;
  for (const { content, tool_calls: calls = [] } of messages) {
    characters += content?.length ?? 0;
    for (const { function: made } of calls) characters += made.name.length + made.arguments.length;
  }
  return Math.ceil(characters / 4);
}
