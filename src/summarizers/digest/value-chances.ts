import { ENTITY, LINE, type LineIndex } from './line-index.ts';
import { SHAPE } from './scan-line.ts';
import { ORIGIN } from './sources.ts';

/**
 * Where nobody works on files or in a shell, as in a dialogue of a service, the fit says little: values from results and from the
 * user are what later calls are made of, ids first. Ids have digits, dates among them. Capitals are codes of places, currencies,
 * products.
 */
const CHANCES = { id: 0.4, capitals: 0.15, number: 0.1, weak: 0.04 };
const DIGIT = /[0-9]/;
/** A key with a number, such as `address1`. */
const NUMBERED_KEY = /^[a-z_]+[0-9]$/;
/** To the hour or the second: when something was written down, which nobody asks for. */
const TIMESTAMP = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]/;

const VALUES: ReadonlySet<number> = new Set([
  SHAPE.code,
  SHAPE.snake,
  SHAPE.capitals,
  SHAPE.number,
  SHAPE.amount,
  SHAPE.name,
]);

/** For each entity the chance that a later call uses it as a value. Addresses, paths and the like are left to the fit. */
export function valueChances(index: LineIndex, fitted: (id: number) => number): Float64Array {
  const { shapes, texts } = index.entities;
  const uses = usesOf(index);
  return Float64Array.from(texts, (text, id) => {
    const shape = shapes[id] ?? SHAPE.name;
    return VALUES.has(shape) ? chanceOf(shape, text, uses[id] ?? 0) : fitted(id);
  });
}

function chanceOf(shape: number, text: string, use: number): number {
  if ((use & USE.whole) === 0 || NUMBERED_KEY.test(text) || TIMESTAMP.test(text)) return 0;
  const isId = shape === SHAPE.code || (shape === SHAPE.snake && DIGIT.test(text));
  if (isId) return CHANCES.id;
  if ((use & USE.value) === 0) return 0;
  if (shape === SHAPE.capitals) return CHANCES.capitals;
  if (shape === SHAPE.number) return CHANCES.number;
  if (shape === SHAPE.snake || shape === SHAPE.amount) return CHANCES.weak;
  return shape === SHAPE.name && (use & USE.name) !== 0 ? CHANCES.weak : 0;
}

/** How something stands in lines: by itself; as anything but a key; and so that its capital says something. */
const USE = { whole: 1, value: 2, name: 4 } as const;

/** For each entity how it stands in the lines that show it, as bits. */
function usesOf({ lines, entities, groups, titles }: LineIndex): Uint8Array {
  const uses = new Uint8Array(entities.texts.length);
  const note = (text: string, entity: number) => {
    uses[entity] = (uses[entity] ?? 0) | usesIn(text, entities.texts[entity] ?? '');
  };
  for (let id = 0; id < lines.texts.length; id++) {
    const end = lines.namesEnd(id);
    for (let place = lines.records.get(id, LINE.names); place < end; place++) {
      note(lines.texts[id] ?? '', lines.names.get(place));
    }
  }
  for (const [number, title] of titles.entries()) {
    for (const entity of title?.entities ?? []) note(groups[number]?.title ?? '', entity);
  }
  for (let id = 0; id < uses.length; id++) {
    const isTold = (entities.records.get(id, ENTITY.origins) & ~SAID) !== 0;
    // Names that the model alone writes are mostly headings.
    if (!isTold) uses[id] = (uses[id] ?? 0) & ~USE.name;
  }
  return uses;
}

const SAID = (1 << ORIGIN.said) | (1 << ORIGIN.thought);
const WORD = /[\p{L}\p{N}_]/u;
/** Inside of dates, times and addresses of mail. */
const JOINED_BEFORE = /(?:@|[0-9][-:])$/;
const JOINED_BEHIND = /^(?:@|[-:][0-9])/;
/** Before the first word of a line, of a sentence or of an item of a list, which has its capital anyway. */
const BEGINNING = /(?:^|[.!?]\s|[*#>-])\s*$/;
const LOOKED_AT = 4;
/** Every name of a line is looked for in it: in a line of many names that would take for ever. */
const LONGEST_LINE = 2000;

function usesIn(line: string, name: string): number {
  if (line.length > LONGEST_LINE) return USE.whole | USE.value | USE.name;
  let uses = 0;
  for (let start = line.indexOf(name); start !== -1; start = line.indexOf(name, start + name.length)) {
    const end = start + name.length;
    const before = line.slice(Math.max(0, start - LOOKED_AT), start);
    const behind = line.slice(end, end + 2);
    const isPart = WORD.test(before.slice(-1)) || WORD.test(behind.slice(0, 1));
    if (isPart || JOINED_BEFORE.test(before) || JOINED_BEHIND.test(behind)) continue;
    uses |= USE.whole;
    if (!behind.startsWith(':')) uses |= USE.value;
    if (!BEGINNING.test(before)) uses |= USE.name;
  }
  return uses;
}
