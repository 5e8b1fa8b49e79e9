import { listOf } from './random-bodies.ts';
import { speakerOf } from './raw-messages.ts';
import type { CaseFault, RequestCase } from './request-cases.ts';
import { properties } from './request-judge.ts';

/** Characters of a body up to which a report shows all of it. */
const WHOLE_BODY = 3000;
const LINE = 110;

/** A fault as a person reads it: what should hold, what happened, the request before and after, message by message. */
export function describeFault(one: RequestCase, fault: CaseFault): string {
  const { format, strategy, isEager, isAutomatic, breakage } = one;
  const { property, detail, link, windowTokens, targetTokens, before, after } = fault;
  const how = breakage === undefined ? (isAutomatic ? 'by itself' : 'by hand') : 'by the command';
  const body = JSON.stringify(before);
  return [
    `${property}: ${properties[property]}`,
    `  ${detail}`,
    `  ${format}, ${strategy}${isEager ? ' with eager options' : ''}, ${how}, request ${link}, window ${windowTokens ?? '-'}, target ${targetTokens ?? share(one)}`,
    '  before:',
    ...describeList(format, before),
    '  after:',
    ...(after === undefined
      ? ['    nothing']
      : describeList(
          format,
          after,
          new Set(listOf(format, before).map((message) => JSON.stringify(message))),
        )),
    ...(body.length <= WHOLE_BODY ? [`  the body: ${body}`] : []),
  ].join('\n');
}

function share({ share: told }: RequestCase): string {
  return told === undefined ? 'by default' : `${told * 100} %`;
}

/** One line a message; `+` marks those that were not there before. */
function describeList(format: string, body: unknown, known?: ReadonlySet<string>): readonly string[] {
  return listOf(format, body).map((message, index) => {
    const text = JSON.stringify(message);
    const sign = known === undefined || known.has(text) ? ' ' : '+';
    const shown = text.length > LINE ? `${text.slice(0, LINE)}… (${text.length})` : text;
    return `  ${sign} ${index} ${speakerOf(message)} ${shown}`;
  });
}
