import { RoundfoldError } from '../../conversation/errors.ts';
import { printable } from '../../conversation/printable.ts';
import { type CommandDefinition, jsonOption } from '../command.ts';
import { type Facts, gatherFacts } from '../doctor/facts.ts';
import { diagnose, type Finding } from '../doctor/findings.ts';
import { EXIT_CODE_TEXT, exitCodes } from '../exit-codes.ts';
import { type Report, writeJson } from '../output.ts';
import { wrapText } from '../terminal.ts';

const DEFAULT_URL = 'http://127.0.0.1:8787';

/** `roundfold doctor`: why conversations are not folded. */
export const doctor: CommandDefinition = {
  name: 'doctor',
  summary: 'say why the conversations of a client are not folded, and what to set',
  arguments: '[url]',
  argumentHelp: `where the proxy listens; default ${DEFAULT_URL}`,
  options: [jsonOption],
  examples: [
    ['roundfold doctor', 'the proxy at its usual port, and the variables of this shell'],
    ['roundfold doctor http://127.0.0.1:9000 --json', 'another one, one finding per line'],
  ],
  details:
    () => `Problems keep conversations from being folded, hints cost something. Ends with 1 where there are
problems. ROUNDFOLD_TOKEN is sent to proxies that want one.

${EXIT_CODE_TEXT}
`,
  async run(given, report) {
    const facts = await gatherFacts(addressOf(given.positional[0] ?? DEFAULT_URL), process.env);
    const findings = diagnose(facts);
    for (const finding of findings) tell(report, finding, facts);
    return findings.some(({ severity }) => severity === 'problem') ? exitCodes.failed : exitCodes.done;
  },
};

/** The address without a path: that of a base URL is taken too. */
function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url.origin;
  throw new RoundfoldError('usage', 'the address of the proxy is no http or https URL', {
    remedy: `Write it like ${DEFAULT_URL}.`,
  });
}

const INDENT = '        ';
const STYLES = { problem: 'red', hint: 'yellow', fine: 'green' } as const;

function tell(report: Report, finding: Finding, { url }: Facts): void {
  const { terminal } = report;
  const { severity, code, message, remedy, commands = [] } = finding;
  if (report.json) {
    writeJson(report, 'finding', { url, severity, code, message, remedy, commands });
    return;
  }
  terminal.out(`${terminal.style(STYLES[severity], severity.padEnd(7))} ${printable(message, 400)}\n`);
  if (remedy !== undefined)
    terminal.out(`${INDENT}${terminal.style('dim', wrapText(remedy, terminal.columns, INDENT))}\n`);
  // Never broken: a command in two lines cannot be pasted.
  for (const command of commands) terminal.out(`${INDENT}${command}\n`);
}
