import { Transform } from 'node:stream';

export interface BoundedLinesOptions {
  /** Bytes that a line may have. */
  readonly most: number;
  /** Is told of a line that has more, once it has ended: how it began and how it ended. */
  readonly onTooLong: (beginning: string, ending: string) => void;
}

/** Bytes of each end of a line that is left out. */
const KEPT_BYTES = 512;
const LINE_FEED = 10;

/** Passes lines on and leaves out those that are too long, however long they get: of them nothing but the ends is held. */
export function boundedLines({ most, onTooLong }: BoundedLinesOptions): Transform {
  let held: Buffer[] = [];
  let size = 0;

  const add = (piece: Buffer): void => {
    size += piece.length;
    if (size <= most) held.push(piece);
    else held = [endsOf(Buffer.concat([...held, piece]))];
  };
  const endLine = (into: Transform): void => {
    const line = Buffer.concat(held);
    if (size <= most) into.push(line);
    else onTooLong(line.toString('utf8', 0, KEPT_BYTES), line.toString('utf8', line.length - KEPT_BYTES));
    held = [];
    size = 0;
  };

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let start = 0;
      for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
        add(chunk.subarray(start, end + 1));
        endLine(this);
        start = end + 1;
      }
      if (start < chunk.length) add(chunk.subarray(start));
      done();
    },
    flush(done) {
      if (size > 0) endLine(this);
      done();
    },
  });
}

function endsOf(bytes: Buffer): Buffer {
  if (bytes.length <= 2 * KEPT_BYTES) return bytes;
  return Buffer.concat([bytes.subarray(0, KEPT_BYTES), bytes.subarray(bytes.length - KEPT_BYTES)]);
}
