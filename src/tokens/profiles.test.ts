import { describe, expect, it } from 'vitest';
import { tokenProfileForModel } from './profiles.ts';

describe('tokenProfileForModel', () => {
  it.each([
    { model: 'claude-sonnet-4-5-20250929', family: 'claude' },
    { model: 'anthropic/claude-opus-5-5', family: 'claude-4.7' },
    { model: 'gpt-5.5', family: 'o200k' },
    { model: 'gpt-4', family: 'cl100k' },
    { model: 'gemini-2.5-pro', family: 'gemini' },
    { model: 'nobody-knows-this', family: 'other' },
    { model: undefined, family: 'other' },
  ])('counts for $model like $family', ({ model, family }) => {
    expect(tokenProfileForModel(model).family).toBe(family);
  });

  const picture = { width: 1920, height: 1080 };

  it.each([
    { model: 'claude-opus-4-5', tokens: 1560 },
    { model: 'claude-opus-4-8', tokens: 2691 },
    { model: 'gpt-4o', tokens: 1105 },
    { model: 'gpt-5', tokens: 910 },
    { model: 'gpt-4.1-mini', tokens: 2489 },
    { model: 'gemini-2.5-pro', tokens: 1548 },
    { model: 'gemini-3.1-pro', tokens: 1120 },
  ])('counts a screenshot as $tokens for $model', ({ model, tokens }) => {
    expect(tokenProfileForModel(model).media.image(picture, undefined)).toBe(tokens);
  });
});
