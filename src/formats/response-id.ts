import { asString } from '../conversation/json.ts';

/** The id of a response. An empty one, as some servers send it with every answer, tells none from the others. */
export function readResponseId(id: unknown): string | undefined {
  return asString(id) || undefined;
}
