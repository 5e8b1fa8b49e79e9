import { afterEach, describe, expect, it } from 'vitest';
import { withRoundfold } from '../../src/proxy/fetch.ts';
import type { ExchangeRecord } from '../../src/proxy/record.ts';
import type { Script } from '../../src/simulator/script.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { langChainAgents } from '../support/langchain-agents.ts';
import { startProxied, untilResults } from '../support/proxied.ts';
import { type SdkAgent, sdkAgents } from '../support/sdk-agents.ts';

const running: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()));
});

const ROUNDS = 300;
const WINDOW = 32_000;
const TIMEOUT_MS = 120_000;

/** Calls tools for 300 rounds, two at once every third time, and thinks first where the request has it so. */
const script: Script = (turn) => {
  const { parts } = untilResults(ROUNDS)(turn);
  return {
    parts: turn.thinks ? [{ type: 'thinking', text: `About turn ${turn.number}.` }, ...parts] : parts,
  };
};

/** The provider refused nothing, every window was kept, and most requests went out folded. */
function expectFoldedWork(records: readonly ExchangeRecord[], { requests }: Simulator): void {
  expect(requests.filter(({ status }) => status !== 200)).toEqual([]);
  expect(records.filter(({ httpStatus }) => httpStatus !== 200)).toEqual([]);
  expect(records.filter(({ status }) => status === 'passed')).toEqual([]);
  const folded = records.filter(({ status }) => status === 'folded');
  expect(folded.length).toBeGreaterThan(ROUNDS / 2);
  expect(folded.every(({ tokensReceived = 0, tokensSent = 0 }) => tokensSent < tokensReceived)).toBe(true);
  expect(records.every(({ streamed, usage }) => streamed && (usage?.promptTokens ?? 0) > 0)).toBe(true);
  expect(Math.max(...requests.map(({ promptTokens = 0 }) => promptTokens))).toBeLessThan(WINDOW);
}

describe.each([...sdkAgents, ...langChainAgents])(
  '$name works 300 rounds in a window of 32,000 tokens, streamed, with parallel calls and thinking where it has it',
  ({ work, thinks }: SdkAgent) => {
    const whole = { requests: ROUNDS + 1, thoughts: thinks ? ROUNDS + 1 : 0 };

    it(
      'through the proxy',
      async () => {
        const proxied = await startProxied({ windowTokens: WINDOW, script }, { windowTokens: WINDOW });
        running.push(proxied);
        expect(await work(proxied.proxy.url)).toEqual(whole);
        expectFoldedWork(proxied.records, proxied.simulator);
      },
      TIMEOUT_MS,
    );

    it(
      'through a wrapped fetch',
      async () => {
        const simulator = await startSimulator({ windowTokens: WINDOW, script });
        running.push(simulator);
        const records: ExchangeRecord[] = [];
        const observer = { exchange: (record: ExchangeRecord) => void records.push(record) };
        expect(await work(simulator.url, withRoundfold(fetch, { windowTokens: WINDOW, observer }))).toEqual(
          whole,
        );
        expectFoldedWork(records, simulator);
      },
      TIMEOUT_MS,
    );
  },
);
