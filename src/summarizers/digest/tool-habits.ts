import { callArguments, type ToolCallBlock } from '../../core/message.ts';

const MOST_VALUES = 10;
const MOST_KEYS = 12;
const PLAIN_VALUE = /^[\w.:+-]{3,40}$/;

/**
 * How tools were called: the arguments that are settings rather than content, with the values that were used. A model goes
 * on with the same limits, modes and flags.
 */
export class ToolHabits {
  private readonly tools = new Map<string, Map<string, Map<string, number>>>();

  /** Takes a call into account. */
  add(call: ToolCallBlock): void {
    const values = callArguments(call);
    if (values === undefined) return;
    for (const [key, value] of Object.entries(values)) {
      const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
      if (PLAIN_VALUE.test(text)) this.count(call.name, key, text);
    }
  }

  /** Takes over what an earlier digest says: `tool: key value value, key value`. */
  addLine(line: string): void {
    const colon = line.indexOf(': ');
    if (colon === -1) return;
    for (const setting of line.slice(colon + 2).split(', ')) {
      const [key, ...values] = setting.split(' ');
      for (const value of values) this.count(line.slice(0, colon), key ?? '', value, 2);
    }
  }

  /** One line for each tool that was set up in some way. */
  lines(): readonly string[] {
    const lines: string[] = [];
    for (const [tool, keys] of this.tools) {
      const settings = [...keys].slice(0, MOST_KEYS).flatMap(([key, values]) => {
        const common = commonValues(values);
        return common.length === 0 ? [] : [`${key} ${common.join(' ')}`];
      });
      if (settings.length > 0) lines.push(`${tool}: ${settings.join(', ')}`);
    }
    return lines;
  }

  private count(tool: string, key: string, value: string, times = 1): void {
    const keys = this.tools.get(tool) ?? new Map<string, Map<string, number>>();
    this.tools.set(tool, keys);
    const values = keys.get(key) ?? new Map<string, number>();
    keys.set(key, values);
    values.set(value, (values.get(value) ?? 0) + times);
  }
}

/** Values of a setting repeat themselves; where most are different, they are content. */
function commonValues(values: ReadonlyMap<string, number>): readonly string[] {
  const repeated = [...values].filter(([, count]) => count > 1);
  const chosen = values.size <= MOST_VALUES ? [...values] : repeated;
  return chosen
    .toSorted((left, right) => right[1] - left[1])
    .slice(0, MOST_VALUES)
    .map(([value]) => value);
}
