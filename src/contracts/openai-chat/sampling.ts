import { type Finding, report } from '../finding.ts';
import { isGiven, read } from '../json-value.ts';
import { findModelFamily } from './models.ts';
import { type ChatRequest, isOpenai } from './request.ts';
import { chatRules } from './rules.ts';

const { outputLimitTooHigh, unsupportedParameter } = chatRules;

/** Output limit and temperature, for models whose limits are known. */
export function checkSampling({ body, hasFrame, model, vendor }: ChatRequest): readonly Finding[] {
  const family = findModelFamily(model);
  if (family === undefined || !hasFrame || !isOpenai(vendor)) return [];
  const findings: Finding[] = [];
  const isRefused = family.reasons === true && isGiven(read(body, 'max_tokens'));
  if (isRefused) {
    findings.push(
      report(unsupportedParameter, {
        place: [],
        path: 'max_tokens',
        message: unsupportedParameter.wording.maxTokens(),
      }),
    );
  }
  for (const path of isRefused ? ['max_completion_tokens'] : ['max_tokens', 'max_completion_tokens']) {
    const asked = read(body, path);
    if (typeof asked === 'number' && asked > family.maxOutputTokens) {
      findings.push(
        report(outputLimitTooHigh, {
          place: [],
          path,
          message: outputLimitTooHigh.wording(asked, family.maxOutputTokens),
        }),
      );
    }
  }
  const temperature = read(body, 'temperature');
  if (family.fixesSampling === true && typeof temperature === 'number' && temperature !== 1) {
    const message = unsupportedParameter.wording.temperature(temperature);
    findings.push(report(unsupportedParameter, { place: [], path: 'temperature', message }));
  }
  return findings;
}
