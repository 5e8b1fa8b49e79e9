/** What a shell command is for, as far as its words tell. */
export type CommandKind = 'check' | 'look' | 'git' | 'do';

const LOOKS = new Set(
  'ls cat head tail sed nl less more find grep rg ag ack fd tree wc pwd which whereis type file stat du df ps env echo printf date whoami id uname hostname diff cmp jq awk sort uniq cut column tr xxd od strings true test [ man help'.split(
    ' ',
  ),
);
/** Commands that act on files, whatever words the names of those files contain. */
const FILE_COMMANDS = new Set('rm mv cp ln mkdir rmdir touch chmod chown kill'.split(' '));
const GIT_LOOKS = new Set(
  'status diff log show branch remote rev-parse rev-list ls-files ls-tree blame describe config grep ls-remote reflog shortlog cat-file verify-pack count-objects fsck check-ignore'.split(
    ' ',
  ),
);
const CHECK =
  /\b(?:tests?|pytest|vitest|jest|mocha|check|lint|eslint|clippy|build|compile|tsc|typecheck|vet|fmt|verify|make|spec|rspec|ctest|tox|mypy|ruff|golangci-lint|biome)\b/i;

const WAY = /^cd [^&;|\n]{1,300}(?:&&|;)\s{0,5}/;
const SETTINGS = /^(?:env )?(?:[A-Z_][A-Z0-9_]{0,40}=\S{0,200} ){1,8}/;

/** A command without a leading `cd …` and without what shortens its output (`| head`, `| tail`). */
export function shownCommand(command: string): string {
  const text = command.trim();
  const way = WAY.exec(text)?.[0] ?? '';
  return withoutCut(way.length < text.length ? text.slice(way.length) : text);
}

/** The same without `NAME=value` in front: runs with other settings are runs of one command. */
export function plainCommand(command: string): string {
  const text = shownCommand(command);
  const settings = SETTINGS.exec(text)?.[0] ?? '';
  return settings.length < text.length ? text.slice(settings.length) : text;
}

function withoutCut(text: string): string {
  return text
    .replace(
      /(?:\s{0,5}2>&1)?(?:\s{0,5}\|\s{0,5}(?:tail|head)(?: -n?\s?\d{1,5}| -\d{1,5})?){0,2}\s{0,5}$/,
      '',
    )
    .replace(/\s{0,5}2>&1$/, '');
}

/** A here-document: its end mark and its lines. */
export const HEREDOC = /<<-?\s?['"]?(\w{1,20})['"]?[^\n]{0,200}\n([\s\S]{1,6000}?)\n\s{0,8}\1\b/g;

/** Tells what a command is for by its first words, and by the words of checks. */
export function commandKind(command: string): CommandKind {
  const plain = plainCommand(command).replaceAll(HEREDOC, '<<…');
  const parts = plain.split(/&&|;|\|\||\n/).map((part) => part.trim());
  const kinds = parts.filter((part) => part !== '').map(kindOfPart);
  for (const kind of ['git', 'check', 'do', 'look'] as const) if (kinds.includes(kind)) return kind;
  return 'do';
}

/** What may stand in front of a command: `sudo`, `timeout 5`, `if`, `NAME=value`. */
const BEFORE_COMMAND =
  /^(?:(?:sudo|time|timeout \d{1,5}s?|env|do|then|else|if|while|until|[!{(]) |[A-Za-z_]\w{0,40}=(?:\$\([^)]{0,200}\)|"[^"]{0,200}"|'[^']{0,200}'|\S{0,200})(?: |$)){1,8}/;
/** Parts of a script that run nothing themselves: `for`, `done`, `fi`, closing brackets. */
const SYNTAX = /^(?:$|for |done\b|fi$|[})])/;

function kindOfPart(given: string): CommandKind {
  const part = given.replace(BEFORE_COMMAND, '').trim();
  if (SYNTAX.test(part)) return 'look';
  const [first = ''] = part.split(/\s+/, 3);
  if (first === 'git') {
    const verb = part.replace(/^git(?: -[cC] \S{1,300}){0,4} /, '').split(/\s+/, 1)[0] ?? '';
    return GIT_LOOKS.has(verb) ? 'look' : 'git';
  }
  if (first === 'gh')
    return /^gh \w{1,20} (?:create|merge|comment|edit|close|review)\b|-f body=|-X (?:POST|PATCH|PUT)/.test(
      part,
    )
      ? 'git'
      : 'look';
  if (LOOKS.has(first)) return part.replaceAll(DISCARDS, '').includes('>') ? 'do' : 'look';
  if (FILE_COMMANDS.has(first)) return 'do';
  return CHECK.test(part.slice(0, 200)) ? 'check' : 'do';
}

/** Redirections that write no file. */
const DISCARDS = /\d?>&\d|[\d&]?>\s?\/dev\/null/g;

/** The files that a command prints, with the first line where it tells. Only commands that do nothing else. */
const PRINTS =
  /^(?:cat(?: -[a-zA-Z]{1,4})?|nl(?: -ba)?|head(?: -n? ?\d{1,7})?|tail(?: -n? ?\d{1,7})?|sed -n ['"]?(\d{1,7}),(\d{1,7}|\$)p['"]?) ["']?([^\s|&;<>'"]{1,300})["']?$/;

export function printedFile(
  command: string,
): { readonly path: string; readonly from: number | undefined; readonly to: number | undefined } | undefined {
  const plain = plainCommand(command);
  const match = PRINTS.exec(plain.replace(/\s{0,5}\|\s{0,5}nl.{0,40}$/, ''));
  if (match === null || match[3] === undefined || match[3].startsWith('-')) return undefined;
  const isTail = plain.startsWith('tail');
  const from = match[1] === undefined ? (isTail ? undefined : 1) : Number(match[1]);
  const to = Number(match[2]);
  return { path: match[3], from, to: Number.isFinite(to) ? to : undefined };
}
