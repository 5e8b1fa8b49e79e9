import type { CommandDefinition } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { untilTold } from '../interruption.ts';
import {
  conversationOption,
  overStore,
  STORE_HELP,
  type StoreWork,
  storeOption,
  tenantOption,
} from '../store.ts';
import { readVersion } from '../version.ts';

/** `roundfold mcp`: lets an agent read again what left its context. Runs until it is told to end, which is a success. */
export const mcp: CommandDefinition = {
  name: 'mcp',
  summary:
    'let an agent recall and search what left its context, as an MCP server on standard input and output',
  options: [conversationOption, tenantOption, storeOption],
  examples: [
    ['claude mcp add roundfold -- roundfold mcp', 'in Claude Code'],
    ['roundfold mcp --tenant alice --conversation 3fa9', 'with one conversation and nothing else'],
  ],
  details: () => `${CONFIGURATION}\n${STORE_HELP}`,
  run: (given, report) => overStore(given, report, run),
};

const CONFIGURATION = `In other clients: { "mcpServers": { "roundfold": { "command": "roundfold", "args": ["mcp"] } } }

Tools: recall (handle, page) and search (words, limit). Both only read.
`;

async function run({ given, report, access }: StoreWork): Promise<ExitCode> {
  const { terminal } = report;
  const told = untilTold();
  // Loaded here, so that help and other commands do without the SDK.
  const { serveTools } = await import('./mcp-server.ts');
  const serving = serveTools({
    access,
    tenant: given.text('tenant'),
    conversation: given.text('conversation'),
    version: readVersion(),
    onError: () => terminal.talk('a message of the client could not be read or answered\n'),
  });
  if (terminal.isWatched) terminal.talk('waiting for an MCP client on standard input; Ctrl-C ends it\n');
  await Promise.race([told, serving.closed]);
  await serving.close();
  // The tools have reported them to the agent already.
  access.takeFaults();
  return exitCodes.done;
}
