import { createHash } from 'node:crypto';
import { createRandom, integer, pick, type Random } from './seeded.ts';

/** Writes one text of a kind. Words and paths come from real files, so that names are not invented. */
export type Generator = (random: Random, names: readonly string[]) => string;

/** Generated kinds that the weights are fitted on. Each row writes one text for one seed. */
export const generators: Readonly<Record<string, Generator>> = {
  logs: (random, names) => pick(random, logWriters)(random, names),
  base64: (random) =>
    randomBytes(random, integer(random, 300, 9000)).toString(random() < 0.3 ? 'base64url' : 'base64'),
  'hex ids': (random, names) => lines(random, () => hexLine(random, names)),
  'number tables': (random, names) => pick(random, tableWriters)(random, names),
  trees: (random, names) => writeTree(random, names),
  diffs: (random, names) => lines(random, () => diffLine(random, names)),
};

/** One text of a generated kind. Two halves never share a seed. */
export function generate(kind: string, seed: number, names: readonly string[]): string {
  const generator = Object.hasOwn(generators, kind) ? generators[kind] : undefined;
  if (generator === undefined) throw new RangeError(`no generator for ${kind}`);
  return generator(createRandom(seed), names);
}

const levels = ['INFO', 'DEBUG', 'WARN', 'ERROR', 'info', 'debug', 'warn', 'error', 'TRACE', 'NOTICE'];
const verbs = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD'];
const phrases = [
  'connection established',
  'request completed',
  'retrying after timeout',
  'cache miss for key',
  'worker started',
  'failed to open file',
  'checkpoint complete',
  'user not found',
  'listening on port',
  'shutting down gracefully',
  'slow query detected',
  'batch processed',
  'rate limit exceeded, backing off',
  'certificate will expire soon',
];

const logWriters: readonly Generator[] = [
  (random, names) =>
    lines(
      random,
      () => `${isoTime(random)} ${pick(random, levels)} [${name(random, names)}] ${phrase(random, names)}`,
    ),
  (random, names) =>
    lines(
      random,
      () =>
        `${address(random)} - - [${integer(random, 1, 28)}/Nov/2025:${clock(random)} +0000] "${pick(random, verbs)} /${name(random, names)}?id=${integer(random, 1, 99_999)} HTTP/1.1" ${pick(random, [200, 200, 200, 304, 404, 500])} ${integer(random, 90, 90_000)} "-" "Mozilla/5.0 (X11; Linux x86_64)"`,
    ),
  (random, names) =>
    lines(
      random,
      () =>
        `Nov ${integer(random, 1, 28)} ${clock(random)} host${integer(random, 1, 9)} ${baseName(random, names)}[${integer(random, 100, 99_999)}]: ${phrase(random, names)}`,
    ),
  (random, names) =>
    lines(
      random,
      () =>
        `time=${isoTime(random)} level=${pick(random, levels)} msg="${phrase(random, names)}" duration=${(random() * 900).toFixed(3)}ms path=/${name(random, names)} request_id=${uuid(random)}`,
    ),
  (random, names) =>
    lines(random, () =>
      JSON.stringify({
        ts: 1_700_000_000_000 + integer(random, 0, 1e9),
        level: pick(random, levels),
        pid: integer(random, 100, 9999),
        msg: phrase(random, names),
        file: name(random, names),
        ms: Number((random() * 500).toFixed(2)),
      }),
    ),
];

const tableWriters: readonly Generator[] = [
  (random) => {
    const columns = integer(random, 3, 12);
    const digits = integer(random, 0, 6);
    const separator = pick(random, [',', '\t', ' ', ';', ', ', '  ']);
    return lines(random, () =>
      row(columns, () => (random() * 10 ** integer(random, 0, 5)).toFixed(digits), separator),
    );
  },
  (random) => {
    const columns = integer(random, 3, 10);
    const width = integer(random, 6, 14);
    const limit = 10 ** integer(random, 1, 7);
    return lines(random, () => row(columns, () => String(integer(random, 0, limit)).padStart(width), ''));
  },
  (random, names) =>
    lines(
      random,
      () =>
        `| ${name(random, names)} | ${integer(random, 0, 99_999)} | ${(random() * 100).toFixed(2)} % | ${isoTime(random).slice(0, 10)} |`,
    ),
  // A process table: right-aligned numbers, times, then a command line.
  (random, names) =>
    lines(
      random,
      () =>
        `${pick(random, ['root', 'www-data', 'postgres', 'nobody', 'user'])}`.padEnd(10) +
        `${String(integer(random, 1, 99_999)).padStart(7)} ${(random() * 9).toFixed(1).padStart(4)} ${(random() * 9).toFixed(1).padStart(4)} ` +
        `${String(integer(random, 0, 9_999_999)).padStart(8)} ${String(integer(random, 0, 999_999)).padStart(7)} ` +
        `${pick(random, ['?', 'pts/0', 'tty1'])}`.padEnd(9) +
        `${pick(random, ['S', 'Ss', 'R', 'Sl', 'I<'])}`.padEnd(5) +
        `${clock(random).slice(0, 5)}   ${integer(random, 0, 9)}:${String(integer(random, 0, 59)).padStart(2, '0')} /${name(random, names)}`,
    ),
  // A disk or archive listing: size, date, time, path.
  (random, names) =>
    lines(
      random,
      () =>
        `${String(integer(random, 0, 10 ** integer(random, 2, 8))).padStart(10)}  ${isoTime(random).slice(0, 10)} ${clock(random).slice(0, 5)}   ${name(random, names)}`,
    ),
];

function hexLine(random: Random, names: readonly string[]): string {
  const digest = createHash('sha256').update(String(random())).digest('hex');
  const shapes = [
    () => `${digest.slice(0, 32)}  ${name(random, names)}`,
    () => `${digest}  ${name(random, names)}`,
    () => `${digest.slice(0, integer(random, 7, 12))} ${phrase(random, names)}`,
    () => uuid(random),
    () => `commit ${digest.slice(0, 40)}`,
    () => `0x${digest.slice(0, 16)} in ${baseName(random, names)}+0x${digest.slice(20, 23)}`,
    () => row(integer(random, 4, 16), () => `0x${randomBytes(random, 1).toString('hex')}`, ', '),
    () => row(6, () => randomBytes(random, 1).toString('hex'), ':'),
    () => `"${digest.toUpperCase().slice(0, 24)}",`,
  ];
  return pick(random, shapes)();
}

function writeTree(random: Random, names: readonly string[]): string {
  const ascii = random() < 0.25;
  const [fork, last, bar] = ascii ? ['|-- ', '`-- ', '|   '] : ['├── ', '└── ', '│   '];
  const rows: string[] = ['.'];
  const count = integer(random, 15, 120);
  let prefix: string[] = [];
  for (let index = 0; index < count; index++) {
    const isLast = random() < 0.25;
    rows.push(`${prefix.join('')}${isLast ? last : fork}${baseName(random, names)}`);
    if (random() < 0.35 && prefix.length < 6) prefix = [...prefix, isLast ? '    ' : (bar ?? '')];
    else if (isLast || random() < 0.15) prefix = prefix.slice(0, -1);
  }
  return rows.join('\n');
}

function diffLine(random: Random, names: readonly string[]): string {
  const roll = random();
  if (roll < 0.06) return `diff --git a/${name(random, names)} b/${name(random, names)}`;
  if (roll < 0.1)
    return `index ${randomBytes(random, 4).toString('hex').slice(0, 7)}..${randomBytes(random, 4).toString('hex').slice(0, 7)} 100644`;
  if (roll < 0.16) {
    const at = () => `${integer(random, 1, 900)},${integer(random, 1, 20)}`;
    return `@@ -${at()} +${at()} @@ ${phrase(random, names)}`;
  }
  return `${pick(random, [' ', ' ', '+', '-'])}${' '.repeat(integer(random, 0, 4) * 2)}${phrase(random, names)} ${name(random, names)}`;
}

function lines(random: Random, write: () => string): string {
  const sizeChars = integer(random, 500, 16_000);
  const rows: string[] = [];
  for (let written = 0; written < sizeChars; ) {
    const line = write();
    rows.push(line);
    written += line.length + 1;
  }
  return rows.join('\n');
}

function row(columns: number, write: () => string, separator: string): string {
  return Array.from({ length: columns }, write).join(separator);
}

function randomBytes(random: Random, size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, () => integer(random, 0, 255)));
}

function uuid(random: Random): string {
  const hex = randomBytes(random, 16).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function isoTime(random: Random): string {
  return new Date(1_600_000_000_000 + Math.floor(random() * 2e11)).toISOString();
}

function clock(random: Random): string {
  return isoTime(random).slice(11, 19);
}

function address(random: Random): string {
  return row(4, () => String(integer(random, 0, 255)), '.');
}

function phrase(random: Random, names: readonly string[]): string {
  return random() < 0.5
    ? pick(random, phrases)
    : `${pick(random, phrases)} ${name(random, names)}:${integer(random, 1, 9999)}`;
}

function name(random: Random, names: readonly string[]): string {
  return pick(random, names);
}

function baseName(random: Random, names: readonly string[]): string {
  const path = pick(random, names);
  return path.slice(path.lastIndexOf('/') + 1);
}
