/**
 * Who said a raw message, and what in it can be recognised again. Reads the values themselves and nothing of the engine,
 * since it judges the engine.
 */

/** Whose message it is: results are the client's answer to calls, whatever else stands beside them. */
export type Speaker = 'user' | 'model' | 'results' | 'system';

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function listIn(value: unknown, key: string): readonly unknown[] {
  const found = fieldsOf(value)[key];
  return Array.isArray(found) ? found : [];
}

const speakerOfWord: ReadonlyMap<unknown, Speaker> = new Map<unknown, Speaker>([
  ['user', 'user'],
  ['human', 'user'],
  ['assistant', 'model'],
  ['ai', 'model'],
  ['model', 'model'],
  ['tool', 'results'],
  ['system', 'system'],
  ['developer', 'system'],
]);

/** Who says a message of any of the formats. */
export function speakerOf(message: unknown): Speaker {
  const { role, type } = fieldsOf(message);
  const speaker = speakerOfWord.get(role) ?? speakerOfWord.get(type);
  if (speaker === 'user' && holdsResults(message)) return 'results';
  if (speaker !== undefined) return speaker;
  return typeof type === 'string' && type.endsWith('_output') ? 'results' : 'model';
}

function holdsResults(message: unknown): boolean {
  return [...listIn(message, 'content'), ...listIn(message, 'parts')].some((block) => {
    const fields = fieldsOf(block);
    return fields['type'] === 'tool_result' || fields['functionResponse'] !== undefined;
  });
}

/**
 * Where the current turn begins: with everything behind the newest response, and with that response too when its calls
 * are answered there. A list that ends with the model's own words has its last message as the turn.
 */
export function currentTurnStart(list: readonly unknown[]): number {
  const speakers = list.map(speakerOf);
  const answered = speakers.lastIndexOf('model');
  if (answered === list.length - 1) return Math.max(0, list.length - 1);
  if (!speakers.includes('results', answered + 1)) return answered + 1;
  let start = answered;
  while (start > 0 && speakers[start - 1] === 'model') start--;
  return Math.max(0, start);
}

/** The provider's own summaries in a list, as text, in order. */
export function compactionsIn(list: readonly unknown[]): readonly string[] {
  return list.flatMap((message) =>
    [message, ...listIn(message, 'content')].filter(isCompaction).map((found) => JSON.stringify(found)),
  );
}

/** Whether a message is a summary of the provider's, or holds one. */
export function holdsCompaction(message: unknown): boolean {
  return [message, ...listIn(message, 'content')].some(isCompaction);
}

function isCompaction(value: unknown): boolean {
  return fieldsOf(value)['type'] === 'compaction';
}

const NAMING_KEYS = ['id', 'tool_use_id', 'call_id', 'tool_call_id', 'toolCallId', 'approvalId'];

/** What a message can be recognised by when it was written anew: its ids, and each of its blocks that is the same. */
export function marksOf(message: unknown): readonly string[] {
  const { content, parts, tool_calls: calls } = fieldsOf(message);
  const blocks = [content, parts, calls].flat().filter((block) => block !== undefined && block !== null);
  return [...idsOf(message), ...blocks.flatMap((block) => [JSON.stringify(block), ...idsOf(block)])];
}

function idsOf(value: unknown): readonly string[] {
  const fields = fieldsOf(value);
  const ids = NAMING_KEYS.flatMap((key) =>
    typeof fields[key] === 'string' ? [`${key} ${fields[key]}`] : [],
  );
  const { functionResponse, functionCall } = fields;
  const names = [functionResponse, functionCall].flatMap((call) => {
    const { name } = fieldsOf(call);
    return typeof name === 'string' ? [`function ${name}`] : [];
  });
  return [...ids, ...names];
}

/** Whether a message of a chat holds anything but text. */
export function holdsMedia(message: unknown): boolean {
  if (typeof message !== 'object' || message === null || !('content' in message)) return false;
  const { content } = message;
  return Array.isArray(content) && content.some((part: unknown) => typeOf(part) !== 'text');
}

function typeOf(part: unknown): unknown {
  return typeof part === 'object' && part !== null && 'type' in part ? part.type : undefined;
}
