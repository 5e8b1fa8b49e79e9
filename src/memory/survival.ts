/** Checks after a summary whether the facts of the covered messages are still there. */

import { type Block, callArguments, textOf } from '../conversation/message.ts';
import type { Covered } from './covered.ts';
import { argumentTexts, type Fact, factKinds, type Survival } from './facts/facts.ts';
import { createTextFinder } from './facts/find-texts.ts';

const EXAMPLES = 5;
const WHITE_SPACE = /\s+/g;

/**
 * What became of the facts in covered messages: each is still there, in the summary or in messages that stay, or it is gone.
 * The account reads the finished text, and not what somebody meant to write. By kind, those of which something was found.
 */
export function accountFor(summary: string, { facts, kept, keptDemands }: Covered): readonly Survival[] {
  const finder = createTextFinder(facts.map(nameOf));
  const told = new Set(finder.search(fold(summary)).keys());
  // A demand that only a tool or a document repeats is not said by the user any more.
  const elsewhere = new Set(
    kept
      .flatMap(({ blocks }) => blocks.flatMap(readableTexts))
      .flatMap((text) => [...finder.search(fold(text)).keys()]),
  );
  const isThere = (fact: Fact) =>
    told.has(nameOf(fact)) ||
    (fact.kind === 'constraint' ? keptDemands.has(fact.text) : elsewhere.has(nameOf(fact)));
  return factKinds.flatMap((kind) => {
    const found = facts.filter((fact) => fact.kind === kind);
    const lost = found.filter((fact) => !isThere(fact));
    if (found.length === 0) return [];
    const examples = lost.slice(-EXAMPLES).map(({ text }) => text);
    return [{ kind, found: found.length, kept: found.length - lost.length, lost: lost.length, examples }];
  });
}

/** Tokens that the demands of the user take which no kept message holds: they are told whatever the room. */
export function demandTokens({ facts, keptDemands }: Covered, countText: (text: string) => number): number {
  const due = facts.filter(({ kind, text }) => kind === 'constraint' && !keptDemands.has(text));
  return due.reduce((sum, { text }) => sum + countText(`\n[99] ${text}`), 0);
}

/** By what a fact is found again: a path by its last two parts, since roots are left out where they are known. */
function nameOf({ kind, text }: Fact): string {
  return kind === 'path' ? text.split(/[/\\]/).slice(-2).join('/') : fold(text);
}

function fold(text: string): string {
  return text.replaceAll(WHITE_SPACE, ' ');
}

function readableTexts(block: Block): readonly string[] {
  return block.type === 'tool-call' ? argumentTexts(callArguments(block) ?? block.input) : [textOf(block)];
}
