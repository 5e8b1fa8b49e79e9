/** The numbers a wording can state. They are also the names of the capturing groups in its pattern. */
export interface WordingNumbers {
  /** Tokens of the prompt. */
  readonly actual?: number | undefined;
  readonly limit?: number | undefined;
  /** Tokens of output that the request asked for. */
  readonly output?: number | undefined;
  /** Prompt and output together. */
  readonly total?: number | undefined;
  /** Tokens above the limit. */
  readonly excess?: number | undefined;
}

/** One way in which a provider says that a request is too large. */
export interface Wording {
  readonly provider: string;
  /** Default `prompt-too-long`; becomes `output-too-large` when the numbers say that the prompt alone would fit. */
  readonly kind?: 'prompt-too-long' | 'rate-window' | 'body-too-large' | 'media-limit' | undefined;
  readonly pattern: RegExp;
  /** A message as it was seen. */
  readonly example: string;
  /** What is to be read from the example. Default: no numbers. */
  readonly numbers?: WordingNumbers;
  /** The stated prompt size is where the server stopped counting, not the size. A group `atLeast` says the same. */
  readonly isLowerBound?: true | undefined;
  /** Accepted with this HTTP status although the status normally rules an overflow out. */
  readonly status?: number | undefined;
}

// Bounded on purpose: more than 12 digits is no token count, and a longer run of digits must not match in part.
// A space between groups of three stands for the thin and no-break spaces too, which `normaliseText` turns into it.
const number = String.raw`(?:\d{1,3}(?:[,_' ]\d{3}){1,3}|\d{1,12})(?!\d)`;

/**
 * Tag for patterns over normalised text (see `normaliseText`): case is ignored, `{actual}`, `{limit}`, `{output}`,
 * `{total}` and `{excess}` capture a number with or without thousands separators, `{number}` matches without capturing.
 */
export function pattern({ raw }: TemplateStringsArray): RegExp {
  const source = raw
    .join('')
    .replaceAll(/\{([a-z]+)\}/g, (_, name: string) => (name === 'number' ? number : `(?<${name}>${number})`));
  return new RegExp(source, 'iu');
}

/** The numbers that a match of a wording's pattern captured. */
export function capturedNumbers(match: RegExpExecArray): WordingNumbers {
  const groups = match.groups ?? {};
  return {
    actual: toCount(groups['actual']),
    limit: toCount(groups['limit']),
    output: toCount(groups['output']),
    total: toCount(groups['total']),
    excess: toCount(groups['excess']),
  };
}

function toCount(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits.replaceAll(/\D/g, ''));
}

/**
 * Wordings that state numbers, most telling first: the first match decides. Another wording is another row.
 * Sources: the providers' documentation, the source of the open servers, and error bodies in public issue threads.
 */
export const numberedWordings: readonly Wording[] = [
  {
    provider: 'anthropic',
    pattern: pattern`prompt is too long\D{0,80}{actual} tokens? > {limit}`,
    example: 'prompt is too long: 213462 tokens > 200000 maximum',
    numbers: { actual: 213_462, limit: 200_000 },
  },
  {
    provider: 'anthropic',
    pattern: pattern`input length and .?max_tokens.? exceed context limit: ?{actual} \+ {output} > {limit}`,
    example:
      'input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    numbers: { actual: 188_059, output: 20_000, limit: 200_000 },
  },
  {
    provider: 'openrouter',
    pattern: pattern`endpoint's maximum context length is {limit} tokens[.,]? however,? you requested (?:about )?{total} tokens \([^()]{0,160}?{output} in the output`,
    example:
      "This endpoint's maximum context length is 262144 tokens. However, you requested about 285795 tokens (277217 of text input, 386 of tool input, 8192 in the output). Please reduce the length of either one, or use the context-compression plugin to compress your prompt automatically.",
    numbers: { total: 285_795, output: 8192, limit: 262_144 },
  },
  {
    provider: 'openrouter',
    pattern: pattern`endpoint's maximum context length is {limit} tokens[.,]? however,? you requested (?:about )?{total} tokens`,
    example:
      "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens",
    numbers: { total: 200_000, limit: 131_072 },
  },
  {
    provider: 'openai',
    pattern: pattern`maximum context length is {limit} tokens[.,]? however,? your messages resulted in {actual} tokens`,
    example:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 138425 tokens (137911 in the messages, 514 in the functions). Please reduce the length of the messages or functions.",
    numbers: { actual: 138_425, limit: 128_000 },
  },
  {
    // Also DeepSeek and older vLLM. The parts between total and output vary (messages, functions), so the prompt is the difference.
    provider: 'openai',
    pattern: pattern`maximum context length is {limit} tokens[.,]? however,? you requested (?:about )?{total} tokens \([^()]{0,160}?{output} (?:in|for) the completion`,
    example:
      "This model's maximum context length is 8192 tokens. However, you requested 8203 tokens (7691 in the messages, 512 in the completion). Please reduce the length of the messages or completion.",
    numbers: { total: 8203, output: 512, limit: 8192 },
  },
  {
    provider: 'openai',
    pattern: pattern`maximum context length is {limit} tokens[.,]? however,? you requested (?:about )?{total} tokens`,
    example: "This model's maximum context length is 4097 tokens, however you requested 4226 tokens",
    numbers: { total: 4226, limit: 4097 },
  },
  {
    provider: 'openai',
    pattern: pattern`configured limit of {limit} tokens\. your messages resulted in {actual} tokens`,
    example:
      'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 276283 tokens. Please reduce the length of the messages.',
    numbers: { actual: 276_283, limit: 272_000 },
  },
  {
    // Tokenising stops one token past `limit - output`, hence "at least": the size of the prompt stays unknown.
    provider: 'vllm',
    pattern: pattern`maximum context length is {limit} tokens\.? however,? you requested {output} output tokens and your prompt contains (?<atLeast>at least )?{actual} input tokens`,
    example:
      "This model's maximum context length is 32768 tokens. However, you requested 4096 output tokens and your prompt contains 30101 input tokens, for a total of 34197 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
    numbers: { actual: 30_101, output: 4096, limit: 32_768 },
  },
  {
    provider: 'vllm',
    isLowerBound: true,
    pattern: pattern`maximum context length is {limit} tokens\.? however,? you requested {output} output tokens and your prompt contains {number} characters`,
    example:
      "This model's maximum context length is 6144 tokens. However, you requested 500 output tokens and your prompt contains 2290998 characters (more than 722432 characters, which is the upper bound for 5644 input tokens). Please reduce the length of the input prompt or the number of requested output tokens.",
    numbers: { output: 500, limit: 6144 },
  },
  {
    provider: 'vllm',
    pattern: pattern`prompt \(total length {actual}\) is too long to fit into the model \(context length {limit}\)`,
    example:
      'The prompt (total length 25938) is too long to fit into the model (context length 4096). Make sure that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.',
    numbers: { actual: 25_938, limit: 4096 },
  },
  {
    provider: 'gemini',
    pattern: pattern`input token count \({actual}\) exceeds the maximum number of tokens allowed \({limit}\)`,
    example: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    numbers: { actual: 1_196_265, limit: 1_048_575 },
  },
  {
    provider: 'gemini',
    pattern: pattern`input token count exceeds the maximum number of tokens allowed \(?{limit}`,
    example: 'The input token count exceeds the maximum number of tokens allowed (1048576).',
    numbers: { limit: 1_048_576 },
  },
  {
    provider: 'vertex',
    pattern: pattern`input token count is {actual} but (?:the )?model (?:only )?supports up to {limit}`,
    example:
      'Unable to submit request because the input token count is 135538 but model only supports up to 131072. Reduce the input token count and try again. You can also use the CountTokens API to calculate prompt token count and billable characters.',
    numbers: { actual: 135_538, limit: 131_072 },
  },
  {
    provider: 'llama.cpp',
    pattern: pattern`request \({actual} tokens\) exceeds the available context size \({limit} tokens\)`,
    example: 'request (9034 tokens) exceeds the available context size (8192 tokens), try increasing it',
    numbers: { actual: 9034, limit: 8192 },
  },
  {
    // Also SGLang.
    provider: 'together',
    pattern: pattern`input \({actual} tokens\) is l(?:ong|arg)er than the (?:max context size|model's context length) \(?{limit} tokens`,
    example: "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
    numbers: { actual: 516_368, limit: 262_144 },
  },
  {
    // Text Generation Inference; Together served it in the past.
    provider: 'tgi',
    pattern: pattern`.?inputs.? tokens \+ .?max_new_tokens.? must be <= {limit}\. given: {actual} .?inputs.? tokens and {output}`,
    example:
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 7900 `inputs` tokens and 1024 `max_new_tokens`',
    numbers: { actual: 7900, output: 1024, limit: 8193 },
  },
  {
    provider: 'tgi',
    pattern: pattern`.?inputs.? must have less than {limit} tokens\. given: {actual}`,
    example: 'Input validation error: `inputs` must have less than 1024 tokens. Given: 1872',
    numbers: { actual: 1872, limit: 1024 },
  },
  {
    provider: 'lm-studio',
    pattern: pattern`keep the first {actual} tokens.{0,120}?context length of only {limit} tokens`,
    example:
      'Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input',
    numbers: { actual: 9000, limit: 4096 },
  },
  {
    provider: 'lm-studio',
    pattern: pattern`n_keep:? ?{actual} ?>= ?n_ctx:? ?{limit}`,
    example:
      'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 5453>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.',
    numbers: { actual: 5453, limit: 4096 },
  },
  {
    provider: 'mistral',
    pattern: pattern`prompt contains {actual} tokens(?: and {number} draft tokens)?,? (?:and is )?too large for model with {limit} maximum context length`,
    example:
      'Prompt contains 200000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
    numbers: { actual: 200_000, limit: 131_072 },
  },
  {
    provider: 'xai',
    pattern: pattern`maximum prompt length is {limit} but the request contains {actual} tokens`,
    example: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    numbers: { actual: 537_812, limit: 131_072 },
  },
  {
    provider: 'copilot',
    pattern: pattern`prompt token count of {actual} exceeds the limit of {limit}`,
    example: 'prompt token count of 200000 exceeds the limit of 128000',
    numbers: { actual: 200_000, limit: 128_000 },
  },
  {
    provider: 'moonshot',
    pattern: pattern`exceeded model token limit:? ?{limit} \(requested:? ?{actual}\)`,
    example: 'Your request exceeded model token limit: 256000 (requested: 300000)',
    numbers: { actual: 300_000, limit: 256_000 },
  },
  {
    provider: 'dashscope',
    pattern: pattern`range of input length should be \[1, ?{limit}\]`,
    example: '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]',
    numbers: { limit: 98_304 },
  },
  {
    provider: 'openai-compatible',
    pattern: pattern`input length \({actual}\) exceeds (?:the )?(?:model's )?maximum context length \({limit}\)`,
    example: "Input length (265330) exceeds model's maximum context length (262144).",
    numbers: { actual: 265_330, limit: 262_144 },
  },
  {
    provider: 'poolside',
    pattern: pattern`input length {actual} exceeds the maximum allowed input length of {limit}`,
    example: 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.',
    numbers: { actual: 131_393, limit: 131_040 },
  },
  {
    provider: 'sglang',
    pattern: pattern`input length \({actual} tokens\) exceeds the maximum allowed length \({limit} tokens\)`,
    example:
      'Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a shorter input or enable --allow-auto-truncate.',
    numbers: { actual: 160_062, limit: 59_862 },
  },
  {
    provider: 'sglang',
    pattern: pattern`exceeds the model's maximum context length of {limit} tokens\. you requested a total of {total} tokens: {actual} tokens from the input messages and {output} tokens`,
    example:
      "Requested token count exceeds the model's maximum context length of 64000 tokens. You requested a total of 71897 tokens: 7897 tokens from the input messages and 64000 tokens for the completion.",
    numbers: { actual: 7897, output: 64_000, total: 71_897, limit: 64_000 },
  },
  {
    provider: 'sglang',
    pattern: pattern`exceeds the model's maximum context length of {limit} tokens`,
    example: "Requested token count exceeds the model's maximum context length of 131072 tokens.",
    numbers: { limit: 131_072 },
  },
  {
    provider: 'ds4',
    pattern: pattern`prompt has {actual} tokens?, but the configured context size is {limit}`,
    example: 'Prompt has 5,958,968 tokens, but the configured context size is 256,000 tokens',
    numbers: { actual: 5_958_968, limit: 256_000 },
  },
  {
    // Also MLX servers ("exceeds max context window of").
    provider: 'atlas',
    pattern: pattern`prompt too long: {actual} tokens exceeds (?:max_seq_len|max context window of) {limit}`,
    example: 'Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)',
    numbers: { actual: 5152, limit: 2048 },
  },
  {
    provider: 'ollama',
    pattern: pattern`exceeded (?:max )?context length by {excess} tokens?`,
    example: 'prompt too long; exceeded max context length by 100918 tokens',
    numbers: { excess: 100_918 },
  },
  {
    provider: 'cohere',
    pattern: pattern`size limit exceeded by {excess} tokens(?:.{0,120}?the limit for this model is {limit} tokens)?`,
    example:
      'too many tokens: size limit exceeded by 713295 tokens. Try using shorter or fewer inputs. The limit for this model is 288000 tokens.',
    numbers: { excess: 713_295, limit: 288_000 },
  },
  {
    provider: 'openai',
    pattern: pattern`maximum context length is {limit} tokens`,
    example: "This model's maximum context length is 65536 tokens.",
    numbers: { limit: 65_536 },
  },
];

/** One request above the tokens-per-minute limit. It is an overflow only when `actual` exceeds `limit`. */
export const rateWindowWording: Wording = {
  provider: 'openai',
  kind: 'rate-window',
  pattern: pattern`tokens per min(?:ute)? \(TPM\): limit {limit}, (?:used {number}, )?requested {actual}`,
  example:
    'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 42313. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.',
  numbers: { actual: 42_313, limit: 30_000 },
};
