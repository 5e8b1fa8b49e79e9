import { anthropicClient, modelSummarizer, parseOverflow, type Summarizer } from '../../src/index.ts';
import type { CompletionRequest } from '../../src/memory/index.ts';
import { functionClient } from '../../src/providers/function.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';

/** A model that fails in one way, with how often it was asked. */
export interface FailingModel {
  readonly summarizer: Summarizer;
  readonly asked: () => number;
  close(): Promise<void>;
}

const usage = undefined;

/** A model in this process that answers so. */
function answering(
  answer: (request: CompletionRequest) => ReturnType<Parameters<typeof functionClient>[0]>,
): FailingModel {
  return counted(
    modelSummarizer(functionClient(answer), { overflowOf: parseOverflow }),
    async () => undefined,
  );
}

/** A summarizer that counts how often it is asked. */
function counted(inner: Summarizer, close: () => Promise<void>): FailingModel {
  let asked = 0;
  const summarizer: Summarizer = {
    ...inner,
    summarize: (request) => {
      asked++;
      return inner.summarize(request);
    },
  };
  return { summarizer, asked: () => asked, close };
}

/** A real client against a server on this machine. */
function served(simulator: Simulator, timeoutMs: number): FailingModel {
  const options = { model: 'claude-haiku-4-5', apiKey: 'test-key', baseUrl: simulator.url, timeoutMs };
  const summarizer = modelSummarizer(anthropicClient(options), { overflowOf: parseOverflow });
  return counted(summarizer, () => simulator.close());
}

/** Every way in which a model has been seen to fail. */
export const failingModels: Readonly<Record<string, () => Promise<FailingModel>>> = {
  'throws what nobody expects': async () =>
    counted(
      {
        name: 'throwing',
        asksModel: true,
        summarize: async () => {
          throw new TypeError('fetch failed');
        },
      },
      async () => undefined,
    ),
  'is overloaded (529)': async () => served(await startSimulator({ faults: [{ name: 'overloaded' }] }), 5000),
  'does not answer in time': async () =>
    served(await startSimulator({ faults: [{ name: 'slow-first-byte', delayMs: 2000 }] }), 50),
  'answers with nothing': async () => answering(() => ''),
  'is cut off': async () =>
    answering(() => ({ text: '<summary>\nNOW\nThe user wan', stop: 'length', usage })),
  refuses: async () => answering(() => ({ text: 'I cannot help with that.', stop: 'refusal', usage })),
  'refuses in words': async () => answering(() => "I'm sorry, but I can't help with that request."),
  'calls a tool': async () => answering(() => ({ text: '', stop: 'tool-call', usage })),
  'gives back what it was asked': async () => answering(({ prompt }) => prompt),
  'writes garbage': async () => answering(() => 'xq zz ## 0x %% lorem lorem lorem lorem lorem lorem lorem'),
};
