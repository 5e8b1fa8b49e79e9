import { providerNames } from '../../chat/providers/provider.ts';
import { strategies } from '../../compaction/strategies/registry.ts';
import type { CommandDefinition } from '../command.ts';
import { setOption, summarizerOptions } from '../compaction-options.ts';
import { EXIT_CODE_TEXT } from '../exit-codes.ts';

/** `roundfold chat`: an agent in the terminal whose context is looked after. */
export const chat: CommandDefinition = {
  name: 'chat',
  summary: 'talk to a model, or to nobody, and watch what happens to the context',
  options: [
    {
      flags: '--provider <name>',
      help: 'who answers (default: whose key is set, else offline, which needs no model)',
      choices: providerNames,
    },
    {
      flags: '--base-url <url>',
      help: 'address of the provider, for its summaries too; alone: of a server that speaks like OpenAI',
    },
    { flags: '--model <name>', help: 'model to ask' },
    { flags: '--window <tokens>', help: "size of the window, instead of the model's" },
    {
      flags: '--strategy <name>',
      help: 'how the context is made smaller when it is due (default ladder)',
      choices: strategies.map(({ name }) => name),
    },
    setOption,
    ...summarizerOptions,
    { flags: '--session <file>', help: 'save the chat there; goes on with it when it is there' },
    { flags: '--resume [name]', help: 'go on with a saved chat: the newest, or the one of that name' },
    { flags: '--load <file>', help: 'begin with the conversation of a file: whatever inspect reads' },
    { flags: '--store <address>', help: 'keep what leaves the context there, for /recall' },
    { flags: '--log <file>', help: 'append a record of every compaction, as a line of JSON' },
    { flags: '--force', help: 'append to a --log file that roundfold did not write' },
  ],
  examples: [
    ['roundfold chat', 'needs no key: /help lists what can be tried'],
    ['roundfold chat --window 4000', 'with a small window, to see compactions soon'],
    ['roundfold chat --provider anthropic --resume', 'go on with the newest chat'],
    ['roundfold chat --base-url http://localhost:11434/v1 --model qwen3', 'with a server of your own'],
  ],
  details: () => `${DETAILS}\n${EXIT_CODE_TEXT}\n`,
  async run(given, { terminal }) {
    // Loaded here, so that other commands do without.
    const { startChat } = await import('./chat-start.ts');
    return startChat(given, terminal);
  },
};

const DETAILS = `Tools list, read and search files below the working directory; they change nothing.
Keys come from ANTHROPIC_API_KEY or OPENAI_API_KEY. Chats are saved after every turn
in $XDG_STATE_HOME/roundfold/chat (below ~/.local/state when that is not set); where that
cannot be written, a chat says so and goes on unsaved.
From a pipe, every line is an entry.
`;
