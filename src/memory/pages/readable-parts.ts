import { type Block, type Message, type ToolResultBlock, textOf } from '../../conversation/message.ts';
import { argumentLines } from './argument-lines.ts';

/** Whole lines of a message as it is read again: what we say about it, and behind that what was said. */
export interface ReadablePart {
  /** Words of ours. A search does not look at them. */
  readonly label: string;
  /** Of the message. Label and text together end with a line end. */
  readonly text: string;
}

/**
 * A message to be read: a line with its number and its role, then texts, calls with their arguments, results, and notes in
 * place of what is no text.
 * @param number of the message among those that are kept together, from 1
 */
export function readableParts({ role, blocks }: Message, number: number): readonly ReadablePart[] {
  return [labelled(`--- message ${number}: ${role}`), ...blocks.flatMap(partsOfBlock)];
}

function partsOfBlock(block: Block): readonly ReadablePart[] {
  switch (block.type) {
    case 'text':
      return said(block.text);
    case 'reasoning':
      return [labelled(block.text === '' ? '[reasoning, sealed]' : '[reasoning]'), ...said(block.text)];
    case 'compaction':
      return [labelled('[summary by the provider]'), ...said(block.text)];
    case 'tool-call':
      return [{ label: '[call] ', text: `${block.name}\n` }, ...said(argumentLines(block))];
    case 'tool-result':
      return partsOfResult(block);
    case 'media':
      return [labelled(`[${block.media}]`), ...said(textOf(block))];
    case 'other':
      return [labelled('[something that is no text]')];
  }
}

function partsOfResult({ name, isError, content }: ToolResultBlock): readonly ReadablePart[] {
  const kind = isError ? '[failed]' : '[result]';
  const head = name === undefined ? labelled(kind) : { label: `${kind} `, text: `${name}\n` };
  return [head, ...content.flatMap(partsOfBlock)];
}

function labelled(label: string): ReadablePart {
  return { label: `${label}\n`, text: '' };
}

function said(text: string): readonly ReadablePart[] {
  if (text === '') return [];
  return [{ label: '', text: text.endsWith('\n') ? text : `${text}\n` }];
}
