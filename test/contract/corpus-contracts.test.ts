import { describe, expect, it } from 'vitest';
import { findContract } from '../../src/contracts/registry.ts';
import { recordedExchanges } from '../support/cassettes.ts';
import { corpusFolder, corpusIsMissing } from '../support/corpus.ts';

/** Which contract judges a request, by the end of its path. Recordings of one conversation may talk to several APIs. */
const formatsByPath: readonly (readonly [path: RegExp, format: string])[] = [
  [/\/v1\/messages$/, 'anthropic-messages'],
  [/\/chat\/completions$/, 'openai-chat'],
  [/\/responses(?:\/compact)?$/, 'openai-responses'],
  [/:(?:stream)?generateContent$/i, 'gemini'],
];

const vendorsByHost: ReadonlyMap<string, string> = new Map([
  ['api.deepseek.com', 'deepseek'],
  ['api.groq.com', 'groq'],
]);

const isMissing = corpusFolder === undefined;
const exchanges = recordedExchanges().filter(({ status }) => status === 200);

describe.skipIf(isMissing).each(formatsByPath)(
  `recorded requests to %s that were accepted${isMissing ? ` (skipped: ${corpusIsMissing})` : ''}`,
  (path, format) => {
    const requests = exchanges.filter(({ url }) => path.test(url.pathname));

    it('are there', () => {
      expect(requests.length).toBeGreaterThan(0);
    });

    it.each(requests)('$title is legal', ({ body, url }) => {
      const violations = findContract(format)!.check(body, { vendor: vendorsByHost.get(url.host) });

      expect(violations.filter(({ severity }) => severity === 'error')).toEqual([]);
    });
  },
);
