/** Rates the names in a conversation: how likely the rest of the work needs each of them. */

import type { Did, Happening } from './events.ts';
import { scanText } from './facts/entities.ts';
import type { KnownFile } from './files.ts';
import { NAME_WORTH } from './weights.ts';

/** Longer arguments are contents, not names of things. */
const LONGEST_ARGUMENT = 600;

/** How much each name of a conversation (a path, an identifier, an id) is worth to whoever has to continue it. */
export class NameWorth {
  /** When each name was last spoken of. */
  private readonly uses = new Map<string, number>();
  private readonly changed = new Set<string>();
  private readonly total: number;
  private readonly scale: number;
  /** Names in messages that stay in the conversation: the memory need not repeat them. */
  readonly known = new Set<string>();

  constructor(events: readonly Happening[], files: readonly KnownFile[], scale: number) {
    this.total = events.length;
    this.scale = scale;
    for (const [place, event] of events.entries()) {
      for (const text of spokenTexts(event))
        scanText(text, { entity: (name) => this.use(name, place, event.isKept) });
    }
    for (const { stretches } of files) {
      for (const { lines } of stretches) {
        for (const { text, changedAt } of lines) {
          if (changedAt >= 0) scanText(text, { entity: (name) => this.changed.add(name) });
        }
      }
    }
  }

  /** What a name is worth in a text about the event at `place`. */
  of(name: string, place: number, isInFile: boolean): number {
    const last = this.uses.get(name);
    let worth: number = this.scale * NAME_WORTH.base * (1 + this.total - place) ** -NAME_WORTH.fading;
    if (last !== undefined) worth *= NAME_WORTH.spokenOf * (1 + this.total - last) ** -NAME_WORTH.fading;
    if (this.changed.has(name)) worth *= NAME_WORTH.changed;
    return isInFile ? worth * NAME_WORTH.inFile : worth;
  }

  private use(name: string, place: number, isKept: boolean): void {
    if (isKept) this.known.add(name);
    this.uses.set(name, place);
  }
}

function spokenTexts(event: Happening): readonly string[] {
  switch (event.type) {
    case 'said':
    case 'told':
      return [event.text];
    case 'given':
      return event.isHandover ? [event.text] : [];
    case 'past':
      return event.lines.slice(0, 1);
    case 'did':
      return argumentsOf(event.action).map((text) => text.slice(0, LONGEST_ARGUMENT));
  }
}

function argumentsOf(action: Did['action']): readonly string[] {
  switch (action.kind) {
    case 'run':
      return [action.command];
    case 'search':
      return [action.what, action.where ?? ''];
    case 'change':
    case 'look':
      return action.files.map(({ path }) => path);
    case 'other':
      return [action.arguments];
    case 'tasks':
      return action.items.flatMap(({ text, detail }) => [text ?? '', detail ?? '']);
    case 'delegate':
      return [action.prompt];
    default:
      return [];
  }
}

/** The names in a text, each once. */
export function namesIn(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  scanText(text, { entity: (name) => names.add(name) });
  return names;
}
