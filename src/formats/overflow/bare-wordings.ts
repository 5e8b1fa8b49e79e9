import { pattern, type Wording } from './wordings.ts';

/** Wordings without numbers. They are tried after all numbered ones, so that those keep their numbers. */
export const bareWordings: readonly Wording[] = [
  {
    // Vertex sends exactly this, with status 413.
    provider: 'anthropic',
    pattern: pattern`prompt is too long`,
    example: 'Prompt is too long',
  },
  {
    provider: 'bedrock',
    pattern: pattern`input is too long for requested model`,
    example: 'The model returned the following errors: Input is too long for requested model.',
  },
  {
    provider: 'claude-gateway',
    pattern: pattern`capability_rejected: ?prompt_too_long`,
    example: 'capability_rejected: prompt_too_long',
  },
  {
    provider: 'openai',
    pattern: pattern`input exceeds the context window`,
    example: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  },
  {
    provider: 'groq',
    pattern: pattern`reduce the length of the messages`,
    example: 'Please reduce the length of the messages or completion.',
  },
  {
    provider: 'ollama',
    pattern: pattern`longer than the context length currently available`,
    example: 'the prompt is longer than the context length currently available to the model',
  },
  {
    provider: 'ollama',
    pattern: pattern`input length exceeds the (?:maximum )?context length`,
    example: 'the input length exceeds the context length',
  },
  {
    // The cache of all slots is full, so another request may be the cause. Sent with status 500, and inside streams.
    provider: 'llama.cpp',
    status: 500,
    pattern: pattern`context size has been exceeded`,
    example: 'Context size has been exceeded.',
  },
  {
    provider: 'llama.cpp',
    pattern: pattern`exceeds the available context size`,
    example:
      'the request exceeds the available context size. try increasing the context size or enable context shift',
  },
  {
    provider: 'lm-studio',
    pattern: pattern`greater than the context length`,
    example: 'The number of tokens to keep from the initial prompt is greater than the context length',
  },
  {
    provider: 'minimax',
    pattern: pattern`context window exceeds limit`,
    example: 'invalid params, context window exceeds limit',
  },
  {
    // What the OpenAI client says about a 400 without a body, which is how Cerebras refuses long prompts.
    provider: 'cerebras',
    pattern: /^(?:[a-z]{1,40}: )?400 status code \(no body\)/iu,
    example: '400 status code (no body)',
  },
  {
    provider: 'openai',
    pattern: pattern`context_length_exceeded|model_context_window_exceeded|exceed_context_size_error`,
    example: 'Error: context_length_exceeded',
  },
  {
    provider: 'anthropic',
    kind: 'body-too-large',
    pattern: pattern`request exceeds the maximum size`,
    example: 'Request exceeds the maximum size',
  },
  {
    provider: 'gemini',
    kind: 'body-too-large',
    pattern: pattern`request payload size exceeds the limit`,
    example: 'Request payload size exceeds the limit: 20971520 bytes.',
  },
];

/** Limits on images, pages and files. The cure is to strip media, so they are told apart from a long history. */
export const mediaWordings: readonly Wording[] = [
  {
    provider: 'anthropic',
    kind: 'media-limit',
    pattern: pattern`image exceeds [\d.]{1,8} ?[kmg]?i?b maximum`,
    example:
      'messages.58.content.2.image.source.base64: image exceeds 5 MB maximum: 6500712 bytes > 5242880 bytes',
  },
  {
    provider: 'anthropic',
    kind: 'media-limit',
    pattern: pattern`image dimensions exceed max allowed size`,
    example:
      'messages.3.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
  },
  {
    provider: 'anthropic',
    kind: 'media-limit',
    pattern: pattern`maximum of {number} pdf pages`,
    example: 'A maximum of 100 PDF pages may be provided.',
  },
  {
    provider: 'anthropic',
    kind: 'media-limit',
    pattern: pattern`too many images and documents`,
    example: 'too many images and documents: 101 + 0 > 100',
  },
  {
    provider: 'anthropic',
    kind: 'media-limit',
    pattern: pattern`too much media`,
    example: 'Too much media: 0 document pages + 102 images > 100',
  },
  {
    provider: 'openai-compatible',
    kind: 'media-limit',
    pattern: pattern`contains {number} images, exceeding the maximum of {number}`,
    example: 'Request contains 52 images, exceeding the maximum of 50 allowed per request',
  },
  {
    provider: 'groq',
    kind: 'media-limit',
    pattern: pattern`too many images`,
    example: 'Too many images provided. This model supports up to 5 images',
  },
  {
    provider: 'vllm',
    kind: 'media-limit',
    pattern: pattern`at most {number} image\(s\) may be provided`,
    example: 'At most 30 image(s) may be provided in one prompt.',
  },
];

/** A machine-readable code that settles the matter whatever the words say. */
export interface OverflowCode {
  readonly code: string;
  readonly provider: string;
  /** Default `prompt-too-long`. */
  readonly kind?: Wording['kind'];
}

/** Values of `code`, `type` and their like. Another code is another row. */
export const overflowCodes: readonly OverflowCode[] = [
  { code: 'context_length_exceeded', provider: 'openai' },
  { code: 'exceed_context_size_error', provider: 'llama.cpp' },
  { code: 'model_context_window_exceeded', provider: 'z.ai' },
  { code: '3051', provider: 'mistral' },
  { code: 'request_too_large', provider: 'anthropic', kind: 'body-too-large' },
  { code: 'request_body_too_large_after_decoding', provider: 'anthropic', kind: 'body-too-large' },
];

/** Words that sound like an overflow, or come with one's words, and are none. Compacting would not help. */
export interface LookAlike {
  readonly pattern: RegExp;
  /** What it really is. */
  readonly meaning: string;
  readonly example: string;
}

/** Tried on every message and code before the wordings; a message that matches is no evidence of an overflow. */
export const lookAlikes: readonly LookAlike[] = [
  {
    pattern: /^(?:throttling error|service unavailable):/iu,
    meaning: 'throttling',
    example: 'Throttling error: Too many tokens, please wait before trying again.',
  },
  {
    pattern: pattern`throttlingexception|too many tokens, please wait|too many tokens per day`,
    meaning: 'throttling',
    example: 'ThrottlingException: Too many tokens, please wait before trying again.',
  },
  {
    pattern: pattern`too many requests`,
    meaning: 'rate limit',
    example: 'Too many requests, please slow down.',
  },
  {
    pattern: pattern`rate[ _-]?limit`,
    meaning: 'rate limit',
    example:
      "This request would exceed your organization's rate limit of 30,000 input tokens per minute. Please reduce the prompt length or the maximum tokens requested, or try again later.",
  },
  {
    pattern: pattern`insufficient_quota|exceeded your current quota|quota exceeded`,
    meaning: 'quota',
    example:
      'You exceeded your current quota, please check your plan. Quota exceeded for metric: generate_content_free_tier_input_token_count, limit: 250000',
  },
  {
    pattern: pattern`billing|credit balance|spend limit|requires more credits|can only afford`,
    meaning: 'money',
    example: 'Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade.',
  },
  {
    pattern: pattern`overloaded`,
    meaning: 'a busy server',
    example: 'overloaded_error: Overloaded',
  },
  {
    pattern: pattern`max_tokens is too large|maximum allowed number of output tokens|at most {number} completion tokens|the maximum output for this model|maximum tokens you requested exceeds the model limit`,
    meaning: "more output asked for than the model's own limit, however long the prompt",
    example:
      'max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude-haiku-4-5',
  },
  {
    pattern: pattern`(?:string|array) too long`,
    meaning: 'one field above its own limit',
    example:
      "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 64 instead.",
  },
  {
    pattern: pattern`file content \({number} tokens\) exceeds maximum allowed tokens`,
    meaning: 'a tool of the agent that refused to read a file',
    example:
      'MaxFileReadTokenExceededError: File content (45923 tokens) exceeds maximum allowed tokens (25000).',
  },
  {
    pattern: pattern`runner process (?:has terminated|no longer running)`,
    meaning: 'a crash',
    example: 'llama runner process has terminated: signal: killed',
  },
];
