import { pattern, type Wording } from './wording.ts';

/** Wordings without numbers. They are tried after all numbered ones, so that those keep their numbers. */
export const bareWordings: readonly Wording[] = [
  {
    // Vertex sends exactly this, with status 413.
    provider: 'anthropic',
    pattern: pattern`prompt is too long`,
    example: 'Prompt is too long',
    numbers: {},
  },
  {
    provider: 'bedrock',
    pattern: pattern`input is too long for requested model`,
    example: 'The model returned the following errors: Input is too long for requested model.',
    numbers: {},
  },
  {
    provider: 'claude-gateway',
    pattern: pattern`capability_rejected: ?prompt_too_long`,
    example: 'capability_rejected: prompt_too_long',
    numbers: {},
  },
  {
    provider: 'openai',
    pattern: pattern`input exceeds the context window`,
    example: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
    numbers: {},
  },
  {
    provider: 'groq',
    pattern: pattern`reduce the length of the messages`,
    example: 'Please reduce the length of the messages or completion.',
    numbers: {},
  },
  {
    provider: 'ollama',
    pattern: pattern`longer than the context length currently available`,
    example: 'the prompt is longer than the context length currently available to the model',
    numbers: {},
  },
  {
    provider: 'ollama',
    pattern: pattern`input length exceeds the (?:maximum )?context length`,
    example: 'the input length exceeds the context length',
    numbers: {},
  },
  {
    // The cache of all slots is full, so another request may be the cause. Sent with status 500, and inside streams.
    provider: 'llama.cpp',
    status: 500,
    pattern: pattern`context size has been exceeded`,
    example: 'Context size has been exceeded.',
    numbers: {},
  },
  {
    provider: 'llama.cpp',
    pattern: pattern`exceeds the available context size`,
    example:
      'the request exceeds the available context size. try increasing the context size or enable context shift',
    numbers: {},
  },
  {
    provider: 'lm-studio',
    pattern: pattern`greater than the context length`,
    example: 'The number of tokens to keep from the initial prompt is greater than the context length',
    numbers: {},
  },
  {
    provider: 'minimax',
    pattern: pattern`context window exceeds limit`,
    example: 'invalid params, context window exceeds limit',
    numbers: {},
  },
  {
    // What the OpenAI client says about a 400 without a body, which is how Cerebras refuses long prompts.
    provider: 'cerebras',
    pattern: /^(?:[a-z]{1,40}: )?400 status code \(no body\)/iu,
    example: '400 status code (no body)',
    numbers: {},
  },
  {
    provider: 'openai',
    pattern: pattern`context_length_exceeded|model_context_window_exceeded|exceed_context_size_error`,
    example: 'Error: context_length_exceeded',
    numbers: {},
  },
  {
    provider: 'anthropic',
    kind: 'body-too-large',
    pattern: pattern`request exceeds the maximum size`,
    example: 'Request exceeds the maximum size',
    numbers: {},
  },
  {
    provider: 'gemini',
    kind: 'body-too-large',
    pattern: pattern`request payload size exceeds the limit`,
    example: 'Request payload size exceeds the limit: 20971520 bytes.',
    numbers: {},
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
    numbers: {},
  },
  {
    provider: 'anthropic',
    kind: 'media-limit',
    pattern: pattern`image dimensions exceed max allowed size`,
    example:
      'messages.3.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
    numbers: {},
  },
  {
    provider: 'anthropic',
    kind: 'media-limit',
    pattern: pattern`maximum of {number} pdf pages`,
    example: 'A maximum of 100 PDF pages may be provided.',
    numbers: {},
  },
  {
    provider: 'anthropic',
    kind: 'media-limit',
    pattern: pattern`too many images and documents`,
    example: 'too many images and documents: 101 + 0 > 100',
    numbers: {},
  },
  {
    provider: 'anthropic',
    kind: 'media-limit',
    pattern: pattern`too much media`,
    example: 'Too much media: 0 document pages + 102 images > 100',
    numbers: {},
  },
  {
    provider: 'openai-compatible',
    kind: 'media-limit',
    pattern: pattern`contains {number} images, exceeding the maximum of {number}`,
    example: 'Request contains 52 images, exceeding the maximum of 50 allowed per request',
    numbers: {},
  },
  {
    provider: 'groq',
    kind: 'media-limit',
    pattern: pattern`too many images`,
    example: 'Too many images provided. This model supports up to 5 images',
    numbers: {},
  },
  {
    provider: 'vllm',
    kind: 'media-limit',
    pattern: pattern`at most {number} image\(s\) may be provided`,
    example: 'At most 30 image(s) may be provided in one prompt.',
    numbers: {},
  },
];
