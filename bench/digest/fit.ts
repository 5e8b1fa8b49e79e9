/**
 * Fits the weights of the digest to recorded sessions and writes them, with a report of what they are worth on sessions
 * they were not fitted on: `node bench/digest/fit.ts`. Needs the corpus; takes some minutes.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabCase } from '../../src/lab/lab-case.ts';
import { entityTable } from '../../src/summarizers/digest/entity-features.ts';
import { lineTable } from '../../src/summarizers/digest/line-features.ts';
import type { DigestModels } from '../../src/summarizers/digest/worth.ts';
import { projectFolder } from '../estimator/sources.ts';
import { BUDGET_SHARES, type Lesson, lessonOf } from './examples.ts';
import { packedFolds, packedModel, rounded } from './packing.ts';
import { type Level, writeReport } from './report.ts';
import { meanFigures, scoreCase } from './score.ts';
import { readSessions, type Session } from './sessions.ts';
import { rankingQuality, train } from './train.ts';

const FOLDS = 5;
/** More cuts than are scored, since there is something to learn from each. */
const LESSON_CUTS = 9;
const DECAY = { entity: 0.15, line: 0.06 };
const SHARES = [0.3, 0.2, 0.1];
const SERVICE_SHARE = 0.4;

interface Taught {
  readonly session: Session;
  readonly lessons: readonly Lesson[];
  readonly fold: number;
}

function fitModels(taught: readonly Taught[]): DigestModels {
  const lessons = taught.flatMap((each) => each.lessons);
  return {
    entity: rounded(
      train(
        lessons.map(({ entities }) => entities),
        { size: entityTable.size, decay: DECAY.entity },
      ),
    ),
    line: rounded(
      train(
        lessons.map(({ lines }) => lines),
        { size: lineTable.size, decay: DECAY.line },
      ),
    ),
  };
}

const sessions = await readSessions('agents');
const lessonsOf = new Map(
  (await readSessions('agents', LESSON_CUTS)).map(({ name, cases }) => [
    name,
    BUDGET_SHARES.flatMap((share) => cases.map((labCase) => lessonOf(labCase, share, cases.length))),
  ]),
);
const taught = sessions.map((session, number): Taught => {
  return { session, lessons: lessonsOf.get(session.name) ?? [], fold: number % FOLDS };
});
const folds = Array.from({ length: FOLDS }, (_, fold) =>
  fitModels(taught.filter((each) => each.fold !== fold)),
);
const modelsOf = ({ fold }: Taught): DigestModels => folds[fold] ?? fitModels(taught);

function measure(
  name: string,
  isMeasured: (labCase: LabCase) => boolean,
  budgetOf: (labCase: LabCase) => number,
): Level {
  const bySession = taught.map((each) =>
    each.session.cases
      .filter(isMeasured)
      .map((labCase) => scoreCase(labCase, budgetOf(labCase), modelsOf(each))),
  );
  return { name, figures: meanFigures(bySession) };
}

const levels = SHARES.map((share) =>
  measure(
    `${share * 100} %`,
    ({ recorded }) => recorded === undefined,
    ({ cut }) => cut.prefixTokens * share,
  ),
);
const harnesses = new Set(
  sessions.flatMap(({ cases }) => cases.flatMap(({ recorded }) => recorded?.harness ?? [])),
);
for (const harness of harnesses) {
  levels.push(
    measure(
      `size of ${harness}'s own summaries`,
      ({ recorded }) => recorded?.harness === harness,
      ({ recorded, cut }) => recorded?.recordedTokens ?? cut.prefixTokens,
    ),
  );
}
const shipped = fitModels(taught);
const service = (await readSessions('service')).map(({ cases }) =>
  cases.map((labCase) => scoreCase(labCase, labCase.cut.prefixTokens * SERVICE_SHARE, shipped)),
);
levels.push({ name: `service dialogues, ${SERVICE_SHARE * 100} %`, figures: meanFigures(service) });

const held = (isHeld: boolean, pick: (lesson: Lesson) => Lesson['lines'], model: keyof DigestModels) =>
  folds.reduce((sum, models, fold) => {
    const lessons = taught.filter((each) => (each.fold === fold) === isHeld).flatMap((each) => each.lessons);
    return sum + rankingQuality(lessons.map(pick), models[model]) / FOLDS;
  }, 0);

writeFileSync(join(projectFolder, 'src/summarizers/digest/weights.gen.ts'), packedModel(shipped));
writeFileSync(
  join(projectFolder, 'bench/digest/folds.gen.ts'),
  packedFolds(folds, new Map(taught.map(({ session, fold }) => [session.name, fold]))),
);
writeFileSync(
  join(projectFolder, 'bench/digest/report.md'),
  writeReport({
    sessions: sessions.length,
    cuts: sessions.reduce((sum, { cases }) => sum + cases.length, 0),
    folds: FOLDS,
    levels,
    ranking: [
      {
        name: 'names of later calls',
        held: held(true, ({ entities }) => entities, 'entity'),
        own: held(false, ({ entities }) => entities, 'entity'),
      },
      {
        name: 'lines of later edits',
        held: held(true, ({ lines }) => lines, 'line'),
        own: held(false, ({ lines }) => lines, 'line'),
      },
    ],
    models: shipped,
  }),
);
for (const { name, figures } of levels) process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
