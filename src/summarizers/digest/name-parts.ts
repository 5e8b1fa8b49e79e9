import { classes, classOf, DIGIT, LOWER, lowerCase, OTHER, UPPER } from './characters.ts';
import { MOST_UNITS, readUnits, units } from './line-units.ts';
import { FIRST_HASH, hashOf, NameTable, nextHash } from './name-table.ts';
import { NumberList } from './records.ts';

const SHORTEST_PART = 3;
/** So many units are of ASCII. */
const ASCII = 128;

/** The parts of names in lower case: `session`, `state`, `store` of `sessionStateStore`. */
export class NameParts {
  /** The parts of all names, name after name, and where those of each name end. */
  readonly ids = new NumberList();
  readonly ends = new NumberList();
  private readonly table = new NameTable();
  private readonly counts = new NumberList();
  private readonly names: NameTable;

  constructor(names: NameTable) {
    this.names = names;
    for (let name = 0; name < names.length; name++) {
      this.addName(names.startOf(name), names.endOf(name));
      this.ends.push(this.ids.length);
    }
  }

  /** What each part counts for: the fewer names have it, the more. */
  weights(): Float64Array {
    const weights = new Float64Array(this.table.length);
    for (let part = 0; part < weights.length; part++) {
      weights[part] = Math.log(1 + this.names.length / this.counts.get(part));
    }
    return weights;
  }

  /** For each part whether it is one of these. */
  among(parts: ReadonlySet<string>): Uint8Array {
    const marks = new Uint8Array(this.table.length);
    for (const part of parts) {
      if (part.length > MOST_UNITS) continue;
      const length = readUnits(part);
      const id = this.table.find(0, length, hashOf(0, length));
      if (id !== -1) marks[id] = 1;
    }
    return marks;
  }

  private addName(start: number, end: number): void {
    const { characters } = this.names;
    let from = start;
    let before = OTHER;
    for (let at = start; at < end; at++) {
      const kind = classes[characters[at] ?? 0] ?? OTHER;
      const isPart = isOfPart(kind);
      if (!isPart || (kind === UPPER && before === LOWER)) {
        this.addPart(from, at);
        from = isPart ? at : at + 1;
      }
      before = kind;
    }
    this.addPart(from, end);
  }

  private addPart(start: number, end: number): void {
    if (end - start < SHORTEST_PART) return;
    const { characters } = this.names;
    let hash = FIRST_HASH;
    let bits = 0;
    for (let at = start; at < end; at++) {
      const unit = characters[at] ?? 0;
      const small = lowerCase(unit);
      bits |= unit;
      units[at - start] = small;
      hash = nextHash(hash, small);
    }
    if (bits < ASCII) this.countPart(end - start, hash);
    else {
      const length = readUnits(String.fromCharCode(...characters.subarray(start, end)).toLowerCase());
      this.countPart(length, hashOf(0, length));
    }
  }

  /** Counts the part that stands at the beginning of `units`. */
  private countPart(length: number, hash: number): void {
    const id = this.table.numberOf(0, length, hash);
    if (id === this.counts.length) this.counts.push(0);
    this.counts.set(id, this.counts.get(id) + 1);
    this.ids.push(id);
  }
}

/** Takes the parts of names and the words of a text, in lower case. */
export function takeParts(text: string, parts: Set<string>): void {
  let start = -1;
  let before = OTHER;
  for (let at = 0; at <= text.length; at++) {
    const kind = at < text.length ? classOf(text.charCodeAt(at)) : OTHER;
    const isPart = isOfPart(kind);
    if (start !== -1 && (!isPart || (kind === UPPER && before === LOWER))) {
      if (at - start >= SHORTEST_PART) parts.add(text.slice(start, at).toLowerCase());
      start = -1;
    }
    if (isPart && start === -1) start = at;
    before = kind;
  }
}

function isOfPart(kind: number): boolean {
  return kind === LOWER || kind === UPPER || kind === DIGIT;
}
