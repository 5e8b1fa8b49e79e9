import { expect, it } from 'vitest';
import { strategyContext } from '../../../test/support/strategy-context.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import { createStrategy } from './registry.ts';

it.each(['auto', 'manual', 'overflow'] as const)(
  'none leaves a full conversation alone, trigger %s',
  async (trigger) => {
    const conversation = anthropicMessages.read([{ role: 'user', content: 'word '.repeat(5000) }]);
    const outcome = await createStrategy('none').compact(
      conversation,
      strategyContext({ targetTokens: 1, trigger }),
    );

    expect(outcome).toMatchObject({ status: 'skipped', reason: 'off' });
  },
);
