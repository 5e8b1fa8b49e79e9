import type { Finding } from '../finding.ts';
import { isGiven, read } from '../json-value.ts';
import { findModelFamily } from './models.ts';
import { type ChatRequest, isOpenai } from './request.ts';
import { chatRules, report } from './rules.ts';

const { C8, C10 } = chatRules;

/** C8 and C10: output limit and temperature, for models whose limits are known. */
export function checkSampling({ body, hasFrame, model, vendor }: ChatRequest): readonly Finding[] {
  const family = findModelFamily(model);
  if (family === undefined || !hasFrame || !isOpenai(vendor)) return [];
  const findings: Finding[] = [];
  const isRefused = family.reasons === true && isGiven(read(body, 'max_tokens'));
  if (isRefused) {
    findings.push(report('C10', { place: [], path: 'max_tokens', message: C10.wording.maxTokens() }));
  }
  for (const path of isRefused ? ['max_completion_tokens'] : ['max_tokens', 'max_completion_tokens']) {
    const asked = read(body, path);
    if (typeof asked === 'number' && asked > family.maxOutputTokens) {
      findings.push(report('C8', { place: [], path, message: C8.wording(asked, family.maxOutputTokens) }));
    }
  }
  const temperature = read(body, 'temperature');
  if (family.fixesSampling === true && typeof temperature === 'number' && temperature !== 1) {
    const message = C10.wording.temperature(temperature);
    findings.push(report('C10', { place: [], path: 'temperature', message }));
  }
  return findings;
}
