import type { ExchangeRecord, FoldEvent } from '../../src/proxy/record.ts';
import { type ProxyOptions, type RunningProxy, startProxy } from '../../src/proxy/server.ts';
import type { Script } from '../../src/simulator/script.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/simulator.ts';
import { memoryStore } from '../../src/stores/memory.ts';

/** A proxy in front of a provider, both on this machine. */
export interface Proxied {
  readonly proxy: RunningProxy;
  readonly simulator: Simulator;
  readonly records: readonly ExchangeRecord[];
  readonly events: readonly FoldEvent[];
  readonly learnt: readonly (readonly [model: string, windowTokens: number])[];
  close(): Promise<void>;
}

export async function startProxied(
  simulated: SimulatorOptions = {},
  options: Partial<ProxyOptions> = {},
): Promise<Proxied> {
  const simulator = await startSimulator(simulated);
  const records: ExchangeRecord[] = [];
  const events: FoldEvent[] = [];
  const learnt: (readonly [string, number])[] = [];
  const proxy = await startProxy({
    store: memoryStore(),
    upstreams: [{ url: simulator.url }],
    observer: {
      exchange: (record) => records.push(record),
      keeperEvent: (event) => events.push(event),
      windowLearnt: (model, tokens) => learnt.push([model, tokens]),
    },
    ...options,
  });
  return {
    ...{ proxy, simulator, records, events, learnt },
    async close() {
      await proxy.close();
      await simulator.close();
    },
  };
}

/** A model that calls the offered tools, two at once every third time, until so many results have come. */
export function untilResults(results: number): Script {
  return ({ conversation, tools, number }) => {
    const seen = number;
    const [tool] = tools;
    if (tool === undefined || seen > results)
      return { parts: [{ type: 'text', text: `All ${results} rounds done.` }] };
    const calls = number % 3 === 0 ? 2 : 1;
    return {
      parts: [
        { type: 'text', text: `Round ${number}, after ${conversation.messages.length} messages.` },
        ...Array.from({ length: calls }, (_, index) => ({
          type: 'tool-call' as const,
          name: tool.name,
          input: { path: `src/file-${number}-${index}.ts` },
        })),
      ],
    };
  };
}

/** What a tool answers: different every time, and long enough to fill a window. */
export function resultText(name: string, characters = 1200): string {
  const lines: string[] = [];
  for (let line = 1; lines.join('\n').length < characters; line++)
    lines.push(`${line}: export const value${line} = compute('${name}', ${line * 17});`);
  return lines.join('\n');
}
