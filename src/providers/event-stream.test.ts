import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { createEventSplitter, type StreamEvent } from './event-stream.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const blocks = [
  'event: message_start\ndata: {"type":"message_start"}\n\n',
  'event: ping\r\ndata: {"type":"ping"}\r\n\r\n',
  ': keep-alive\n\n',
  'event: from_the_future\ndata: {"über":"日本語 🎈"}\nid: 7\n\n',
  'data: first line\rdata: second line\r\r',
  'data\n\n',
  '\n',
  'data: [DONE]\n\n',
];

function split(stream: Uint8Array, cuts: readonly number[]): readonly StreamEvent[] {
  const splitter = createEventSplitter();
  const borders = [
    0,
    ...cuts.map((cut) => cut % (stream.length + 1)).sort((left, right) => left - right),
    stream.length,
  ];
  const events = borders
    .slice(1)
    .flatMap((end, index) => splitter.push(stream.subarray(borders[index], end)));
  return [...events, ...splitter.end()];
}

const joined = (events: readonly StreamEvent[]) => Buffer.concat(events.map(({ raw }) => raw));

describe('createEventSplitter', () => {
  it('gives names and data, and nothing for comments', () => {
    const events = split(bytes(blocks.join('')), []);

    expect(events.map(({ event, data }) => [event, data])).toEqual([
      ['message_start', '{"type":"message_start"}'],
      ['ping', '{"type":"ping"}'],
      [undefined, ''],
      ['from_the_future', '{"über":"日本語 🎈"}'],
      [undefined, 'first line\nsecond line'],
      [undefined, ''],
      [undefined, ''],
      [undefined, '[DONE]'],
    ]);
  });

  it('holds back no event that is complete', () => {
    const splitter = createEventSplitter();

    expect(splitter.push(bytes('data: one\n\nda'))).toHaveLength(1);
    expect(splitter.push(bytes('ta: two\n\n'))).toMatchObject([{ data: 'two' }]);
  });

  it('gives an event that was cut at the end, as far as it came', () => {
    expect(split(bytes('data: whole\n\ndata: cu'), [])).toMatchObject([{ data: 'whole' }, { data: 'cu' }]);
  });

  test.prop([fc.array(fc.constantFrom(...blocks, 'data: cut', '\r', '\n\r\n')), fc.array(fc.nat())])(
    'loses no byte and finds the same events however the stream is cut, inside characters and line ends too',
    (parts, cuts) => {
      const stream = bytes(parts.join(''));
      const whole = split(stream, []);
      const pieces = split(stream, cuts);

      expect(joined(pieces).equals(stream)).toBe(true);
      expect(pieces.map(({ data }) => data)).toEqual(whole.map(({ data }) => data));
    },
  );
});
