/** Contexts and what they miss, as text for somebody who reads them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '../../src/conversation/message.ts';
import { readSummaryMessage } from '../../src/conversation/summary-message.ts';
import type { Measured } from '../../src/lab/measure.ts';
import type { Missed } from '../../src/lab/score.ts';
import { messageText } from '../../src/lab/texts.ts';
import { OWN_ROW } from './rows.ts';

/** Writes a context and what it misses: `c12-10.context.txt`, `c12-10-5-compactions.missed.txt`. */
export function writeDump(folder: string, { measurement, labCase, output, missed }: Measured): void {
  const { row, level } = measurement;
  const { session, stretch, prefix } = labCase.cut;
  const place = labCase.probes.length > 0 ? [] : [stretch, prefix.messages.length];
  const parts = [session, ...place, level.replace(' %', ''), ...(row === OWN_ROW ? [] : [row])];
  const name = parts
    .join('-')
    .replace(`${OWN_ROW}, `, '')
    .replaceAll(/[^\w.]+/g, '-');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.context.txt`), describeContext(output.messages));
  writeFileSync(join(folder, `${name}.missed.txt`), describeMissed(missed));
}

/** The message of ours first, then the whole context in its order. */
function describeContext(messages: readonly Message[]): string {
  const memories = messages.filter((message) => readSummaryMessage(message) !== undefined);
  const parts = messages.map((message, index) => {
    const isMemory = memories.includes(message);
    const text = isMemory ? '(the memory above)' : messageText(message);
    return `===== message ${index + 1} of ${messages.length}, ${message.role} =====\n${text}`;
  });
  return `${['===== memory =====', ...memories.map(messageText), ...parts].join('\n')}\n`;
}

/** What is missing or wrong, the probes first. */
function describeMissed(missed: Missed): string {
  const probes = missed.probes.map(({ id, kind, weight, question, answer, evidence }) =>
    [
      `${id} ${kind} weight ${weight}`,
      `  question: ${question}`,
      `  answer:   ${answer}`,
      ...evidence.map((group) => `  evidence: ${group.map((text) => JSON.stringify(text)).join(' or ')}`),
    ].join('\n'),
  );
  return [
    section('missed probes', probes),
    section('last check not told', missed.lastCheck === undefined ? [] : [missed.lastCheck.command]),
    section('replaced lines shown as current', missed.staleLines),
    section('changed files not named', missed.changedFiles),
    section('demands not kept', missed.demands),
    section('broken rules', missed.brokenRules),
    section('decisions not kept', missed.decisions),
    section(
      'names not kept',
      missed.names.map(({ name, source }) => `${name} (${source})`),
    ),
    section(
      'edit lines not kept',
      missed.editLines.map(({ line }) => line),
    ),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): string {
  return `## ${title}: ${lines.length}\n${lines.map((line) => `${line}\n`).join('')}`;
}
