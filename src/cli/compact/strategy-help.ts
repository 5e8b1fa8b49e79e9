import type { StrategyDefinition } from '../../compaction/plan/strategy.ts';
import { strategies } from '../../compaction/strategies/registry.ts';
import type { OptionSpec } from '../../conversation/options.ts';
import { wrapText } from '../wrap-text.ts';

const COLUMNS = 80;
const INDENT = '      ';

/** Every strategy with what `--set` takes for it, as the registry lists them. */
export function strategyHelp(): string {
  const entries = strategies.map(({ name, summary, options }: StrategyDefinition) => {
    const settings = Object.entries(options).map(([key, spec]) => settingLine(key, spec));
    return `  ${name}: ${wrapText(summary, COLUMNS - name.length - 4, '    ')}\n${settings.join('')}`;
  });
  return `Strategies, and what --set takes for each:\n${entries.join('')}`;
}

function settingLine(key: string, spec: OptionSpec): string {
  const value = Array.isArray(spec.default) ? spec.default.join(',') : String(spec.default);
  // Long lists are shown by their beginning.
  const shown = value.length > 24 ? `${value.slice(0, 23)}…` : value;
  return `${INDENT}${wrapText(`${key}=${shown}  ${spec.help}`, COLUMNS, `${INDENT}  `)}\n`;
}
