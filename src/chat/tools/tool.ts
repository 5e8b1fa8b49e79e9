import type { JsonObject } from '../../conversation/json.ts';
import type { Workspace } from './workspace.ts';

/** A tool of the harness: only looks, and only below the working directory. */
export interface ChatTool {
  readonly name: string;
  readonly summary: string;
  /** What it takes: all of it text. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly required: readonly string[];
  run(input: JsonObject, workspace: Workspace): Promise<string>;
}
