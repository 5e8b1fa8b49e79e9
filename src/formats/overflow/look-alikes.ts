import { pattern } from './wording.ts';

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
