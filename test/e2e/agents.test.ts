import { beforeAll, describe, expect, it } from 'vitest';
import { clientCompaction } from '../../src/formats/client-compaction.ts';
import { readConversation } from '../../src/formats/registry.ts';
import type { ExchangeRecord } from '../../src/proxy/record.ts';
import { startProxy } from '../../src/proxy/server.ts';
import type { RecordedRequest } from '../../src/simulator/simulator.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { type AgentName, installAgents, whyMissing } from '../support/agents/install.ts';
import { type AgentCase, answer, playSession, request } from '../support/agents/session.ts';

// Agents as their users have them, each with a provider on this machine whose model has a small window. Nothing of the
// agents is replaced: they run their own tools and keep their own histories.

const ROUNDS = 60;
const TIMEOUT_MS = 200_000;
const readPart = 'cat part-{round}.txt';
const bash = { tool: 'bash', input: { command: readPart, description: 'Reads a part' } };

const cases: readonly (AgentCase & { readonly agent: AgentName })[] = [
  {
    agent: 'codex',
    title: 'Codex with a model that calls functions',
    args: ['-m', 'gpt-5.5'],
    call: { tool: 'exec_command', input: { cmd: readPart } },
    windowTokens: 40_000,
  },
  {
    agent: 'codex',
    title: 'Codex with its default model, whose tools stand in the input',
    args: [],
    call: {
      tool: 'exec',
      input: { input: `const shown = await tools.exec_command({ cmd: '${readPart}' }); text(shown);` },
    },
    windowTokens: 60_000,
  },
  {
    agent: 'pi',
    title: 'pi over Anthropic Messages',
    args: ['--provider', 'anthropic', '--model', 'claude-sonnet-4-5'],
    call: bash,
    windowTokens: 40_000,
  },
  {
    agent: 'pi',
    title: 'pi over OpenAI Responses',
    args: ['--provider', 'openai', '--model', 'gpt-5.5'],
    call: bash,
    windowTokens: 40_000,
  },
  {
    agent: 'opencode',
    title: 'opencode over Anthropic Messages',
    args: [],
    model: 'anthropic/claude-sonnet-4-5',
    call: bash,
    windowTokens: 60_000,
  },
  {
    agent: 'opencode',
    title: 'opencode over OpenAI Responses',
    args: [],
    model: 'openai/gpt-5.5',
    call: bash,
    windowTokens: 60_000,
  },
  {
    agent: 'gemini',
    title: 'Gemini CLI',
    args: ['-m', 'gemini-2.5-pro'],
    // What it asks another model, whether the agent goes round in circles, is cut out of the history and illegal.
    model: 'gemini-2.5-pro',
    call: { tool: 'run_shell_command', input: { command: readPart, description: 'Reads a part' } },
    windowTokens: 60_000,
  },
];

beforeAll(installAgents, 600_000);

describe.each(cases)('$title', (given) => {
  it(
    `works through ${ROUNDS} rounds behind roundfold run: none refused, several folds, the right answer`,
    async (test) => {
      const why = whyMissing(given.agent);
      if (why !== undefined) return test.skip(why);
      const { code, stdout, stderr, requests } = await playSession(given, ROUNDS, 'run');
      const models = requests.filter((each) => isForModel(each, given));
      expect(code, stderr).toBe(0);
      expect(stdout).toContain(answer.replace('{rounds}', `${ROUNDS}`));
      expect(models.filter(({ status }) => status !== 200)).toEqual([]);
      expect(models.length).toBeGreaterThan(ROUNDS);
      expect(models.filter(asksForSummary)).toEqual([]);
      const folds = Number(/(\d+) folds?,/.exec(stderr)?.[1] ?? 0);
      expect(folds, stderr).toBeGreaterThanOrEqual(2);
      // What the user asked for and what came last are there to the end.
      const last = JSON.stringify(models.at(-1)?.body);
      expect(last).toContain(request);
      expect(last).toContain(`part ${ROUNDS}, line 69`);
      expect(last).not.toContain('part 1, line 69');
    },
    TIMEOUT_MS,
  );
});

it(
  'Codex behind a proxy that does not know the window is refused once, without a number, and never again',
  async (test) => {
    const why = whyMissing('codex');
    const [given] = cases;
    if (why !== undefined || given === undefined) return test.skip(why);
    const { code, stderr, requests } = await playSession(given, ROUNDS, 'run-without-window');
    expect(code, stderr).toBe(0);
    expect(requests.filter((each) => isForModel(each, given) && each.status !== 200)).toHaveLength(1);
    expect(stderr).toContain('1 overflow recovered');
    expect(stderr).toMatch(/window of gpt-5\.5: 4\d,\d{3} tokens, learnt from an answer/);
  },
  TIMEOUT_MS,
);

it(
  'Codex goes on from a memory of the proxy where it asks its provider for a compaction, as often as it likes',
  async (test) => {
    const why = whyMissing('codex');
    const [given] = cases;
    if (why !== undefined || given === undefined) return test.skip(why);
    const records: ExchangeRecord[] = [];
    // It is Codex that compacts: the window of the model is far away.
    const limited = {
      ...given,
      args: [...given.args, '-c', 'model_auto_compact_token_limit=24000'],
      windowTokens: 200_000,
    };
    const { code, stdout, stderr, requests } = await playSession(limited, ROUNDS, 'direct', (url) =>
      startProxy({
        store: memoryStore(),
        upstreams: [{ url }],
        answerCompactions: true,
        observer: { exchange: (record) => records.push(record) },
      }),
    );
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(answer.replace('{rounds}', `${ROUNDS}`));
    const answered = records.filter(({ reason }) => reason === 'compaction-answered');
    expect(answered.length).toBeGreaterThan(1);
    const models = requests.filter((each) => isForModel(each, limited));
    expect(models.filter(({ status }) => status !== 200)).toEqual([]);
    // The provider has seen no compaction at all: neither the request for one nor what came of it.
    expect(models.filter(({ body }) => JSON.stringify(body).includes('"compaction'))).toEqual([]);
    const last = JSON.stringify(models.at(-1)?.body);
    expect(last).toContain(request);
    expect(last).toContain(`part ${ROUNDS}, line 69`);
    expect(last).toContain('[earlier conversation summary]');
  },
  TIMEOUT_MS,
);

/** One way of each agent is enough to see what it does by itself. */
const alone = cases.filter(({ agent }, index) => cases.findIndex((each) => each.agent === agent) === index);

describe.each(alone)('$title', (given) => {
  it(
    'without roundfold is refused, compacts by itself, or does not get through',
    async (test) => {
      const why = whyMissing(given.agent);
      if (why !== undefined) return test.skip(why);
      const { code, requests } = await playSession(given, ROUNDS, 'direct');
      const models = requests.filter((each) => isForModel(each, given));
      const refused = models.filter(({ status }) => status >= 400);
      const summaries = models.filter(asksForSummary);
      expect(models.length).toBeGreaterThan(5);
      expect(refused.length + summaries.length + (code === 0 ? 0 : 1)).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});

function isForModel({ method, format, model }: RecordedRequest, given: AgentCase): boolean {
  const isOther = given.agent === 'gemini' && model !== given.model;
  return method === 'POST' && format !== undefined && !isOther;
}

function asksForSummary({ body, format }: RecordedRequest): boolean {
  return format !== undefined && clientCompaction(readConversation(body, format)) !== undefined;
}
