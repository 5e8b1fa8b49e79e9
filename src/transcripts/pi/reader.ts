import { asCount, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { SegmentPieces } from '../anthropic-turns.ts';
import { piCharge, type RecordedCharge } from '../charges.ts';
import type { JsonEntry } from '../input/json-values.ts';
import { createTally, type Tally, timestampOf } from '../records.ts';
import type {
  RecordedCompaction,
  Reject,
  Segment,
  SessionFacts,
  Transcript,
  TranscriptFold,
  TranscriptReader,
} from '../transcript.ts';
import { type Entry, type EntryContext, originOf, readEntry, surroundingsOf, userEntry } from './entries.ts';
import { anthropicWire, responsesWire, speaksResponses, type Wire } from './wires.ts';

/**
 * Session files of the pi coding agent: the linear files of version 1, and the trees of later versions, of which the
 * branch that ends in the newest record is read. They come out as OpenAI Responses items where the newest turn was
 * made with that API, so that reasoning and ids stay, and as Anthropic messages otherwise. A compaction opens a
 * segment: its summary as a user message, what it kept, and what came later.
 */
export const pi: TranscriptReader = {
  name: 'pi',
  product: 'pi',
  summary: 'pi coding agent session files (JSONL), linear or tree',
  location: '~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl',
  recognise: (sample) => sample.some(({ value }) => isObject(value) && isPiRecord(value)),
  open: openSession,
};

/** Whether a record can only be pi's: records such as `{type: 'message'}` alone occur elsewhere as well. */
function isPiRecord(record: JsonObject): boolean {
  const { type, message } = record;
  if (type === 'session') return typeof record['cwd'] === 'string' && typeof record['id'] === 'string';
  if (type === 'compaction') {
    return record['firstKeptEntryId'] !== undefined || record['firstKeptEntryIndex'] !== undefined;
  }
  if (type !== 'message' || !isObject(message)) return false;
  const { role } = message;
  if (role === 'toolResult') return typeof message['toolCallId'] === 'string';
  if (role === 'bashExecution') return typeof message['command'] === 'string';
  return (
    role === 'assistant' && typeof message['api'] === 'string' && typeof message['stopReason'] === 'string'
  );
}

/** A record, reduced to what the conversation needs. Its position in the list is its entry index in the file. */
interface Node {
  readonly id: string | undefined;
  readonly parentId: string | undefined;
  readonly entry: Entry | undefined;
  readonly compaction: Compaction | undefined;
  readonly model: string | undefined;
  readonly provider?: string | undefined;
  /** Set on the header. */
  readonly session?: SessionFacts;
}

interface Compaction extends Omit<RecordedCompaction, 'carried'> {
  readonly firstKept: string | number | undefined;
}

const NOTHING: Pick<Node, 'entry' | 'compaction' | 'model'> = {
  entry: undefined,
  compaction: undefined,
  model: undefined,
};

function openSession(reject: Reject): TranscriptFold {
  const nodes: Node[] = [];
  const charges: RecordedCharge[] = [];
  const tally = createTally();
  return {
    add({ value, place }: JsonEntry) {
      const read = isObject(value) ? recordTypes.get(asString(value['type']) ?? '') : undefined;
      if (!isObject(value) || typeof value['type'] !== 'string') {
        reject(place, 'expected a pi session record: an object with a `type`');
        return [];
      }
      if (read === undefined) tally.add('{n} record{s} of an unknown type left out');
      charges.push(...chargesIn(value));
      const isHeader = value['type'] === 'session';
      nodes.push({
        id: isHeader ? undefined : asString(value['id']),
        parentId: asString(value['parentId']),
        ...NOTHING,
        ...read?.(value, { place, tally, reject }),
      });
      return [];
    },
    end: () => (nodes.length === 0 ? [] : [{ ...toTranscript(nodes, tally), charges }]),
  };
}

/** What a record was charged for: a turn, and with some versions a compaction. */
function chargesIn(record: JsonObject): readonly RecordedCharge[] {
  const message = isObject(record['message']) ? record['message'] : record;
  if (record['type'] !== 'compaction' && message['role'] !== 'assistant') return [];
  return [piCharge(message, timestampOf(record['timestamp']))].filter((charge) => charge !== undefined);
}

type RecordReader = (record: JsonObject, context: EntryContext) => Partial<Node>;

const recordTypes = new Map<string, RecordReader>([
  ['session', readHeader],
  ['model_change', readModel],
  ['message', readMessage],
  ['custom_message', (record, context) => ({ entry: readUserContent(record, 'content', context) })],
  ['branch_summary', (record, context) => ({ entry: readUserContent(record, 'summary', context) })],
  ['compaction', readCompaction],
  ['context_edit', leaveEdit],
  ['context_transform', leaveEdit],
  ...['thinking_level_change', 'label', 'session_info', 'custom', 'usage', 'ephemeral'].map(
    (type): [string, RecordReader] => [type, () => NOTHING],
  ),
]);

function readModel(record: JsonObject): Partial<Node> {
  return { model: asString(record['modelId']), provider: asString(record['provider']) };
}

function readHeader(record: JsonObject): Partial<Node> {
  const session = { id: asString(record['id']), folder: asString(record['cwd']) };
  return { ...readModel(record), session };
}

function readMessage(record: JsonObject, context: EntryContext): Partial<Node> {
  const entry = readEntry(record, context);
  return entry?.role === 'assistant' ? { entry, ...entry.author } : { entry };
}

function readUserContent(record: JsonObject, key: string, { place, tally }: EntryContext): Entry | undefined {
  return userEntry(record[key], originOf(record, record, place), tally);
}

function readCompaction(record: JsonObject, context: EntryContext): Partial<Node> {
  const { firstKeptEntryId: id, firstKeptEntryIndex: index } = record;
  const tokensBefore = asCount(record['tokensBefore']);
  return {
    entry: readUserContent(record, 'summary', context),
    compaction: {
      trigger: undefined,
      tokensBefore: tokensBefore === 0 ? undefined : tokensBefore,
      tokensAfter: undefined,
      summary: asString(record['summary']),
      firstKept: asString(id) ?? (typeof index === 'number' ? index : undefined),
    },
  };
}

function leaveEdit(_record: JsonObject, { tally }: EntryContext): Partial<Node> {
  tally.add('{n} context edit{s} by extensions not applied');
  return NOTHING;
}

function toTranscript(nodes: readonly Node[], tally: Tally): Transcript {
  const path = pathOf(nodes, tally);
  const model = path.findLast((node) => node.model !== undefined)?.model;
  const newest = path.findLast(({ entry }) => entry?.role === 'assistant')?.entry;
  const author = newest?.role === 'assistant' ? newest.author : undefined;
  const written =
    author !== undefined && speaksResponses(author.api)
      ? writeSegments(responsesWire(author, tally), path, nodes, tally)
      : writeSegments(anthropicWire(tally), path, nodes, tally);
  return {
    reader: pi.name,
    format: written.format,
    title: 'main',
    kind: 'main',
    model,
    segments: written.segments,
    notes: tally.notes(),
    session: {
      ...nodes.find(({ session }) => session !== undefined)?.session,
      provider: path.findLast(({ provider }) => provider !== undefined)?.provider,
    },
  };
}

/** The records from the root to the newest one. Files whose records have no ids are lists: all of them. */
function pathOf(nodes: readonly Node[], tally: Tally): readonly Node[] {
  const byId = new Map(nodes.flatMap((node) => (node.id === undefined ? [] : [[node.id, node] as const])));
  if (byId.size === 0) return nodes;
  const path = new Set<Node>();
  let node = nodes.findLast(({ id }) => id !== undefined);
  while (node !== undefined && !path.has(node)) {
    path.add(node);
    node = byId.get(node.parentId ?? '');
  }
  for (const other of nodes) {
    if (other.entry !== undefined && !path.has(other)) tally.add('{n} record{s} of other branches left out');
  }
  // The header stands outside the tree, and names the model a session starts with.
  return [
    ...nodes.filter(({ id, model }) => id === undefined && model !== undefined),
    ...[...path].reverse(),
  ];
}

interface Written {
  readonly format: string;
  readonly segments: readonly Segment[];
}

function writeSegments<Piece>(
  wire: Wire<Piece>,
  path: readonly Node[],
  nodes: readonly Node[],
  tally: Tally,
): Written {
  const pieces = new Map(path.map((node) => [node, node.entry === undefined ? [] : wire.write(node.entry)]));
  const piecesOf = (node: Node) => pieces.get(node) ?? [];
  const segments: Segment[] = [];
  let current: SegmentPieces<Piece> & { later: Piece[] } = { carried: [], later: [] };
  const close = (end: number) => {
    const before = path.slice(0, end).map(({ entry }) => entry);
    segments.push(wire.segment(current, surroundingsOf(before)));
  };
  for (const [index, node] of path.entries()) {
    if (node.compaction === undefined) {
      current.later.push(...piecesOf(node));
      continue;
    }
    close(index);
    const { firstKept, ...recorded } = node.compaction;
    const start = keptFrom(firstKept, path, nodes);
    if (start === undefined) tally.add('{n} compaction{s} whose kept records are not in the file');
    const kept = path.slice(start ?? index, index).filter(({ compaction }) => compaction === undefined);
    current = { compaction: recorded, carried: [node, ...kept].flatMap(piecesOf), later: [] };
  }
  close(path.length);
  return { format: wire.format, segments };
}

/** Where on the path the kept records begin. Ids name a record; indices count every record of the file. */
function keptFrom(
  firstKept: string | number | undefined,
  path: readonly Node[],
  nodes: readonly Node[],
): number | undefined {
  const first = typeof firstKept === 'number' ? nodes[firstKept] : path.find(({ id }) => id === firstKept);
  const start = first === undefined || firstKept === undefined ? -1 : path.indexOf(first);
  return start === -1 ? undefined : start;
}
