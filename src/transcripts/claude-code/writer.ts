import { join } from 'node:path';
import { isObject, type JsonObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';
import type { ChangeLog } from '../../formats/change-log.ts';
import { claudeProjects } from '../agent-folders.ts';
import { createClock, findMemory, type NewSession, type SessionWriter, toLines } from '../session-writer.ts';

/**
 * Session files of Claude Code. A memory stands behind a compaction boundary and is marked as the summary, as the agent
 * does it itself. Usage is zero in every record: nobody has paid for a request with this file yet, and the agent takes
 * the usage of the newest record for the size of its context.
 */
export const claudeCodeWriter: SessionWriter = {
  name: 'claude-code',
  summary: 'Claude Code session (JSONL)',
  formats: ['anthropic-messages'],
  write({ messages }, about, log) {
    const id = about.createId();
    const chain = startChain(id, about);
    const memory = findMemory(messages);
    if (memory !== -1) chain.add(boundary(about));
    for (const [index, message] of messages.entries()) {
      for (const record of recordsOf(message, about, log)) {
        chain.add(index === memory ? { ...record, ...SUMMARY_MARKS } : record);
      }
    }
    return { id, text: toLines(chain.records) };
  },
  locate({ id }, { folder }, environment) {
    const path = join(claudeProjects(environment), projectName(folder), `${id}.jsonl`);
    return { path, command: `claude --resume ${id}` };
  },
};

const SUMMARY_MARKS = { isCompactSummary: true, isVisibleInTranscriptOnly: true };

/** What the agent writes where the recording does not say which version it was. */
const VERSION = '2.1.0';

/** Longest name of a project folder that the agent uses as it is. */
const LONGEST_NAME = 200;

/** The agent's name for the sessions of a folder: everything but letters and digits is a dash. */
function projectName(folder: string): string {
  const name = folder.replaceAll(/[^a-zA-Z0-9]/g, '-');
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME)}-${shortHash(folder)}`;
}

/** As the agent shortens long names: a 32-bit hash in base 36. */
function shortHash(text: string): string {
  let hash = 0;
  for (let index = 0; index < text.length; index++) hash = (hash * 31 + text.charCodeAt(index)) | 0;
  return Math.abs(hash).toString(36);
}

/** Records that hang on each other, the newest last. */
function startChain(sessionId: string, { folder, recorded, now, createId }: NewSession) {
  const records: object[] = [];
  const clock = createClock(now);
  let parentUuid: string | null = null;
  return {
    records,
    add(record: JsonObject): void {
      const uuid = createId();
      records.push({
        parentUuid,
        isSidechain: false,
        userType: 'external',
        cwd: folder,
        sessionId,
        version: recorded?.version ?? VERSION,
        gitBranch: recorded?.branch ?? '',
        ...record,
        uuid,
        timestamp: clock().toISOString(),
      });
      parentUuid = uuid;
    },
  };
}

function boundary({ tokensBefore, tokensAfter }: NewSession): JsonObject {
  return {
    type: 'system',
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    isMeta: false,
    level: 'info',
    logicalParentUuid: null,
    compactMetadata: {
      trigger: 'manual',
      preTokens: tokensBefore ?? 0,
      ...(tokensAfter === undefined ? {} : { postTokens: tokensAfter }),
    },
  };
}

/** The records of one message. A response is written block by block, under one id. */
function recordsOf(message: Message, about: NewSession, log: ChangeLog): readonly JsonObject[] {
  const { role, raw } = message;
  const content = isObject(raw) ? raw['content'] : raw;
  if (role === 'assistant') return responseRecords(blocksOf(content), about);
  if (role === 'system') log.add('system message', 'written as a message of the user');
  return [{ type: 'user', message: { role: 'user', content } }];
}

function blocksOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : [];
}

function responseRecords(blocks: readonly unknown[], { model, createId }: NewSession): readonly JsonObject[] {
  const id = `msg_${createId().replaceAll('-', '')}`;
  const isCall = blocks.some((block) => isObject(block) && block['type'] === 'tool_use');
  return blocks.map((block) => ({
    type: 'assistant',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model: model ?? 'unknown',
      content: [block],
      stop_reason: isCall ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: NO_USAGE,
    },
  }));
}

const NO_USAGE = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
};
