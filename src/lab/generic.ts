import { scanText } from '../core/entities.ts';
import type { Message } from '../core/message.ts';
import { textsOf } from './message-texts.ts';

/** Collects names by project, to find those that say nothing about any of them. */
export class GenericNames {
  readonly #projects = new Map<string, string>();
  readonly #shared = new Set<string>();

  /** Takes all names of some messages of a project. */
  add(project: string, messages: readonly Message[]): void {
    for (const message of messages) {
      for (const { text } of textsOf(message)) scanText(text, { entity: (name) => this.#see(name, project) });
    }
  }

  #see(name: string, project: string): void {
    const known = this.#projects.get(name);
    if (known === undefined) this.#projects.set(name, project);
    else if (known !== project) this.#shared.add(name);
  }

  /** Names that were seen in two projects or more. */
  get names(): ReadonlySet<string> {
    return this.#shared;
  }
}
