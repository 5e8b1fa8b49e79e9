/** How a request may ask for thinking. */
export type ThinkingMode = 'enabled' | 'adaptive' | 'disabled';

/** What a model accepts, as far as the rules depend on it. */
export interface ModelFacts {
  /** An assistant message may stand last and be continued. */
  readonly takesPrefill: boolean;
  /** `system` messages may stand inside `messages`. */
  readonly takesSystemMessages: boolean;
  readonly thinkingModes: readonly ThinkingMode[];
  /** `tool_choice` of type `any` or `tool` is accepted. */
  readonly takesForcedToolChoice: boolean;
  /** Thinking blocks are valid only behind the very prefix they were issued behind. */
  readonly bindsThinkingToPrefix: boolean;
  /** `temperature`, `top_p` and `top_k` may be changed. */
  readonly takesSampling: boolean;
  /** `compaction: {type: "summarize"}` is offered. */
  readonly takesCompaction: boolean;
  readonly maxOutputTokens: number;
  /** Images and PDF pages of one request. */
  readonly maxImages: number;
}

/** The most permissive reading: what an unknown model is held to. */
export const unknownModel: ModelFacts = {
  takesPrefill: true,
  takesSystemMessages: true,
  thinkingModes: ['enabled', 'adaptive', 'disabled'],
  takesForcedToolChoice: true,
  bindsThinkingToPrefix: false,
  takesSampling: true,
  takesCompaction: true,
  maxOutputTokens: Number.POSITIVE_INFINITY,
  maxImages: 600,
};

const claude3: ModelFacts = {
  ...unknownModel,
  takesSystemMessages: false,
  thinkingModes: ['enabled', 'disabled'],
  takesCompaction: false,
  maxOutputTokens: 4096,
  maxImages: 100,
};
const claude35: ModelFacts = { ...claude3, maxOutputTokens: 8192 };
const claude37: ModelFacts = { ...claude3, maxOutputTokens: 128_000 };
const opus4: ModelFacts = { ...claude3, maxOutputTokens: 32_000 };
const claude45: ModelFacts = { ...claude3, maxOutputTokens: 64_000 };
const claude46: ModelFacts = {
  ...unknownModel,
  takesPrefill: false,
  takesSystemMessages: false,
  maxOutputTokens: 128_000,
};
const claude47: ModelFacts = { ...claude46, thinkingModes: ['adaptive', 'disabled'], takesSampling: false };
const opus48: ModelFacts = { ...claude47, takesSystemMessages: true };
const fable5: ModelFacts = { ...opus48, thinkingModes: ['adaptive'] };
const mythos51: ModelFacts = { ...fable5, bindsThinkingToPrefix: true };
const claude55: ModelFacts = { ...mythos51, takesForcedToolChoice: false };

/**
 * Facts by the start of the model id, as published by November 2026. A new model is one row.
 * A version that is not listed is an unknown model, never its older sister.
 */
const models: ReadonlyMap<string, ModelFacts> = new Map([
  ['claude-3-opus', claude3],
  ['claude-3-sonnet', claude3],
  ['claude-3-haiku', claude3],
  ['claude-3-5-sonnet', claude35],
  ['claude-3-5-haiku', claude35],
  ['claude-3-7-sonnet', claude37],
  ['claude-opus-4', opus4],
  ['claude-opus-4-0', opus4],
  ['claude-opus-4-1', opus4],
  ['claude-sonnet-4', claude45],
  ['claude-sonnet-4-0', claude45],
  ['claude-opus-4-5', claude45],
  ['claude-sonnet-4-5', claude45],
  ['claude-haiku-4-5', claude45],
  ['claude-opus-4-6', claude46],
  ['claude-sonnet-4-6', claude46],
  ['claude-opus-4-7', claude47],
  ['claude-opus-4-8', opus48],
  ['claude-opus-5', opus48],
  ['claude-sonnet-5', claude47],
  ['claude-fable-5', fable5],
  ['claude-mythos-5', fable5],
  ['claude-fable-5-1', claude55],
  ['claude-fable-5-2', claude55],
  ['claude-mythos-5-1', mythos51],
  ['claude-mythos-5-2', mythos51],
  ['claude-opus-5-5', claude55],
  ['claude-sonnet-5-5', claude55],
  ['claude-haiku-5-5', claude47],
]);

const longestFirst = [...models].sort(([left], [right]) => right.length - left.length);

/** The facts of a model id as any platform spells it. Unknown ids get the most permissive reading. */
export function modelFacts(model: string | undefined): ModelFacts {
  if (model === undefined) return unknownModel;
  const name = bareName(model);
  const row = longestFirst.find(([start]) => name.startsWith(start) && !continuesVersion(name, start.length));
  return row?.[1] ?? unknownModel;
}

/** `us.anthropic.claude-opus-4-5-20251101-v1:0`, `anthropic/claude-opus-4.5` → `claude-opus-4-5…` */
function bareName(model: string): string {
  const start = model.lastIndexOf('claude-');
  return (start === -1 ? model : model.slice(start)).toLowerCase().replaceAll('.', '-');
}

/** Whether a further version number follows: `-5` after `claude-opus-5`, but not the date `-20251101`. */
function continuesVersion(name: string, start: number): boolean {
  return /^-\d{1,2}(?!\d)/.test(name.slice(start, start + 4));
}
