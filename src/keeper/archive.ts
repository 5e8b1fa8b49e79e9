/** What left a view: handles for it, and the spans in which a store keeps it. */

import type { HandleFor } from '../compaction/plan/receipt.ts';
import type { Format } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import type { Hash } from '../conversation/sha256.ts';
import { type KeptMessage, keptMessage, searchableText, spanHandle } from '../stores/spans.ts';
import type { ArchivedSpan, Checkpoint, Stretch } from '../stores/store.ts';
import { joinStretches, type Piece } from './views.ts';

/** Gives handles to the messages that leave a view in one run, and collects them for the store. */
export interface Archive {
  readonly handleFor: HandleFor;
  /** The spans to store, so that every handle in the new view, and every message that left, can be read again. */
  spansOf(left: Left): readonly ArchivedSpan[];
}

/** What a run has made of a conversation. */
export interface Left {
  /** Messages that stand in the view from now on. */
  readonly made: readonly unknown[];
  /** Original messages that stand there no longer, and did before. */
  readonly gone: readonly number[];
}

export interface ArchiveOptions {
  readonly hash: Hash;
  readonly tenant: string;
  /** Name of the conversation. */
  readonly conversation: string;
  readonly format: Format;
  /** Behind the system messages in front. */
  readonly originals: readonly unknown[];
  /** Of the view that is compacted. */
  readonly pieces: readonly Piece[];
  readonly createdAt: number;
}

/** The most messages under one name, where no strategy asked for a name. */
const LARGEST_SPAN = 50;

/** Opens the archive of one run. Names depend on the conversation and on the content, and on nothing else. */
export function openArchive(options: ArchiveOptions): Archive {
  const { pieces, originals } = options;
  const byRaw = new Map(pieces.map((piece) => [piece.raw, piece]));
  /** What was reduced before can be read as it was. */
  const originalOf = (raw: unknown): unknown => {
    const piece = byRaw.get(raw);
    const place = piece?.fate === 'reduced' ? piece.of[0]?.start : undefined;
    return place === undefined ? raw : originals[place];
  };
  const asked = new Map<string, { readonly raws: readonly unknown[]; readonly of: readonly Stretch[] }>();

  /** Several strategies may ask for names of the same messages before one of them is carried out. */
  const known = new Map<unknown, KeptMessage>();
  const keep = (raw: unknown): KeptMessage => {
    const kept = known.get(raw) ?? keptMessage(options.hash, raw);
    known.set(raw, kept);
    return kept;
  };
  const name = (raws: readonly unknown[]) => spanHandle(options.hash, options.conversation, raws.map(keep));
  const toSpan = (raws: readonly unknown[], place: SpanPlace) =>
    spanOf({ raws, kept: raws.map(keep) }, place, options);

  const handleFor = (messages: readonly Message[]): string => {
    const raws = messages.map(({ raw }) => originalOf(raw));
    const handle = name(raws);
    asked.set(handle, { raws, of: messages.flatMap(({ raw }) => byRaw.get(raw)?.of ?? []) });
    return handle;
  };
  const readOriginal = (message: Message): Message => {
    const raw = originalOf(message.raw);
    return raw === message.raw ? message : options.format.readMessage(raw);
  };

  return {
    handleFor: Object.assign(handleFor, { originalOf: readOriginal }),
    spansOf({ made, gone }) {
      const text = JSON.stringify(made);
      const kept = new Set<number>();
      const spans: ArchivedSpan[] = [];
      for (const [handle, { raws, of }] of asked) {
        // Plans that were not carried out have asked for names too.
        if (!text.includes(handle)) continue;
        const joined = joinStretches(of);
        const start = joined[0]?.start ?? 0;
        const end = joined.at(-1)?.end ?? 0;
        spans.push(toSpan(raws, { handle, start, end }));
        for (const stretch of joined)
          for (let index = stretch.start; index < stretch.end; index++) kept.add(index);
      }
      for (const { start, end } of stretchesOf(gone.filter((index) => !kept.has(index)))) {
        const raws = originals.slice(start, end);
        spans.push(toSpan(raws, { handle: name(raws), start, end }));
      }
      return spans;
    },
  };
}

/** Neighbours together, and those that one message parts: calls often stay where their results leave. */
function stretchesOf(indices: readonly number[]): readonly Stretch[] {
  const stretches: { start: number; end: number }[] = [];
  for (const index of indices) {
    const last = stretches.at(-1);
    if (last !== undefined && index <= last.end + 1 && index < last.start + LARGEST_SPAN)
      last.end = index + 1;
    else stretches.push({ start: index, end: index + 1 });
  }
  return stretches;
}

const encoder = new TextEncoder();

type SpanPlace = Pick<ArchivedSpan, 'handle' | 'start' | 'end'>;

function spanOf(
  { raws, kept }: { readonly raws: readonly unknown[]; readonly kept: readonly KeptMessage[] },
  place: SpanPlace,
  { tenant, conversation, format, createdAt }: ArchiveOptions,
): ArchivedSpan {
  return {
    tenant,
    conversation,
    ...place,
    body: encoder.encode(`[${kept.map(({ json }) => json).join(',')}]`),
    text: searchableText(raws.map((raw) => format.readMessage(raw))),
    createdAt,
  };
}

/** The name under which each original message can be read: from the spans of now, and from those of before. */
export function handlesOf(
  spans: readonly ArchivedSpan[],
  base: Checkpoint | undefined,
): ReadonlyMap<number, string> {
  const handles = new Map<number, string>();
  const note = ({ start, end }: Stretch, handle: string) => {
    for (let index = start; index < end; index++) if (!handles.has(index)) handles.set(index, handle);
  };
  for (const run of base?.receipt.runs ?? []) if (run.handle !== undefined) note(run, run.handle);
  for (const span of spans) note(span, span.handle);
  return handles;
}
