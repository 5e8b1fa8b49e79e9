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
  details: () => scriptHelp,
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
    terminal.talk(`export ANTHROPIC_BASE_URL=${simulator.url}\n`);
    terminal.talk(`export OPENAI_BASE_URL=${simulator.url}/v1\n`);
    terminal.talk(`export GOOGLE_GEMINI_BASE_URL=${simulator.url}\n`);
    await ended;
    await simulator.close();
    return exitCodes.done;
  },
};

const scriptHelp = `A script is JSON. Its steps are played in turn, over and over, until all rounds are done:

  {
    "rounds": 60,
    "steps": [
      { "text": "Part {round}.",
        "calls": [{ "tool": "bash", "input": { "command": "head -c 6000 part-{round}.txt" } }] }
    ],
    "answer": "All {rounds} parts are read.",
    "compaction": "What a client gets that asks for a summary of the conversation.",
    "compactionPrompts": ["how such a request of your own client begins"],
    "aside": "What requests without tools get."
  }

A tool may be a list of names: the first one that a request offers is called.`;

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
