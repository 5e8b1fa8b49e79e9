import { readFile } from 'node:fs/promises';
import { RoundfoldError } from '../../conversation/errors.ts';
import { printable } from '../../conversation/printable.ts';
import { type FaultName, faultKinds, isFaultName } from '../../simulator/faults.ts';
import type { Script } from '../../simulator/script.ts';
import { createScript, type ScriptSettings } from '../../simulator/scripted.ts';
import { type RecordedRequest, startSimulator } from '../../simulator/simulator.ts';
import { type CommandDefinition, type GivenArguments, readNumber } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { untilTold } from '../interruption.ts';
import { type Report, writeJson } from '../output.ts';

const faultNames = Object.keys(faultKinds);

/** `roundfold simulate`: a strict provider on this machine. Runs until it is told to end, which is a success. */
export const simulate: CommandDefinition = {
  name: 'simulate',
  summary: 'run a strict local provider that accepts and refuses what the real ones do',
  options: [
    { flags: '--port <number>', help: 'port to listen at; default: any free one' },
    { flags: '--host <name>', help: 'address to listen at; default 127.0.0.1, this machine only' },
    { flags: '--window <tokens>', help: "window of every model; default: each model's own" },
    {
      flags: '--fault <name>',
      help: 'something that goes wrong with every request; may be repeated',
      choices: faultNames,
      isList: true,
    },
    {
      flags: '--script <file>',
      help: 'what the model calls and says, as JSON; default: a few calls and an answer',
    },
    { flags: '-j, --json', help: 'one line of JSON per request, without its contents' },
  ],
  examples: [
    ['roundfold simulate --window 20000', 'models with a small window, to see how a client meets its end'],
    ['roundfold simulate --fault overloaded --json', 'every request is answered with 529'],
    ['roundfold simulate --script rounds.json --window 40000', 'an agent of your own at work for 60 rounds'],
  ],
  details: () => DETAILS,
  async run(given, report) {
    const { terminal } = report;
    const ended = untilTold();
    const simulator = await startSimulator({
      port: readNumber(given, 'port', { from: 0, to: 65_535 }),
      windowTokens: readNumber(given, 'window', { from: 1 }),
      host: given.text('host'),
      script: await readScript(given.text('script')),
      faults: readFaults(given).map((name) => ({ name })),
      onRequest: (request) => printRequest(report, request),
    });
    const lines = exportsFor(simulator.url);
    if (report.json) terminal.talk(lines);
    else terminal.out(lines);
    await ended;
    await simulator.close();
    return exitCodes.done;
  },
};

/** What leads the usual clients here. All at once, so that whoever waits for a line has all of them. */
function exportsFor(url: string): string {
  const variables = [
    ['ANTHROPIC_BASE_URL', url],
    ['OPENAI_BASE_URL', `${url}/v1`],
    ['GOOGLE_GEMINI_BASE_URL', url],
    // As with the real ones, there has to be a key. Any will do.
    ...['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'CODEX_API_KEY', 'GEMINI_API_KEY'].map((name) => [
      name,
      'any',
    ]),
  ];
  return variables.map(([name, value]) => `export ${name}=${value}\n`).join('');
}

const DETAILS = `Standard output gets lines for a shell, and nothing else: the addresses, and keys, since clients
and providers want one; any will do. Requests are told on standard error. With --json it is the
other way round.

A script is JSON. Its steps are played in turn, over and over, until all rounds are done:

  {
    "rounds": 60,
    "steps": [
      { "text": "Part {round}.",
        "calls": [{ "tool": "read", "input": { "path": "part-{round}.txt" } }] }
    ],
    "answer": "All {rounds} parts are read.",
    "compaction": "What a client gets that asks for a summary of the conversation.",
    "compactionPrompts": ["how such a request of your own client begins"],
    "aside": "What requests without tools get."
  }

Tools and their inputs are those of your agent: bash with a command in pi and opencode, exec_command
with a cmd in Codex. A tool may be a list of names: the first one that a request offers is called.
Every conversation has all rounds, and a question behind the answer has them again. The script goes
on when the history was compacted in between.`;

async function readScript(file: string | undefined): Promise<Script | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new RoundfoldError('usage', `cannot read the script ${JSON.stringify(file)}`, { cause });
  });
  const settings = parseScript(text);
  if (settings === undefined) {
    throw new RoundfoldError('usage', 'the script is no JSON', { place: { source: file } });
  }
  return createScript(settings);
}

function parseScript(text: string): ScriptSettings | undefined {
  try {
    return JSON.parse(text) as ScriptSettings; // createScript holds it to its shape
  } catch {
    return undefined;
  }
}

function readFaults(given: GivenArguments): readonly FaultName[] {
  return (given.list('fault') ?? []).map((name) => {
    if (isFaultName(name)) return name;
    throw new RoundfoldError('usage', `unknown fault ${JSON.stringify(name.slice(0, 40))}`, {
      remedy: `Known: ${faultNames.join(', ')}.`,
    });
  });
}

function printRequest(report: Report, request: RecordedRequest): void {
  const { method, path, status, format, model, promptTokens, outputTokens, rule, faults } = request;
  if (report.json) {
    writeJson(report, 'request', {
      method,
      path,
      status,
      format,
      model,
      streamed: request.isStreamed,
      promptTokens,
      outputTokens,
      rule,
      faults,
    });
    return;
  }
  const size = promptTokens === undefined ? '' : ` ${promptTokens} tokens`;
  const why = rule === undefined ? '' : ` ${rule}`;
  report.terminal.talk(`${status} ${method} ${printable(path, 80)}${size}${why}\n`);
}
