import { RoundfoldError } from '../../conversation/errors.ts';
import type { CommandDefinition, GivenArguments } from '../command.ts';
import { type DemoSettings, runDemo } from '../demo/run.ts';
import { demoWindows } from '../demo/session.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { untilInterrupted } from '../interruption.ts';
import { checkOutputs, forceOption } from '../output-files.ts';
import { type Report, reportError } from '../report.ts';
import { readWholeNumber } from '../store/whole-number.ts';

const DEFAULT_WINDOW = 32_000;
const DEFAULT_SEED = 1;

/** `roundfold demo`: a long session without and with roundfold, before your eyes. */
export const demo: CommandDefinition = {
  name: 'demo',
  summary: 'play a long agent session without and with roundfold, offline',
  options: [
    {
      flags: '--window <tokens>',
      help: `window of the model, ${demoWindows.from} to ${demoWindows.to} (default ${DEFAULT_WINDOW})`,
    },
    { flags: '--seed <number>', help: `another seed is another session (default ${DEFAULT_SEED})` },
    { flags: '--html <file>', help: 'write the report there (default: among the temporary files)' },
    forceOption,
    { flags: '--json', help: 'the numbers as one JSON object' },
  ],
  examples: [
    ['roundfold demo', 'watch it'],
    ['roundfold demo --window 16000 --html demo.html', 'a smaller window, and the report here'],
    ['roundfold demo --json', 'the numbers alone: the same for the same seed'],
  ],
  details: () => DETAILS,
  run: (given, terminal) => run(given, { terminal, json: given.flag('json') }),
};

const DETAILS = `The provider is \`roundfold simulate\`, the client the Anthropic SDK where it is
installed. The model is a script that says the same in both runs; tools work on
a made-up project in memory. Nothing is read from or sent to anywhere else.
`;

async function run(given: GivenArguments, report: Report): Promise<ExitCode> {
  checkOutputs(given, []);
  const settings = readSettings(given);
  const { value, stoppedWith } = await untilInterrupted((signal) =>
    runDemo(report, { settings, given }, signal).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    }),
  );
  if (value !== undefined) return value;
  const message = 'interrupted; nothing was written';
  reportError(report, { code: 'interrupted', message, remedy: 'Run it again when you like.' });
  return stoppedWith ?? exitCodes.failed;
}

function readSettings(given: GivenArguments): DemoSettings {
  const windowTokens = readWholeNumber(given, 'window', demoWindows.from) ?? DEFAULT_WINDOW;
  if (windowTokens > demoWindows.to) {
    throw new RoundfoldError('usage', `--window is too large for this session: ${windowTokens}`, {
      remedy: `Give a number from ${demoWindows.from} to ${demoWindows.to}.`,
    });
  }
  return { windowTokens, seed: readWholeNumber(given, 'seed', 0) ?? DEFAULT_SEED };
}
