/** A session of Claude Code with the counts that a provider would have reported, request by request. */

/** One request and its response. */
export interface PricedRequest {
  /** Minutes since the session began. */
  readonly minute: number;
  /** What it sends besides what was sent before: words of the user, or the result of the call before it. */
  readonly sends: string;
  readonly read: number;
  readonly written: number;
  /** Default 10. */
  readonly output?: number;
  /** Default claude-opus-4-6. */
  readonly model?: string;
  /** Whether the agent compacts before it, and what it keeps is a summary. */
  readonly compacts?: boolean;
}

/** The session as JSONL. Every response but the last calls a tool, whose result is what the next request sends. */
export function pricedSession(requests: readonly PricedRequest[]): string {
  const records: unknown[] = [];
  let parentUuid: string | null = null;
  const add = (type: string, minute: number, more: Readonly<Record<string, unknown>>): void => {
    const uuid = `r${records.length}`;
    const timestamp = new Date(Date.UTC(2026, 5, 1) + minute * 60_000).toISOString();
    const shared = { sessionId: 'priced-1', cwd: '/shop', isSidechain: false, version: '2.1.100' };
    records.push({ type, uuid, parentUuid, timestamp, ...shared, ...more });
    parentUuid = uuid;
  };
  for (const [index, request] of requests.entries()) {
    const { minute, sends, read, written, output = 10, model = 'claude-opus-4-6', compacts } = request;
    const isResult = index > 0 && compacts !== true;
    if (compacts === true) {
      parentUuid = null;
      add('system', minute, { subtype: 'compact_boundary', compactMetadata: { trigger: 'auto' } });
      add('user', minute, { isCompactSummary: true, message: { role: 'user', content: sends } });
    } else {
      const result = { type: 'tool_result', tool_use_id: `call_${index - 1}`, content: sends };
      add('user', minute, { message: { role: 'user', content: isResult ? [result] : sends } });
    }
    const call = { type: 'tool_use', id: `call_${index}`, name: 'read', input: { path: `${index}.md` } };
    const isLast = index === requests.length - 1 || requests[index + 1]?.compacts === true;
    const usage = {
      input_tokens: 0,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
      output_tokens: output,
    };
    const content = isLast ? [{ type: 'text', text: 'Done.' }] : [call];
    const message = { id: `msg_${index}`, role: 'assistant', model, content, usage };
    add('assistant', minute, { requestId: `req_${index}`, message });
  }
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}
