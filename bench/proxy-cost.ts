/**
 * What recorded agent sessions cost through the proxy, and without it: every request of a session goes over HTTP to the
 * simulator, once directly and once through a proxy with a smaller window, and is billed by what the simulator's prompt cache
 * reports. Both sides get the same bytes; the direct side has a window without limit, so that it never has to be cut.
 *
 *   npm run bench:proxy-cost -- [--sessions claude-code/] [--window 60000] [--most 40]
 */
import { parseArgs } from 'node:util';
import { costOf, type PriceSet, priceSetOf } from '../src/compaction/economics/costs.ts';
import { isObject, type JsonObject } from '../src/conversation/json.ts';
import type { Message } from '../src/conversation/message.ts';
import type { CostSession } from '../src/lab/cost-session.ts';
import { startProxy } from '../src/proxy/server.ts';
import { startSimulator } from '../src/simulator/simulator.ts';
import { memoryStore } from '../src/stores/memory.ts';
import { findModel } from '../src/tokens/catalog.ts';
import { corpusFolder, corpusIsMissing } from '../test/support/corpus.ts';
import { type NamedSession, readCostSessions } from './cost/replay-all.ts';
import { printGoals } from './timing.ts';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '' },
    window: { type: 'string', default: '60000' },
    most: { type: 'string', default: '1000' },
  },
});

const MODEL = 'claude-opus-5-5';
const ANSWER_TOKENS = 4000;
const WITHOUT_LIMIT = 50_000_000;
const windowTokens = Number(values.window);
/** Instructions and tools of a coding agent, about 15,000 tokens. */
const INSTRUCTIONS = 'Work on what the user asks for, read before you write, and say what you did. '.repeat(
  500,
);

if (corpusFolder === undefined) {
  console.log(corpusIsMissing);
  process.exit(0);
}
const model = findModel(MODEL);
const prices = model && priceSetOf(model);
if (prices === undefined) throw new Error(`${MODEL} has no prices`);

/** What one side of a session was billed. */
interface Bill {
  readonly dollars: number;
  readonly promptTokens: number;
  readonly readTokens: number;
  readonly folds: number;
  readonly largest: number;
  /** Why it ended before its time. */
  readonly refusal: string | undefined;
}

/** Sends every request of a session to an address, in order, each with what the one before left behind. */
async function replay(
  session: CostSession,
  { url, settle, tick }: { readonly url: string; settle(): Promise<void>; tick(seconds: number): void },
  set: PriceSet,
): Promise<Bill> {
  const messages: unknown[] = [];
  const tools = toolsOf(session);
  const sum = { dollars: 0, promptTokens: 0, readTokens: 0, folds: 0, largest: 0 };
  let checkpoint: string | null = null;
  for (const { added, atSeconds, outputTokens } of session.turns) {
    messages.push(...added.map(withoutReasoning).filter((raw) => raw !== undefined));
    tick(atSeconds);
    const response = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: {
        'x-api-key': 'bench',
        'anthropic-version': '2023-06-01',
        'content-type': 'application/json',
      },
      body: JSON.stringify(bodyOf(messages, tools)),
    });
    const answer: unknown = await response.json();
    if (!response.ok) return { ...sum, refusal: JSON.stringify(answer).slice(0, 200) };
    const used = response.headers.get('x-roundfold-checkpoint');
    if (used !== checkpoint) sum.folds++;
    checkpoint = used;
    const billed = { ...usageOf(answer), outputTokens };
    sum.dollars += costOf(set, billed);
    const promptTokens = billed.readTokens + billed.writtenTokens + billed.uncachedTokens;
    sum.promptTokens += promptTokens;
    sum.readTokens += billed.readTokens;
    sum.largest = Math.max(sum.largest, promptTokens);
    await settle();
  }
  return { ...sum, refusal: undefined };
}

/** Reasoning of the recorded provider is sealed by a key that the simulator does not have. */
function withoutReasoning({ raw }: Message): unknown {
  if (!isObject(raw) || !Array.isArray(raw['content'])) return raw;
  const content = raw['content'].filter(
    (block) => !isObject(block) || !/thinking/.test(String(block['type'])),
  );
  return content.length === 0 ? undefined : { role: raw['role'], content };
}

/** A request as coding agents send it: a cache marker behind the instructions, and one at the end that moves along. */
function bodyOf(messages: readonly unknown[], tools: readonly JsonObject[]): JsonObject {
  const marker = { cache_control: { type: 'ephemeral' } };
  const last = messages.at(-1);
  const blocks = isObject(last) ? asBlocks(last['content']) : [];
  const marked = blocks.map((block, index) =>
    index === blocks.length - 1 ? { ...block, ...marker } : block,
  );
  return {
    model: MODEL,
    max_tokens: ANSWER_TOKENS,
    system: [{ type: 'text', text: INSTRUCTIONS, ...marker }],
    tools,
    messages: [...messages.slice(0, -1), isObject(last) ? { role: last['role'], content: marked } : last],
  };
}

function asBlocks(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

/** All tools of a session from the beginning: one that came later would change the prefix on both sides. */
function toolsOf({ conversation }: CostSession): readonly JsonObject[] {
  const names = new Set(
    conversation.messages.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.type === 'tool-call' ? [block.name] : [])),
    ),
  );
  return [...names].map((name) => ({ name, input_schema: { type: 'object', properties: {} } }));
}

function usageOf(answer: unknown) {
  const usage = isObject(answer) && isObject(answer['usage']) ? answer['usage'] : {};
  const count = (key: string) => Number(usage[key] ?? 0);
  return {
    uncachedTokens: count('input_tokens'),
    readTokens: count('cache_read_input_tokens'),
    writtenTokens: count('cache_creation_input_tokens'),
  };
}

/** Both sides of one session. Time passes as it was recorded, so that caches expire as they would have. */
async function compare({ session }: NamedSession): Promise<{ readonly direct: Bill; readonly sent: Bill }> {
  let now = 0;
  const tick = (seconds: number) => {
    now = seconds * 1000;
  };
  const provider = await startSimulator({ windowTokens: WITHOUT_LIMIT, now: () => now });
  const direct = await replay(
    session,
    { url: provider.url, settle: async () => {}, tick },
    prices as PriceSet,
  );
  await provider.close();
  now = 0;
  const narrow = await startSimulator({ windowTokens, now: () => now });
  const store = memoryStore();
  const proxy = await startProxy({ store, upstreams: [{ url: narrow.url }], windowTokens });
  const sent = await replay(
    session,
    { url: proxy.url, settle: () => proxy.settle(), tick },
    prices as PriceSet,
  );
  await proxy.close();
  await narrow.close();
  return { direct, sent };
}

const sessions = (await readCostSessions(values.sessions))
  .filter(({ session }) => session.conversation.format.name === 'anthropic-messages')
  .slice(0, Number(values.most));
console.log(`${sessions.length} stretches of recorded sessions, window ${windowTokens}`);
const totals = { cutDirect: 0, cutSent: 0, fitDirect: 0, fitSent: 0 };
let worst = 0;
let worstCut = 0;
let refused = 0;
let compared = 0;
for (const named of sessions) {
  const { direct, sent } = await compare(named);
  if (direct.refusal !== undefined) {
    console.log(`not replayed, refused without the proxy: ${named.name.slice(0, 60)} ${direct.refusal}`);
    continue;
  }
  compared++;
  if (sent.refusal !== undefined) {
    refused++;
    console.log(`REFUSED ${named.name.slice(0, 60)} ${sent.refusal}`);
    continue;
  }
  const fits = direct.largest + ANSWER_TOKENS <= windowTokens;
  totals[fits ? 'fitDirect' : 'cutDirect'] += direct.dollars;
  totals[fits ? 'fitSent' : 'cutSent'] += sent.dollars;
  const ratio = sent.dollars / direct.dollars;
  if (fits) worst = Math.max(worst, ratio);
  else worstCut = Math.max(worstCut, ratio);
  const hits = ({ readTokens, promptTokens }: Bill) => ((100 * readTokens) / promptTokens).toFixed(0);
  console.log(
    [
      `${(100 * ratio).toFixed(0).padStart(4)} %`,
      `$${direct.dollars.toFixed(2)} → $${sent.dollars.toFixed(2)}`,
      `largest ${direct.largest} → ${sent.largest}`,
      `${sent.folds} folds`,
      `cache hits ${hits(direct)} → ${hits(sent)} %`,
      named.name.slice(0, 50),
    ].join('  '),
  );
}
console.log(`${compared} sessions compared`);
const isFine = printGoals([
  { name: 'C1 requests that were refused behind the proxy', measured: refused, atMost: 0 },
  { name: 'C2 the dearest session that fits, sent ÷ direct', measured: worst, atMost: 1 },
  {
    name: 'C3 sessions that would have to be cut, sent ÷ direct',
    measured: totals.cutSent / totals.cutDirect,
    atMost: 0.45,
  },
  { name: 'C4 the dearest of those, which could not have gone on directly', measured: worstCut, atMost: 1.1 },
  { name: 'C5 sessions that fit, sent ÷ direct', measured: totals.fitSent / totals.fitDirect, atMost: 1 },
]);
process.exitCode = isFine ? 0 : 1;
