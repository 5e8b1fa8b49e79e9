import { createEngine, type Engine, type EngineOptions } from '../../compaction/options.ts';
import { RoundfoldError } from '../../conversation/errors.ts';
import { findModel } from '../../tokens/catalog.ts';
import { catalog } from '../../tokens/catalog-data.ts';
import { fileSource } from '../../transcripts/input/source.ts';
import { type Recording, readRecordings } from '../../transcripts/recordings.ts';
import type { GivenArguments } from '../command.ts';
import { nearest } from '../nearest.ts';

/** The conversation of the file that is asked for. */
export async function findRecording(given: GivenArguments): Promise<Recording> {
  const [file = '-'] = given.positional;
  const wanted = Number(given.text('conversation') ?? 1);
  if (!Number.isInteger(wanted) || wanted < 1) {
    throw new RoundfoldError('usage', '--conversation wants a number from 1 on', {
      remedy: '`roundfold inspect` lists the conversations of a file in their order.',
    });
  }
  let seen = 0;
  const recordings = readRecordings(await fileSource(file), {
    format: given.text('format'),
    reader: given.text('reader'),
  });
  for await (const recording of recordings) if (++seen === wanted) return recording;
  throw new RoundfoldError('usage', `there is no conversation ${wanted} in ${file}`, {
    remedy: `It holds ${seen}.`,
  });
}

/**
 * The model to go by: the one that was asked for, else the one that the file names.
 * @throws RoundfoldError `usage` when the one that was asked for is unknown
 */
export function readModel(given: GivenArguments, recorded: string | undefined): string | undefined {
  const asked = given.text('model');
  if (asked === undefined) return recorded;
  if (findModel(asked) !== undefined) return asked;
  const meant = nearest(
    asked,
    catalog.map(({ id }) => id),
  );
  const question = meant === undefined ? '' : `Did you mean ${meant}? `;
  throw new RoundfoldError('usage', `unknown model ${JSON.stringify(asked)}`, {
    remedy: `${question}Leave --model out to go by what the file says; --budget alone decides how small it gets.`,
  });
}

/** The engine, as the command line sets it. The budget alone says how small to get: there is no window to fill. */
export function createRunEngine(
  given: GivenArguments,
  {
    model,
    strategy,
    summarizer,
    onEvent,
  }: Pick<EngineOptions, 'model' | 'strategy' | 'summarizer' | 'onEvent'>,
): Engine {
  const pins = { patterns: (given.list('pin') ?? []).map(readPattern) };
  return createEngine({ model, windowTokens: 0, strategy, summarizer, pins, onEvent, economy: false });
}

/**
 * What the request may have, in tokens: half of what it has unless somebody says.
 * @throws RoundfoldError `usage` for what is neither tokens nor a share
 */
export function readTarget(given: GivenArguments, wholeTokens: number): number {
  return readBudget(given.text('budget') ?? '50%', wholeTokens);
}

function readBudget(text: string, whole: number): number {
  const [, digits = '', percent] = /^([\d_,]{1,15}(?:\.\d{1,6})?)(%?)$/.exec(text.trim()) ?? [];
  const value = Number(digits.replaceAll(/[_,]/g, ''));
  if (digits === '' || !(value > 0)) {
    throw new RoundfoldError('usage', `--budget wants tokens or a share, not ${JSON.stringify(text)}`, {
      remedy: 'For example 30000 or 40%.',
    });
  }
  return Math.floor(percent === '%' ? (whole * value) / 100 : value);
}

function readPattern(text: string): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch (cause) {
    // biome-ignore lint/style/useErrorCause: the cause is passed, in the third argument
    throw new RoundfoldError('usage', `--pin is no regular expression: ${JSON.stringify(text)}`, {
      cause,
      remedy: 'Put a backslash before characters that are meant as such: \\( \\[ \\. \\*',
    });
  }
}

/** The options of the strategy. */
export function readSettings(given: GivenArguments): Readonly<Record<string, unknown>> {
  const instructions = given.text('instructions');
  const settings = (given.list('set') ?? []).map((setting) => {
    const equals = setting.indexOf('=');
    if (equals >= 1) return [setting.slice(0, equals), setting.slice(equals + 1)] as const;
    throw new RoundfoldError('usage', `--set wants key=value, not ${JSON.stringify(setting)}`, {
      remedy: 'For example --set keepLast=20.',
    });
  });
  return { ...Object.fromEntries(settings), ...(instructions === undefined ? {} : { instructions }) };
}
