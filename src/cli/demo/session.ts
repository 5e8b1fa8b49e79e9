import type { JsonObject } from '../../conversation/json.ts';
import type { Script } from '../../simulator/script.ts';
import { type DemoModule, type DemoProject, MOST_MODULES, makeProject } from './project.ts';

/** One answer of the model: words, calls, and what the user says after it. */
export interface DemoStep {
  readonly said: string;
  readonly calls: readonly DemoCall[];
  readonly reply?: string | undefined;
}

export interface DemoCall {
  readonly name: string;
  readonly input: JsonObject;
}

/** A session of a coding agent, made by code: what the user and the model say. Tools answer for themselves. */
export interface DemoSession {
  readonly project: DemoProject;
  readonly opening: string;
  readonly steps: readonly DemoStep[];
}

export const demoSystem =
  'You are a coding agent. Work in small steps: read, change, run the tests. Use the tools you are given.';

/** Said by the user, the first at the beginning and the second half way. */
const demoRules = [
  'Never touch anything under src/legacy, and keep every exported name as it is.',
  'From now on never use toFixed for money: amounts stay whole cents.',
] as const;

/** Tokens that the work on one module adds, about. A session fills its window a little more than twice. */
const MODULE_TOKENS = 2300;
const WINDOWS_FILLED = 2.2;

/** The windows that a session can be made for. */
export const demoWindows = { from: 16_000, to: 64_000 } as const;

/** A session for a window: the same for the same seed. */
export function makeSession(seed: number, windowTokens: number): DemoSession {
  const wanted = Math.round((WINDOWS_FILLED * windowTokens) / MODULE_TOKENS);
  const project = makeProject(seed, Math.min(MOST_MODULES, wanted));
  const { modules } = project;
  const half = Math.ceil(modules.length / 2);
  const late = Math.ceil(modules.length * 0.8);
  return {
    project,
    opening: `Invoices are one cent off since the last release. Find out why and mend it, module by module, with the tests. ${demoRules[0]}`,
    steps: [
      ...lookAround(),
      ...modules.slice(0, half).flatMap(mend),
      {
        said: `${half} of ${modules.length} modules are mended. Shall I go on with the rest?`,
        calls: [],
        reply: `Yes, go on. ${demoRules[1]}`,
      },
      ...modules.slice(half, late).flatMap(mend),
      {
        said: `${late} of ${modules.length} modules are mended, and their tests pass.`,
        calls: [],
        reply: 'Good. Tell me at the end what was wrong.',
      },
      ...modules.slice(late).flatMap(mend),
      { said: 'Every module is mended. I run all tests once more.', calls: [bash('npm test')] },
      {
        said: `All ${modules.length} modules add up to the cent. They rounded each share by itself; now they count whole cents. src/legacy is untouched and no exported name has changed.`,
        calls: [],
      },
    ],
  };
}

/** What the model says: the same, whatever it is sent. */
export function scriptOf({ steps }: DemoSession): Script {
  return ({ number }) => {
    const { said = 'Done.', calls = [] } = steps[number - 1] ?? {};
    return {
      parts: [
        { type: 'text', text: said },
        ...calls.map((call) => ({ type: 'tool-call' as const, ...call })),
      ],
    };
  };
}

function bash(command: string): DemoCall {
  return { name: 'Bash', input: { command } };
}

function lookAround(): readonly DemoStep[] {
  return [
    { said: 'I look at the layout and at what fails.', calls: [bash('git ls-files'), bash('npm test')] },
    {
      said: 'Every total is a cent low. I look for places that round.',
      calls: [{ name: 'Grep', input: { text: 'toFixed(2)' } }],
    },
  ];
}

function mend(module: DemoModule): readonly DemoStep[] {
  const { path, testPath, functionName, invoice, before, after } = module;
  return [
    {
      said: `Next is ${invoice}: ${functionName} in ${path}.`,
      calls: [
        { name: 'Read', input: { path } },
        { name: 'Grep', input: { text: functionName } },
      ],
    },
    {
      said: `It rounds its share before the sum. I count whole cents in ${functionName}.`,
      calls: [{ name: 'Edit', input: { path, before, after } }],
    },
    { said: `Does ${invoice} add up now?`, calls: [bash(`npm test -- ${testPath}`)] },
  ];
}

/** How many of something are still there. */
export interface Share {
  readonly kept: number;
  readonly of: number;
}

/** What of the work until a request can still be read in it. */
export interface Survived {
  /** Rules of the user, word for word. */
  readonly rules: Share;
  readonly changedFiles: Share;
  /** Functions that were changed and invoices that were looked at. */
  readonly names: Share;
}

/** Looks for what the user has said and what was changed until then in the messages of a request. */
export function whatSurvived(
  messages: unknown,
  steps: readonly DemoStep[],
  changed: readonly DemoModule[],
): Survived {
  const text = JSON.stringify(messages) ?? '';
  const [first, ...later] = demoRules;
  const told = later.filter((rule) => steps.some(({ reply }) => reply?.includes(rule) === true));
  const share = (wanted: readonly string[]): Share => ({
    kept: wanted.filter((name) => text.includes(JSON.stringify(name).slice(1, -1))).length,
    of: wanted.length,
  });
  return {
    rules: share([first, ...told]),
    changedFiles: share(changed.map(({ path }) => shortPath(path))),
    names: share(changed.flatMap(({ functionName, invoice }) => [functionName, invoice])),
  };
}

/** A memory may leave out the root of the project, so only the last two parts of a path are looked for. */
function shortPath(path: string): string {
  return path.split('/').slice(-2).join('/');
}
