import { setTimeout as delay } from 'node:timers/promises';
import type { RecordedRequest } from '../../src/simulator/simulator.ts';
import type { Json } from './anthropic-agent.ts';
import { resultText } from './proxied.ts';
import { noncesIn } from './summary-oracle.ts';

const TOOLS = [{ name: 'read_file', description: 'Reads a file.', input_schema: { type: 'object' } }];
/** Tells the simulator which request it is. Clients' own headers go on as they are. */
const PROBE_HEADER = 'x-probe';
/** Clients begin anew when a conversation has so many messages. */
const MOST_MESSAGES = 240;
const ANSWER_PATIENCE_MS = 30_000;

interface Conversation {
  readonly name: string;
  readonly messages: Json[];
}

/** What clients and the simulator saw. */
export interface LoadReport {
  requests: number;
  answered: number;
  folded: number;
  reduced: number;
  recovered: number;
  /** Requests that found nobody, or whose instance ended on the way. */
  broken: number;
  readonly wrong: string[];
  /** Chains of checkpoints that clients were told. */
  readonly named: Set<string>;
}

/** Clients at work, and a judge of everything that reaches the provider. */
export class ProxyLoad {
  readonly report: LoadReport = {
    ...{ requests: 0, answered: 0, folded: 0, reduced: 0, recovered: 0, broken: 0 },
    wrong: [],
    named: new Set(),
  };
  readonly #conversations = new Map<string, Conversation>();
  readonly #addresses: () => readonly string[];
  #nextNonce = 1;
  #turn = 0;
  #isOver = false;

  /** @param addresses of the instances that are there now */
  constructor(addresses: () => readonly string[]) {
    this.#addresses = addresses;
  }

  /** Clients come in pairs that have one key. */
  start(clients: number): Promise<unknown> {
    return Promise.all(Array.from({ length: clients }, (_, index) => this.#work(index)));
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Looks at a request that has reached the provider. */
  judge({ body, headers, rule, status }: RecordedRequest): void {
    const [name = '', length = ''] = (headers[PROBE_HEADER] ?? '').split(' ');
    const conversation = this.#conversations.get(name);
    if (rule !== undefined) this.#complain(name, `the provider refused it: ${status} ${rule}`);
    if (conversation === undefined) this.#complain(name, 'nobody has sent this');
    else {
      const fault = faultOf(body, conversation.messages.slice(0, Number(length)));
      if (fault !== undefined) this.#complain(name, fault);
    }
  }

  #complain(name: string, what: string): void {
    this.report.wrong.push(`${name}: ${what}`);
  }

  async #work(client: number): Promise<void> {
    for (let number = 1; !this.#isOver; number++) {
      const name = `client-${client}-${number}`;
      const conversation = {
        name,
        messages: [{ role: 'user', content: this.#say(`Read the files of ${name}.`) }],
      };
      this.#conversations.set(name, conversation);
      while (!this.#isOver && conversation.messages.length < MOST_MESSAGES)
        await this.#step(conversation, `key-${Math.floor(client / 2)}`);
    }
  }

  async #step(conversation: Conversation, key: string): Promise<void> {
    const { messages } = conversation;
    const answer = await this.#ask(conversation, key);
    if (answer === undefined) return;
    messages.push({ role: 'assistant', content: answer });
    const calls = answer.filter(({ type }) => type === 'tool_use');
    const results = calls.map(({ id }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: this.#say(resultText(String(id))),
    }));
    messages.push({
      role: 'user',
      content: calls.length === 0 ? this.#say('Go on with the next file.') : results,
    });
  }

  /** Undefined when there is no answer, and the request has to be sent again. */
  async #ask({ name, messages }: Conversation, key: string): Promise<readonly Json[] | undefined> {
    const { report } = this;
    const addresses = this.#addresses();
    const address = addresses[this.#turn++ % Math.max(1, addresses.length)];
    report.requests++;
    try {
      if (address === undefined) throw new Error('nobody is there');
      const response = await fetch(`${address}/v1/messages`, {
        method: 'POST',
        headers: {
          'x-api-key': key,
          'anthropic-version': '2023-06-01',
          'content-type': 'application/json',
          [PROBE_HEADER]: `${name} ${messages.length}`,
        },
        body: JSON.stringify({ model: 'claude-sonnet-4-6', max_tokens: 500, tools: TOOLS, messages }),
        signal: AbortSignal.timeout(ANSWER_PATIENCE_MS),
      });
      const answer = (await response.json()) as { readonly content?: readonly Json[] };
      if (response.status >= 500) throw new Error(`${response.status}`);
      if (!response.ok) this.#complain(name, `the client got ${response.status} ${JSON.stringify(answer)}`);
      this.#count(response);
      return answer.content;
    } catch {
      report.broken++;
      await delay(50);
      return undefined;
    }
  }

  #count({ headers }: Response): void {
    const { report } = this;
    const status = headers.get('x-roundfold-status');
    const checkpoint = headers.get('x-roundfold-checkpoint');
    report.answered++;
    if (status === 'folded') report.folded++;
    if (status === 'reduced') report.reduced++;
    if (headers.get('x-roundfold-recoveries') !== null) report.recovered++;
    if (checkpoint !== null) report.named.add(checkpoint);
  }

  #say(text: string): string {
    return `#${this.#nextNonce++}# ${text}`;
  }
}

/** What is wrong with a body that was made from these messages; undefined when nothing is. */
function faultOf(body: unknown, messages: readonly Json[]): string | undefined {
  const sent = ((body as { readonly messages?: readonly unknown[] } | undefined)?.messages ?? []).map(
    (each) => JSON.stringify(each),
  );
  const received = messages.map((message) => JSON.stringify(message));
  if (sent.at(-1) !== received.at(-1)) return 'it does not end as the client ended';
  const places = new Map(received.map((text, index) => [text, index]));
  const verbatim = sent.flatMap((text) => places.get(text) ?? []);
  if (verbatim.some((place, index) => index > 0 && place <= (verbatim[index - 1] ?? -1)))
    return 'a message was sent twice or in another place';
  const own = new Set(noncesIn(received));
  const foreign = noncesIn(sent).find((nonce) => !own.has(nonce));
  if (foreign !== undefined) return `${foreign} is of another conversation`;
  if (verbatim.length < received.length && verbatim.length === sent.length)
    return `${received.length - verbatim.length} messages are gone and nothing stands for them`;
  return undefined;
}
