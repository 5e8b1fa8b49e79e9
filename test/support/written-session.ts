/** A made-up session of a coding agent in Claude Code's file format: files are read early and edited much later. */
export interface WrittenSessionOptions {
  /** Files that are read first and edited afterwards. */
  readonly files: number;
  /** Whether the agent compacts in the middle, with a summary that names nothing. */
  readonly isCompacted?: boolean;
  /** Model whose name the file carries. */
  readonly model?: string;
}

type Json = Readonly<Record<string, unknown>>;

/** The session as the text of its file. The same options always give the same text. */
export function writtenSession({
  files,
  isCompacted = false,
  model = 'claude-sonnet-4-5',
}: WrittenSessionOptions): string {
  const records: Json[] = [];
  let seconds = 0;
  const add = (type: string, more: Json): string => {
    const uuid = `u${records.length}`;
    const timestamp = new Date(Date.UTC(2026, 8, 14, 9) + seconds * 1000).toISOString();
    const parentUuid = records.at(-1)?.['uuid'] ?? null;
    records.push({ parentUuid, uuid, timestamp, sessionId: 'session-1', isSidechain: false, type, ...more });
    seconds += 20;
    return uuid;
  };
  const say = (content: unknown, more: Json = {}) =>
    add('user', { message: { role: 'user', content }, ...more });
  const use = (name: string, input: Json, output: string) => {
    const id = `call-${records.length}`;
    const content = [{ type: 'tool_use', id, name, input }];
    add('assistant', { message: { id: `m-${id}`, type: 'message', role: 'assistant', model, content } });
    say([{ type: 'tool_result', tool_use_id: id, content: output }]);
  };

  say('Please check the berths of the harbour. You must never touch the file tides.lock in any way.');
  const numbers = Array.from({ length: files }, (_, index) => index);
  for (const number of numbers) use('Read', { file_path: pathOf(number) }, sourceOf(number));
  // A pause that outlives any cache.
  seconds += 7200;
  if (isCompacted) {
    const last = add('system', {
      parentUuid: null,
      subtype: 'compact_boundary',
      logicalParentUuid: records.at(-1)?.['uuid'],
      compactMetadata: { trigger: 'auto', preTokens: 150_000 },
    });
    say('The user wants the berths checked. Some files were read.', {
      parentUuid: last,
      isCompactSummary: true,
      isVisibleInTranscriptOnly: true,
    });
  }
  say('Now make every berth one metre deeper.');
  for (const number of numbers) {
    const old = lineOf(number, 3);
    use('Edit', { file_path: pathOf(number), old_string: old, new_string: `${old} // deeper` }, 'done');
  }
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

function pathOf(number: number): string {
  return `/srv/harbour/src/berths/berth-${number}.ts`;
}

function lineOf(number: number, line: number): string {
  return `export const berthDraught${number}x${line} = soundings.at(${number * 100 + line}).draughtMetres;`;
}

function sourceOf(number: number): string {
  return Array.from({ length: 40 }, (_, line) => lineOf(number, line)).join('\n');
}
