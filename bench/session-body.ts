const WORDS =
  'the value of a function is read from its file and written to another one when tests have passed'.split(
    ' ',
  );

/** Text of so many characters, of words and code, that differs from place to place. */
function textOf(characters: number, seed: number): string {
  const parts: string[] = [];
  for (let length = 0, index = seed; length < characters; index++) {
    const word =
      index % 9 === 0
        ? `${WORDS[index % WORDS.length]}_${index}(x);\n`
        : `${WORDS[(index * 7) % WORDS.length]} `;
    parts.push(word);
    length += word.length;
  }
  return parts.join('').slice(0, characters);
}

/** A request of so many messages of an agent session: a question, then rounds of one call and its result. */
export interface SessionBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly unknown[];
}

/** Makes a body with about `characters` characters a message. */
export function sessionBody(format: string, messages: number, characters: number): SessionBody {
  const list: unknown[] = [{ role: 'user', content: textOf(characters, 1) }];
  for (let round = 0; list.length < messages; round++) list.push(...roundOf(format, round, characters));
  return { model: 'model', max_tokens: 1000, messages: list.slice(0, messages) };
}

/** One call and its result. */
export function roundOf(format: string, round: number, characters: number): readonly unknown[] {
  const id = `call_${round}`;
  const path = `src/module-${round % 97}/file-${round}.ts`;
  const said = textOf(characters * 0.6, round);
  const output = textOf(characters * 1.2, round + 5);
  if (format === 'openai-chat') {
    const call = {
      id,
      type: 'function',
      function: { name: 'read_file', arguments: JSON.stringify({ path }) },
    };
    return [
      { role: 'assistant', content: said, tool_calls: [call] },
      { role: 'tool', tool_call_id: id, content: output },
    ];
  }
  const content = [
    { type: 'text', text: said },
    { type: 'tool_use', id, name: 'read_file', input: { path } },
  ];
  return [
    { role: 'assistant', content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: output }] },
  ];
}
