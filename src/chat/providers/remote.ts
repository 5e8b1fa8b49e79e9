import { asList } from '../../conversation/json.ts';
import { askAnthropic } from '../../providers/anthropic.ts';
import { askOpenai, textOf } from '../../providers/openai.ts';
import type { ChatProvider } from './provider.ts';
import { anthropicWire, openaiWire } from './wire.ts';

/** Who is asked, and where. */
export interface Access {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
}

/** The Anthropic Messages API, streamed. */
export function anthropicProvider(access: Access): ChatProvider {
  return {
    name: 'anthropic',
    wire: anthropicWire,
    async ask(body, options) {
      // The provider marks the end of the prompt for its cache by itself: no message has to change for it.
      const marked = { ...body, cache_control: { type: 'ephemeral' } };
      const { message, usage } = await askAnthropic({ ...access, model: '', streams: true }, marked, options);
      return { message: { role: 'assistant', content: message['content'] }, usage };
    },
  };
}

/** Chat Completions of OpenAI, or of any server that speaks like it, streamed. */
export function openaiProvider(access: Access): ChatProvider {
  return {
    name: 'openai',
    wire: openaiWire,
    async ask(body, options) {
      const { choice, usage } = await askOpenai({ ...access, model: '', streams: true }, body, options);
      const { content, tool_calls: calls } = choice.message;
      const called = asList(calls).length > 0 ? { tool_calls: calls } : {};
      return { message: { role: 'assistant', content: textOf(content), ...called }, usage };
    },
  };
}
