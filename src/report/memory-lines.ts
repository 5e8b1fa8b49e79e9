import type { Message } from '../conversation/message.ts';
import { openingText, readMarkedSummary, readOpenings } from '../conversation/summary-message.ts';
import { HEADINGS, STATE_HEADS } from '../memory/tell.ts';

/**
 * What a line of a memory is:
 *
 * - `heading`: begins a part
 * - `entry`: begins something in a part
 * - `more`: goes on with an entry, in words
 * - `output`: goes on with an entry, as a tool has written it
 * - `file`, `fence`, `code`: the name of a file, and what is shown of it between two fences
 */
export type MemoryLineKind = 'heading' | 'entry' | 'more' | 'output' | 'file' | 'fence' | 'code' | 'blank';

export interface MemoryLine {
  readonly kind: MemoryLineKind;
  readonly text: string;
}

/**
 * A memory line by line; joined with line ends, the texts are the memory. Total: a summary in any other form has entries and
 * lines that go on. What stands between fences is code and nothing else.
 */
export function memoryLines(memory: string): readonly MemoryLine[] {
  const reader = new LineReader();
  return memory.split('\n').map((text) => ({ kind: reader.kindOf(text), text }));
}

const FENCE = /^`{3,20}$/;
const HEADING_LINES: ReadonlySet<string> = new Set(Object.values(HEADINGS));

/** How those entries of the story begin that hold prose, not the output of a tool. */
const TOLD = ['agent:', STATE_HEADS.prose, 'given by others:', 'summary of what was before:'].map(
  (head) => `- ${head}`,
);

class LineReader {
  private part = '';
  private fence: string | undefined;
  private isTold = true;

  kindOf(line: string): MemoryLineKind {
    if (this.fence !== undefined) {
      if (line !== this.fence) return 'code';
      this.fence = undefined;
      return 'fence';
    }
    if (HEADING_LINES.has(line)) {
      this.part = line;
      this.isTold = true;
      return 'heading';
    }
    if (line === '') return 'blank';
    return this.part === HEADINGS.files ? this.kindInFiles(line) : this.kindInWords(line);
  }

  private kindInFiles(line: string): MemoryLineKind {
    if (!FENCE.test(line)) return 'file';
    this.fence = line;
    return 'fence';
  }

  private kindInWords(line: string): MemoryLineKind {
    if (line.startsWith('  ')) return this.isTold ? 'more' : 'output';
    this.isTold = this.part !== HEADINGS.story || TOLD.some((head) => line.startsWith(head));
    return 'entry';
  }
}

/** A memory in a conversation, as the model reads it. */
export interface CarriedMemory {
  /** Texts that stand in front of it in the same message, word for word. */
  readonly quoted: readonly string[];
  /** What stands between the delimiters. */
  readonly text: string;
}

/** The memories that stand for earlier messages of a conversation, in their order: mostly one, or none. */
export function carriedMemories(messages: readonly Message[]): readonly CarriedMemory[] {
  return messages.flatMap((message) => {
    const text = readMarkedSummary(message)?.summary;
    return text === undefined ? [] : [{ quoted: (readOpenings(message) ?? []).map(openingText), text }];
  });
}
