import { hex, hexAndHyphen, lettersAndDigits, word, wordAndHyphen } from '../scan.ts';
import { exactly, run, type TokenKind } from '../token.ts';

/** Keys of providers of models and of what agents use. Formats: public rules of secret scanners, where there are any. */
export const aiKinds: readonly TokenKind[] = [
  { kind: 'anthropic-key', prefixes: ['sk-ant-'], parts: [run(wordAndHyphen, 20)] },
  // Many providers write their keys as OpenAI does, and `sk-` begins class names as well.
  { kind: 'openai-key', prefixes: ['sk-'], parts: [run(wordAndHyphen, 20)], mustLookRandom: true },
  { kind: 'openrouter-key', prefixes: ['sk-or-v1-'], parts: [exactly(hex, 64)] },
  { kind: 'langfuse-key', prefixes: ['sk-lf-'], parts: [exactly(hexAndHyphen, 36)] },
  { kind: 'elevenlabs-key', prefixes: ['sk_'], parts: [exactly(hex, 48)] },
  { kind: 'hugging-face-token', prefixes: ['hf_', 'api_org_'], parts: [run(lettersAndDigits, 30)] },
  { kind: 'replicate-token', prefixes: ['r8_'], parts: [exactly(lettersAndDigits, 37)] },
  { kind: 'groq-key', prefixes: ['gsk_'], parts: [run(lettersAndDigits, 40)] },
  { kind: 'xai-key', prefixes: ['xai-'], parts: [run(lettersAndDigits, 40)] },
  { kind: 'perplexity-key', prefixes: ['pplx-'], parts: [run(lettersAndDigits, 40)] },
  { kind: 'cerebras-key', prefixes: ['csk-'], parts: [run(lettersAndDigits, 40, 64)] },
  { kind: 'fireworks-key', prefixes: ['fw_'], parts: [run(lettersAndDigits, 20, 40)], mustLookRandom: true },
  { kind: 'together-key', prefixes: ['tgp_v1_'], parts: [run(wordAndHyphen, 36)] },
  { kind: 'nvidia-key', prefixes: ['nvapi-'], parts: [run(wordAndHyphen, 40)] },
  { kind: 'langsmith-key', prefixes: ['lsv2_pt_', 'lsv2_sk_'], parts: [run(word, 40, 48)] },
  { kind: 'tavily-key', prefixes: ['tvly-'], parts: [run(wordAndHyphen, 28)], mustLookRandom: true },
  { kind: 'firecrawl-key', prefixes: ['fc-'], parts: [exactly(hex, 32)] },
  { kind: 'jina-key', prefixes: ['jina_'], parts: [run(wordAndHyphen, 50)] },
  { kind: 'pinecone-key', prefixes: ['pcsk_'], parts: [run(word, 50)] },
];
