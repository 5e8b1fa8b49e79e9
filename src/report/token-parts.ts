import type { TokenClass } from '../tokens/measure.ts';
import type { ToolUse } from './inspection.ts';

/** A part of what a context is made of. */
export interface TokenPart {
  readonly name: string;
  /** Whether the name is a tool's, and so a stranger's text. */
  readonly isTool: boolean;
  readonly tokens: number;
  /** Class of its colour in charts. */
  readonly colour: string;
}

/** What people call what tokens are spent on: the same in a terminal and on a page. */
export const classNames: Readonly<Record<TokenClass, string>> = {
  system: 'instructions',
  tools: 'tool definitions',
  user: 'user',
  assistant: 'assistant',
  reasoning: 'reasoning',
  'tool-calls': 'tool calls',
  'tool-results': 'tool results',
  media: 'media',
  other: 'other',
  overhead: 'wrapping',
};

type OwnClass = Exclude<TokenClass, 'tool-calls' | 'tool-results'>;

const CLASSES: readonly { readonly of: OwnClass; readonly colour: string }[] = [
  { of: 'system', colour: 's7' },
  { of: 'tools', colour: 's4' },
  { of: 'user', colour: 's0' },
  { of: 'assistant', colour: 's2' },
  { of: 'reasoning', colour: 's3' },
  { of: 'media', colour: 's5' },
  { of: 'other', colour: 'quiet' },
  { of: 'overhead', colour: 'quiet' },
];

/** Tools take turns with two colours: their neighbours in the bar are other tools. */
const TOOL_COLOURS = ['s1', 's6'];

/**
 * Where the tokens of a context go: by class, and what tools took by tool. Calls and results of the `tools` largest
 * stand by themselves, those of the others together. Parts below half a token are left out.
 */
export function tokenParts(
  byClass: Readonly<Record<TokenClass, number>>,
  byTool: readonly ToolUse[],
  tools: number,
): readonly TokenPart[] {
  const classes = CLASSES.map(({ of, colour }) => ({
    name: classNames[of],
    isTool: false,
    tokens: byClass[of],
    colour,
  }));
  const named = byTool.slice(0, tools).map(({ tool, tokens }, index) => ({
    name: tool,
    isTool: true,
    tokens,
    colour: TOOL_COLOURS[index % TOOL_COLOURS.length] ?? 's1',
  }));
  const all = byClass['tool-calls'] + byClass['tool-results'];
  const rest = all - named.reduce((sum, { tokens }) => sum + tokens, 0);
  const others = {
    name: named.length === 0 ? 'tool calls and results' : 'other tools',
    isTool: false,
    tokens: rest,
    colour: TOOL_COLOURS[named.length % TOOL_COLOURS.length] ?? 's1',
  };
  return [...classes, ...named, others].filter(({ tokens }) => tokens >= 0.5);
}

/** What a report says about the tokens that the classes do not add up to. */
export interface UnaccountedPart {
  readonly name: string;
  readonly tokens: number;
  /** What they are, as the end of a sentence. */
  readonly meaning: string;
}

/** The difference between what was reported and what was found; undefined below half a token. */
export function unaccountedPart(tokens: number): UnaccountedPart | undefined {
  if (Math.abs(tokens) < 0.5) return undefined;
  return tokens > 0
    ? {
        name: 'not in the file',
        tokens,
        meaning:
          'unrecorded instructions and tools, hidden reasoning, overhead; the other rows are estimates',
      }
    : { name: 'not reported', tokens, meaning: 'in the file and not sent, or estimated too high' };
}
