import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { JsonEntry } from '../input/json-values.ts';
import { originAt } from '../records.ts';
import type { Origin, Reject, TranscriptFold, TranscriptReader } from '../transcript.ts';

const HEADER = 'roundfold-chat';
const COMPACTION = 'roundfold-compaction';

/** Saved chats: a header, the messages as they are, then undo records, which are skipped. */
export const roundfoldChat: TranscriptReader = {
  name: HEADER,
  product: 'roundfold chat',
  summary: 'chats of `roundfold chat`',
  location: '~/.local/state/roundfold/chat/<time>.jsonl',
  recognise: ([first]) => first !== undefined && typeOf(first.value) === HEADER,
  open: openFile,
};

function openFile(reject: Reject): TranscriptFold {
  const messages: JsonObject[] = [];
  const origins: Origin[] = [];
  let header: JsonObject = {};
  return {
    add({ value, place }: JsonEntry) {
      const type = typeOf(value);
      if (isObject(value) && type === HEADER) header = value;
      else if (isObject(value) && typeof value['role'] === 'string') {
        messages.push(value);
        origins.push(originAt(place));
      } else if (type !== COMPACTION) reject(place, 'expected a message');
      return [];
    },
    *end() {
      if (messages.length === 0) return;
      yield {
        reader: HEADER,
        format: asString(header['format']) ?? 'anthropic-messages',
        title: 'main',
        kind: 'main',
        model: asString(header['model']),
        segments: [{ body: messages, origins, opening: undefined }],
        notes: [],
      };
    },
  };
}

function typeOf(value: unknown): unknown {
  return isObject(value) ? value['type'] : undefined;
}
