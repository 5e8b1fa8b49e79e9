import type { CheckContext, Violation } from '../../contracts/contract.ts';
import { findContract } from '../../contracts/registry.ts';
import { RoundfoldError } from '../../conversation/errors.ts';
import { writeConversation } from '../../conversation/format.ts';
import { printable } from '../../conversation/printable.ts';
import { verdictLine } from '../../report/sessions-text.ts';
import { countOf } from '../../report/terminal.ts';
import type { Recording } from '../../transcripts/recordings.ts';
import type { CommandDefinition, GivenArguments } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { forceOption } from '../files.ts';
import { type Report, writeJson } from '../output.ts';
import { eachRecording, readingOf, readingOptions } from '../recordings.ts';
import { fixFiles } from './check-fix.ts';

/** `roundfold check`: would the provider accept this conversation? */
export const check: CommandDefinition = {
  name: 'check',
  summary: 'tell whether a provider would accept a conversation, and how to mend it',
  arguments: '<file...>',
  argumentHelp:
    'session files, request bodies, lists of messages, logs of requests, folders of them; `-` reads standard input',
  options: [
    ...readingOptions,
    {
      flags: '--vendor <name>',
      help: 'server behind a compatible endpoint: deepseek, mistral, qwen, vertex, …',
    },
    { flags: '--api-version <date>', help: 'value of the anthropic-version header' },
    { flags: '--beta <name>', help: 'value of the anthropic-beta header; may be repeated', isList: true },
    {
      flags: '--fix',
      help: 'write a mended copy beside each file that is broken, and say what was changed; the file itself stays as it is',
    },
    { flags: '--out <file>', help: 'with --fix: write the copy there' },
    {
      flags: '--resume',
      help: 'with --fix: put the copy where its agent looks, and print the command to go on',
    },
    forceOption,
    { flags: '--all', help: 'show every violation instead of the first 20 of a conversation' },
  ],
  examples: [
    ['roundfold check ~/.claude/projects', 'every session of a coding agent'],
    ['roundfold check request.json --model claude-opus-5-5', 'a request body, by the rules of that model'],
    ['roundfold check session.jsonl --fix', 'write a mended copy beside it'],
    ['curl … | roundfold check - --json', 'from a pipe, for a program'],
  ],
  async run(given, report) {
    if (given.flag('fix')) return fixFiles(given, report);
    refuseWithoutFix(given);
    const tally = { conversations: 0, broken: 0, isTold: false };
    const options = readRules(given);
    const code = await eachRecording<Checked>(given, report, {
      task: { command: 'check', options, reading: readingOf(given) },
      examine: (recording) => checkRecording(recording, options),
      tell(checked, file) {
        tally.conversations++;
        const { findings } = checked;
        for (const finding of findings) printFinding(report, { file, checked, finding }, given.flag('all'));
        const isBroken = findings.some(({ violations }) =>
          violations.some(({ severity }) => severity === 'error'),
        );
        if (isBroken) tally.broken++;
        return isBroken ? exitCodes.failed : exitCodes.done;
      },
      endFolders(files, unreadable) {
        const legal = tally.conversations - tally.broken;
        tally.isTold = true;
        if (report.json) writeJson(report, 'summary', { files, legal, broken: tally.broken, unreadable });
        else report.terminal.out(`${verdictLine({ legal, broken: tally.broken, unreadable })}\n`);
      },
    });
    if (tally.conversations > 1 && !tally.isTold && !report.json) {
      report.terminal.talk(
        `${countOf(tally.conversations, 'conversation')}, ${tally.broken} with violations\n`,
      );
    }
    return code;
  },
};

/** @throws RoundfoldError `usage` for options that say where a mended copy goes when there is none */
function refuseWithoutFix(given: GivenArguments): void {
  const option = given.text('out') === undefined ? (given.flag('resume') ? 'resume' : undefined) : 'out';
  if (option === undefined) return;
  throw new RoundfoldError('usage', `--${option} says nothing without --fix`, {
    remedy: 'Add --fix to write a mended copy.',
  });
}

/** By which rules is checked. Plain data. */
type Rules = Pick<CheckContext, 'model' | 'vendor' | 'apiVersion' | 'betas'>;

function readRules(given: GivenArguments): Rules {
  return {
    model: given.text('model'),
    vendor: given.text('vendor'),
    apiVersion: given.text('apiVersion'),
    betas: given.list('beta'),
  };
}

/** The verdict on one conversation. Plain data. */
interface Checked {
  readonly reader: string;
  readonly format: string;
  readonly title: string;
  /** One for each segment. */
  readonly findings: readonly Finding[];
}

/** The verdict on one segment of a recording. */
interface Finding {
  readonly segment: number;
  readonly messages: number;
  readonly violations: readonly Violation[];
  /** Line of the file that each violation concerns; null where its reader did not keep it. */
  readonly lines: readonly (number | null)[];
  /** False for a format that has no rules of its own: whether it is legal is not known then. */
  readonly isJudged: boolean;
}

/** Checks every segment of a recording. */
export function checkRecording(recording: Recording, rules: Rules): Checked {
  const { transcript, conversations } = recording;
  const { reader, format, title } = transcript;
  const contract = findContract(format);
  const findings = conversations.map((conversation, segment) => {
    const body = writeConversation(conversation);
    // Only a whole request can be checked by the rules about what stands around the messages.
    const isRequest = reader === 'json' && !Array.isArray(body);
    const context: CheckContext = {
      ...rules,
      scope: isRequest ? 'request' : 'messages',
      model: rules.model ?? transcript.model,
    };
    const violations = contract?.check(body, context) ?? [];
    const lines = violations.map(({ path }) => lineOf(path, recording, segment));
    const messages = conversation.messages.length;
    return { segment, messages, violations, lines, isJudged: contract !== undefined };
  });
  return { reader, format, title, findings };
}

interface Located {
  readonly file: string;
  readonly checked: Checked;
  readonly finding: Finding;
}

function printFinding(report: Report, located: Located, isComplete: boolean): void {
  const { file, checked, finding } = located;
  const { reader, format, title: conversation } = checked;
  const segments = checked.findings.length;
  const { violations, messages, segment, isJudged } = finding;
  if (report.json) {
    writeJson(report, 'check', {
      file,
      reader,
      format,
      title: conversation,
      segment,
      segments,
      messages,
      isJudged,
      violations,
    });
    return;
  }
  const { terminal } = report;
  const part = segments > 1 ? `, segment ${segment + 1} of ${segments}` : '';
  const title = `${printable(file, Number.POSITIVE_INFINITY)} ${terminal.style('dim', `(${printable(conversation)}${part})`)}`;
  if (!isJudged) {
    const why = `${format} has no rules of its own: check the request that is made of it`;
    terminal.out(`${terminal.style('yellow', 'unknown')} ${title}: ${why}\n`);
    return;
  }
  const worst = severities.find((each) => violations.some(({ severity }) => severity === each));
  if (worst === undefined || worst === 'info') {
    const what = `${countOf(messages, 'message')}, ${format}`;
    terminal.out(`${terminal.style('green', 'legal')}   ${title}: ${what}\n`);
  } else {
    const verdict =
      worst === 'error' ? terminal.style('red', 'illegal') : terminal.style('yellow', 'fragile');
    terminal.out(`${verdict} ${title}: ${countOf(violations.length, 'violation')}\n`);
  }
  printViolations(report, located, isComplete);
}

const SHOWN_VIOLATIONS = 20;

/** The worst first. */
const severities = ['error', 'warning', 'info'] as const;
const severityStyles = { error: 'red', warning: 'yellow', info: 'dim' } as const;

function printViolations({ terminal }: Report, { finding }: Located, isComplete: boolean): void {
  const shown = isComplete ? finding.violations : finding.violations.slice(0, SHOWN_VIOLATIONS);
  for (const [index, violation] of shown.entries()) {
    const style = severityStyles[violation.severity];
    const number = finding.lines[index];
    const line = typeof number === 'number' ? ` (line ${number})` : '';
    terminal.out(
      `  ${terminal.style(style, violation.rule)} ${printable(violation.path)}${line}: ${printable(violation.message, 400)}\n`,
    );
    terminal.out(`      ${terminal.style('dim', `fix: ${printable(violation.fix, 400)}`)}\n`);
  }
  const rest = finding.violations.length - shown.length;
  if (rest > 0) terminal.out(`  … and ${rest} more (--all shows them)\n`);
}

/** The line of the file that the message at `messages.12…` comes from, where its reader kept it. */
function lineOf(path: string, { transcript }: Recording, segment: number): number | null {
  const index = /^\w+[.[](\d+)/.exec(path)?.[1];
  const origin = index === undefined ? undefined : transcript.segments[segment]?.origins[Number(index)];
  return origin?.place.line ?? null;
}
