import { PassThrough } from 'node:stream';
import { fc, test } from '@fast-check/vitest';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { processTerminal, wrapText } from './terminal.ts';

beforeEach(() => void vi.stubEnv('FORCE_COLOR', '1'));
afterEach(() => vi.unstubAllEnvs());

/** A terminal that keeps what it would have written. */
function openTerminal(color: boolean) {
  const written: string[] = [];
  const stream = () =>
    Object.assign(new PassThrough(), {
      isTTY: true,
      columns: 80,
      hasColors: () => true,
      getColorDepth: () => 24,
      write: (text: string) => written.push(text) > 0,
    });
  const streams = { stdout: stream(), stderr: stream() } as unknown as NodeJS.Process;
  return { terminal: processTerminal({ color, quiet: false }, streams), text: () => written.join('') };
}

/** Control characters other than line ends, and those that turn the direction of text. */
const ACTIVE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const OWN_STYLES = /\p{Cc}\[(?:1|2|22|31|32|33|36|39)m/gu;
const hasActive = (text: string) => ACTIVE.test(text.replaceAll('\n', ''));

const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\u001b[2J',
        '\u001b]0;title\u0007',
        '\u009b31m',
        '\u202e',
        '\r',
        '\u001b[31m',
        '\n',
        '\t',
      ),
    ),
  )
  .map((parts) => parts.join(''));

describe('what goes to a terminal', () => {
  test.prop([hostile, hostile])('has nothing in it that a terminal would act upon', (text, styled) => {
    const { terminal, text: written } = openTerminal(false);
    terminal.out(`${text} ${terminal.style('red', styled)}\n`);
    terminal.talk(`${text} ${terminal.styleTalk('bold', styled)}\n`);

    expect(hasActive(written())).toBe(false);
  });

  test.prop([hostile, hostile])('is styled by nobody but us', (text, styled) => {
    const { terminal, text: written } = openTerminal(true);
    terminal.out(`${text}${terminal.style('red', styled)}${text}`);
    const styles = written().match(OWN_STYLES) ?? [];

    expect(styles).toEqual(['\u001b[31m', '\u001b[39m']);
    expect(hasActive(written().replaceAll(OWN_STYLES, ''))).toBe(false);
  });

  it('keeps lines and words as they are', () => {
    const { terminal, text } = openTerminal(true);
    terminal.out('naïve 港の天気 🚢\n\tindented\r\n');

    expect(text()).toBe('naïve 港の天気 🚢\n    indented\n');
  });

  it('is written over by sequences of our own', () => {
    const { terminal, text } = openTerminal(true);
    terminal.redraw('\u001b[2Jhalf');

    expect(text()).toBe('\r\u001b[2K\\u{1b}[2Jhalf');
  });

  it('leaves data as it is', () => {
    const { terminal, text } = openTerminal(true);
    terminal.data('\u001b[2J');

    expect(text()).toBe('\u001b[2J');
  });
});

describe('wrapText', () => {
  it('breaks between words and indents what follows', () => {
    expect(wrapText('one two three four', 11, '  ')).toBe('one two\n  three\n  four');
  });

  it('counts the columns of wide characters', () => {
    expect(wrapText('灯塔 的 灯 已 按 方位 排好', 10)).toBe('灯塔 的 灯\n已 按 方位\n排好');
  });

  test.prop([fc.lorem({ maxCount: 40 }), fc.integer({ min: 20, max: 100 })])(
    'keeps every word and no line is too long',
    (text, columns) => {
      const wrapped = wrapText(text, columns, '   ');

      expect(wrapped.split(/\s+/)).toEqual(text.split(/\s+/));
      expect(Math.max(...wrapped.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(columns);
    },
  );
});
