import { asList, asString, type JsonObject } from '../../conversation/json.ts';
import { asObject } from '../json.ts';
import type { ReplyPart } from '../reply.ts';
import type { OfferedTool, ToolKind } from '../script.ts';
import type { IdSource } from '../seeded.ts';

/** Tools that the provider runs itself, by how their types begin. */
const serverKinds: readonly (readonly [beginning: string, kind: ToolKind])[] = [
  ['web_search_', 'web-search'],
  ['tool_search_tool_', 'tool-search'],
];

/** A tool of the provider's own; none for those that are not simulated. */
export function readServerTool({ type, name }: JsonObject): readonly OfferedTool[] {
  const text = asString(type) ?? '';
  const kind = serverKinds.find(([beginning]) => text.startsWith(beginning))?.[1];
  return kind === undefined ? [] : [{ name: asString(name) ?? '', schema: {}, kind }];
}

/** A call of such a tool and its result, which stand in one answer; undefined for a tool that the client runs. */
export function writeServerCall(
  { name, input }: ReplyPart & { readonly type: 'tool-call' },
  body: JsonObject,
  ids: IdSource,
): readonly JsonObject[] | undefined {
  const offered = asList(body['tools']).map(asObject);
  const [tool] = offered.filter((each) => each['name'] === name).flatMap(readServerTool);
  if (tool === undefined) return undefined;
  const id = ids('srvtoolu_');
  const call = { type: 'server_tool_use', id, name, input };
  return tool.kind === 'web-search'
    ? [call, { type: 'web_search_tool_result', tool_use_id: id, content: [pageFound(input)] }]
    : [call, { type: 'tool_search_tool_result', tool_use_id: id, content: toolsFound(offered, input) }];
}

function pageFound(input: JsonObject): JsonObject {
  const title = `About ${asString(input['query']) ?? 'everything'}`;
  const encrypted = Buffer.from(title).toString('base64');
  const url = 'https://search.example/1';
  return { type: 'web_search_result', url, title, encrypted_content: encrypted, page_age: null };
}

/** Tools that are loaded later and have the words in their names or descriptions. */
function toolsFound(offered: readonly JsonObject[], input: JsonObject): JsonObject {
  const words = (asString(input['query']) ?? asString(input['pattern']) ?? '').toLowerCase();
  const found = offered.filter(({ defer_loading: isLater, name, description }) => {
    const text = `${asString(name) ?? ''} ${asString(description) ?? ''}`.toLowerCase();
    return isLater === true && text.includes(words);
  });
  return {
    type: 'tool_search_tool_search_result',
    tool_references: found.map(({ name }) => ({ type: 'tool_reference', tool_name: name })),
  };
}
