import { once } from 'node:events';
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { placeFor, refuseForeignFile, unwritable, type WriteOptions } from '../write-file.ts';

/** Takes lines one by one, however many there are. */
export interface LineSink {
  /** Settles when there is room for more. */
  write(line: string): Promise<void>;
  /** Makes what was written last. */
  finish(): void;
  /** Takes back what was written, as far as it can be. */
  abandon(): void;
}

/** Standard output, at the speed of whoever reads it. */
export function standardOutputSink(): LineSink {
  return {
    async write(line) {
      if (!process.stdout.write(line)) await once(process.stdout, 'drain');
    },
    finish: () => undefined,
    abandon: () => undefined,
  };
}

/**
 * A file that only its owner may read, whole or not at all. Devices and pipes are written to as they are, and links are
 * followed.
 * @throws `usage` when a file of somebody else's is there, or when it cannot be written, with the reason as its cause
 */
export function privateFileSink(path: string, options: WriteOptions): LineSink {
  refuseForeignFile(path, options);
  const attempt = <Value>(work: () => Value): Value => {
    try {
      return work();
    } catch (cause) {
      throw unwritable(path, cause);
    }
  };
  const { target, written } = attempt(() => placeFor(path));
  const file = attempt(() => openSync(written, written === target ? 'w' : 'wx', 0o600));
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
  return {
    async write(line) {
      attempt(() => writeWhole(file, Buffer.from(line)));
    },
    finish: () =>
      attempt(() => {
        close();
        if (written !== target) renameSync(written, target);
      }),
    abandon() {
      close();
      if (written !== target) rmSync(written, { force: true });
    },
  };
}

/** A full pipe or disk may take a part only. */
function writeWhole(file: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(file, bytes, written);
  }
}
