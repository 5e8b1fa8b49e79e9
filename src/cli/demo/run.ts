import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCompactor } from '../../compaction/compactor.ts';
import type { GivenArguments } from '../command.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { writeOutput } from '../output-files.ts';
import { type Report, writeJson } from '../report.ts';
import { writePrivateFile } from '../write-file.ts';
import { findClient } from './client.ts';
import { type DemoResult, figuresOf } from './figures.ts';
import { DEMO_MODEL } from './model.ts';
import { renderDemoPage } from './page.ts';
import { type DemoRun, type PlayOptions, playSession } from './play.ts';
import { makeSession } from './session.ts';
import { openStage } from './stage.ts';
import { endingText, headingText, introText, nextText, tableText } from './text.ts';

export interface DemoSettings {
  readonly windowTokens: number;
  readonly seed: number;
}

export interface DemoRequest {
  readonly settings: DemoSettings;
  readonly given: GivenArguments;
}

/**
 * Plays the session without and with roundfold, and tells about it.
 * @throws the signal's reason when it is aborted; nothing is left behind then
 */
export async function runDemo(
  report: Report,
  { settings, given }: DemoRequest,
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
  const maker = await findClient();
  const session = makeSession(seed, windowTokens);
  const steps = session.steps.length;
  const isLive = terminal.isWatched && process.stdout.isTTY && !json;
  const tell = json ? () => undefined : terminal.talk;
  const watched = json ? { ...terminal, talk: tell } : terminal;
  const perform = async (name: string, isCompacting: boolean): Promise<DemoRun> => {
    tell(headingText(name, terminal));
    const stage = openStage({ terminal: watched, windowTokens, steps, isLive, signal });
    const options: PlayOptions = {
      session,
      windowTokens,
      seed,
      maker,
      isCompacting,
      signal,
      audience: stage.audience,
    };
    const run = await playSession(options).finally(stage.end);
    tell(endingText({ requests: run.requests.length, refusal: run.refusal }, terminal));
    return run;
  };

  tell(introText(maker, { model: DEMO_MODEL, windowTokens, steps }, terminal));
  const without = await perform('Without roundfold', false);
  const kept = await perform('With roundfold', true);
  const { triggerTokens, targetTokens } = createCompactor({ model: DEMO_MODEL, windowTokens }).thresholds;
  const limits = { windowTokens, triggerTokens, targetTokens };
  return { model: DEMO_MODEL, ...limits, seed, client: maker.name, steps, without, with: kept };
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
