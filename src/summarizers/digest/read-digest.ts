import { CUT, ESCAPE, firstLine, SECTIONS } from './render.ts';
import { type Coverage, type Group, type Material, ORIGIN, type Source } from './sources.ts';

const FIRST_LINE = /^Digest of (\d{1,9}) rounds( and an earlier summary)?, (\d{1,9})k characters(;)?/;
const CHANGED = /^(.*) \(changed (\d{1,6})x(?:: (.{0,60}))?\)$/;
const FAILED = ' (failed)';
/** Places are whole numbers of 32 bits. */
const MOST_CHARACTERS = 1e9;
const ROOT = `${SECTIONS.file} in `;

const KIND_OF_SECTION: ReadonlyMap<string, Group['kind']> = new Map([
  [SECTIONS.user, 'user'],
  [SECTIONS.plan, 'plan'],
  [SECTIONS.file, 'file'],
  [SECTIONS.call, 'call'],
  [SECTIONS.said, 'said'],
]);
const ORIGIN_OF_KIND: Readonly<Record<Group['kind'], number>> = {
  user: ORIGIN.user,
  plan: ORIGIN.plan,
  file: ORIGIN.read,
  call: ORIGIN.shell,
  said: ORIGIN.said,
};

interface OpenGroup {
  readonly group: Group;
  readonly lines: string[];
}

/**
 * Reads a digest back into what it was made from, as far as it tells; several that stand behind each other as one. A text that
 * is no digest of ours is taken as something that was said, line by line.
 */
export function readDigest(text: string): Material {
  const lines = text.split('\n');
  const first = readFirstLine(lines[0] ?? '');
  if (first === undefined) {
    const said = placed([{ group: newGroup('said', ''), lines }], 1, text.length);
    const covered = { rounds: 0, characters: text.length, hasOtherSummary: true };
    return { ...said, covered, demands: [], habits: [] };
  }
  const reader = new Reader();
  let covered = first;
  for (const line of lines.slice(1)) {
    const next = readFirstLine(line);
    if (next === undefined) reader.add(line);
    else covered = together(covered, next);
  }
  const { groups, demands, habits } = reader;
  return { ...placed(groups, covered.rounds, covered.characters), covered, demands, habits };
}

function readFirstLine(line: string): Coverage | undefined {
  const [, rounds, others, thousands, more] = FIRST_LINE.exec(line) ?? [];
  if (rounds === undefined) return undefined;
  const characters = Number(thousands) * 1000;
  const read = { rounds: Number(rounds), characters, hasOtherSummary: others !== undefined };
  if (firstLine(read, more === undefined) !== line) return undefined;
  return { ...read, characters: Math.min(MOST_CHARACTERS, characters) };
}

function together(one: Coverage, other: Coverage): Coverage {
  return {
    rounds: one.rounds + other.rounds,
    characters: Math.min(MOST_CHARACTERS, one.characters + other.characters),
    hasOtherSummary: one.hasOtherSummary || other.hasOtherSummary,
  };
}

class Reader {
  readonly groups: OpenGroup[] = [];
  readonly demands: string[] = [];
  readonly habits: string[] = [];
  private section = '';
  private root = '';
  private current: OpenGroup | undefined;

  add(line: string): void {
    if (line.startsWith('#')) this.openSection(line);
    else if (line.startsWith(' ')) this.addContent(line.slice(1));
    else if (line !== '') this.open(line);
    else this.current?.lines.push('');
  }

  private openSection(line: string): void {
    this.root = line.startsWith(ROOT) ? line.slice(ROOT.length) : '';
    this.section = this.root === '' ? line : SECTIONS.file;
    const kind = KIND_OF_SECTION.get(this.section);
    this.current = undefined;
    if (kind === 'user' || kind === 'said') this.start(newGroup(kind, ''));
  }

  private addContent(content: string): void {
    if (this.section === SECTIONS.constraints) this.demands.push(content);
    else if (this.section === SECTIONS.tools) this.habits.push(content);
    else if (content.startsWith(CUT)) this.current?.lines.push(...content.split(` ${CUT}`).map(withCut));
    else this.current?.lines.push(content);
  }

  private open(line: string): void {
    const kind = KIND_OF_SECTION.get(this.section);
    if (kind === undefined) return;
    const isFailed = line.endsWith(FAILED);
    const heading = (isFailed ? line.slice(0, -FAILED.length) : line).slice(line.startsWith(ESCAPE) ? 1 : 0);
    const [, title = heading, changes = '0', status = ''] = CHANGED.exec(heading) ?? [];
    const path = kind === 'file' && this.root !== '' && !title.startsWith('/') ? this.root + title : title;
    this.start({ ...newGroup(kind, path), isFailed, changes: Number(changes), status });
  }

  private start(group: Group): void {
    this.current = { group, lines: [] };
    this.groups.push(this.current);
  }
}

/** A part stays marked as one. */
function withCut(part: string): string {
  return part.startsWith(CUT) ? part : CUT + part;
}

function newGroup(kind: Group['kind'], title: string): Group {
  return { kind, title, round: 0, isFailed: false, changes: 0, status: '' };
}

/** Groups stand in the order of their rounds, so their places are about even over what the digest stands for. */
function placed(
  groups: readonly OpenGroup[],
  rounds: number,
  characters: number,
): Pick<Material, 'sources' | 'rounds' | 'earlierCharacters'> {
  const sizes = new Map<Group['kind'], number>();
  for (const { group } of groups) sizes.set(group.kind, (sizes.get(group.kind) ?? 0) + 1);
  const seen = new Map<Group['kind'], number>();
  const sources = groups.map(({ group, lines }): Source => {
    const number = (seen.get(group.kind) ?? 0) + 1;
    seen.set(group.kind, number);
    const share = number / (1 + (sizes.get(group.kind) ?? 1));
    group.round = Math.round(share * rounds);
    const at = Math.floor(share * characters);
    // Most of what is shown of a changed file stands where it was changed.
    const origin = group.changes > 0 ? ORIGIN.written : ORIGIN_OF_KIND[group.kind];
    return { origin, group, lines, round: group.round, isError: group.isFailed, isKept: false, at };
  });
  sources.sort((left, right) => (left.at ?? 0) - (right.at ?? 0));
  return { sources, rounds, earlierCharacters: characters };
}
