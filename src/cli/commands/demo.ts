import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCompactor } from '../../compaction/compactor.ts';
import { type CommandDefinition, type GivenArguments, readNumber } from '../command.ts';
import { DEMO_MODEL, type DemoRun, findClient, playSession } from '../demo/play.ts';
import { type DemoResult, figuresOf, renderDemoPage } from '../demo/result.ts';
import { endingText, headingText, introText, nextText, openStage, tableText } from '../demo/screen.ts';
import { demoWindows, makeSession } from '../demo/session.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { checkOutputs, forceOption, writeOutput, writePrivateFile } from '../files.ts';
import { untilInterrupted } from '../interruption.ts';
import { type Report, reportError, writeJson } from '../output.ts';

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
  run,
};

const DETAILS = `The provider is \`roundfold simulate\`, the client the Anthropic SDK where it is
installed. The model is a script that says the same in both runs; tools work on
a made-up project in memory. Nothing is read from or sent to anywhere else.
`;

async function run(given: GivenArguments, report: Report): Promise<ExitCode> {
  checkOutputs(given, []);
  const settings = readSettings(given);
  const { value, stoppedWith } = await untilInterrupted((signal) =>
    playAndTell(given, report, settings, signal).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    }),
  );
  if (value !== undefined) return value;
  const message = 'interrupted; nothing was written';
  reportError(report, { code: 'interrupted', message, remedy: 'Run it again when you like.' });
  return stoppedWith ?? exitCodes.failed;
}

interface DemoSettings {
  readonly windowTokens: number;
  readonly seed: number;
}

function readSettings(given: GivenArguments): DemoSettings {
  return {
    windowTokens: readNumber(given, 'window', demoWindows) ?? DEFAULT_WINDOW,
    seed: readNumber(given, 'seed', { from: 0 }) ?? DEFAULT_SEED,
  };
}

/**
 * Plays the session without and with roundfold, and tells about it.
 * @throws the signal's reason when it is aborted; nothing is left behind then
 */
async function playAndTell(
  given: GivenArguments,
  report: Report,
  settings: DemoSettings,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { terminal, json } = report;
  const result = await playBoth(report, settings, signal);
  const out = writePage(given, renderDemoPage(result));
  if (json) tellJson(report, result, out);
  else {
    terminal.out(tableText(result, terminal));
    terminal.out(`\nReport: ${out}\n`);
    terminal.out(nextText(settings.windowTokens, terminal));
  }
  return result.with.refusal === undefined ? exitCodes.done : exitCodes.failed;
}

/** Where the page went: where the user said, else to a folder of its own among the temporary files. */
function writePage(given: GivenArguments, page: string): string {
  const written = writeOutput(given, 'html', () => page);
  if (written !== undefined) return written;
  const path = join(mkdtempSync(join(tmpdir(), 'roundfold-demo-')), 'report.html');
  writePrivateFile(path, page, { kind: 'page', isForced: false });
  return path;
}

async function playBoth(
  { terminal, json }: Report,
  { windowTokens, seed }: DemoSettings,
  signal: AbortSignal,
): Promise<DemoResult> {
  const client = await findClient();
  const session = makeSession(seed, windowTokens);
  const steps = session.steps.length;
  const isLive = terminal.isWatched && process.stdout.isTTY && !json;
  const tell = json ? () => undefined : terminal.talk;
  const watched = json ? { ...terminal, talk: tell } : terminal;
  const perform = async (name: string, isCompacting: boolean): Promise<DemoRun> => {
    tell(headingText(name, terminal));
    const audience = openStage({ terminal: watched, windowTokens, steps, isLive, signal });
    const options = { session, windowTokens, seed, client, isCompacting, signal, audience };
    const played = await playSession(options).finally(audience.end);
    tell(endingText(played, terminal));
    return played;
  };

  tell(introText(client, { model: DEMO_MODEL, windowTokens, steps }, terminal));
  const without = await perform('Without roundfold', false);
  const kept = await perform('With roundfold', true);
  const { triggerTokens, targetTokens } = createCompactor({ model: DEMO_MODEL, windowTokens }).thresholds;
  const limits = { windowTokens, triggerTokens, targetTokens };
  return { model: DEMO_MODEL, ...limits, seed, client: client.name, steps, without, with: kept };
}

function tellJson(report: Report, result: DemoResult, out: string): void {
  const { without: _, with: kept, ...about } = result;
  const compactions = kept.compactions.map(({ step, account }) => ({
    step,
    strategy: account.reason,
    tokensBefore: account.before.tokens,
    tokensAfter: account.after.tokens,
    survival: account.survival,
  }));
  writeJson(report, 'demo', {
    ...about,
    ...figuresOf(result),
    receipts: compactions,
    report: out,
  });
}
