import type { Place } from '../../conversation/errors.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { JsonEntry } from '../input/json-values.ts';
import { createTally, originAt, placeInside, type Tally } from '../records.ts';
import type { Reject, Transcript, TranscriptFold, TranscriptReader } from '../transcript.ts';

/**
 * SWE-agent trajectories, as OpenAI chat messages: the recorded `history` with its demonstrations, or, in files
 * without one, the messages of the last step and the model's answer to them. Reused call ids stay as they are.
 */
export const sweAgent: TranscriptReader = {
  name: 'swe-agent',
  product: 'SWE-agent',
  summary: 'SWE-agent trajectories (.traj)',
  location: 'trajectories/<user>/<run>/<instance>.traj',
  recognise: (sample) => sample.some(({ value }) => isTrajectory(value)),
  open: openFile,
};

type Trajectory = JsonObject & { readonly trajectory: readonly unknown[] };

function isTrajectory(value: unknown): value is Trajectory {
  if (!isObject(value) || !Array.isArray(value['trajectory']) || !isObject(value['info'])) return false;
  const [step] = value['trajectory'];
  return Array.isArray(value['history']) || (isObject(step) && 'action' in step && 'observation' in step);
}

function openFile(reject: Reject): TranscriptFold {
  let found = 0;
  return {
    *add({ value, place }: JsonEntry) {
      if (isTrajectory(value)) yield toTranscript(value, place, found++);
      else reject(place, 'expected a SWE-agent trajectory: `trajectory`, `history` and `info`');
    },
    end: () => [],
  };
}

function toTranscript(value: Trajectory, place: Place, index: number): Transcript {
  const tally = createTally();
  const { entries, path } = historyOf(value, tally);
  const sent = entries.flatMap((entry, position) =>
    isObject(entry) && typeof entry['role'] === 'string' ? [{ entry, position }] : leaveEntry(tally),
  );
  return {
    reader: sweAgent.name,
    format: 'openai-chat',
    title: index === 0 ? 'main' : `trajectory ${index + 1}`,
    kind: 'main',
    model: modelOf(value['replay_config']),
    segments: [
      {
        body: sent.map(({ entry }) => toMessage(entry, tally)),
        origins: sent.map(({ position }) => originAt(placeInside(place, path(position)))),
        opening: undefined,
      },
    ],
    notes: tally.notes(),
  };
}

interface History {
  readonly entries: readonly unknown[];
  /** Where in the document an entry stands. */
  readonly path: (position: number) => string;
}

function historyOf({ history, trajectory }: Trajectory, tally: Tally): History {
  if (Array.isArray(history)) return { entries: history, path: (position) => `history.${position}` };
  const index = trajectory.length - 1;
  const last: unknown = trajectory[index];
  const step: JsonObject = isObject(last) ? last : {};
  const key = Array.isArray(step['messages']) ? 'messages' : 'query';
  const asked = asList(step[key]);
  const answer = asString(step['response']);
  tally.add('no history in the file: the last step of its trajectory is shown');
  return {
    entries: answer === undefined ? asked : [...asked, { role: 'assistant', content: answer }],
    path: (position) => `trajectory.${index}.${position < asked.length ? `${key}.${position}` : 'response'}`,
  };
}

function leaveEntry(tally: Tally): readonly [] {
  tally.add('{n} history record{s} without a role left out');
  return [];
}

/** Fields of an entry that are on the wire under the same name. */
const WIRE_FIELDS = ['name', 'tool_calls', 'function_call', 'tool_call_id', 'reasoning_content'];

function toMessage(entry: JsonObject, tally: Tally): JsonObject {
  if (entry['is_demo'] === true) tally.add('{n} demonstration message{s} kept');
  const fields = WIRE_FIELDS.flatMap((name) =>
    entry[name] === undefined || entry[name] === null ? [] : [[name, entry[name]] as const],
  );
  // One observation answers one call: SWE-agent sends the first id of the list.
  const [callId] = entry['role'] === 'tool' ? asList(entry['tool_call_ids']) : [];
  return {
    role: entry['role'],
    content: entry['content'] ?? null,
    ...Object.fromEntries(fields),
    ...(typeof callId === 'string' ? { tool_call_id: callId } : {}),
  };
}

function modelOf(config: unknown): string | undefined {
  const agent = isObject(config) ? config['agent'] : undefined;
  const model = isObject(agent) ? agent['model'] : undefined;
  return isObject(model) ? asString(model['name']) : undefined;
}
