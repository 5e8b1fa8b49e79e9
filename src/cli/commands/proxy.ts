import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { RoundfoldError } from '../../conversation/errors.ts';
import { isObject } from '../../conversation/json.ts';
import { printable } from '../../conversation/printable.ts';
import type { ConfigRow, ProxyConfig } from '../../proxy/config.ts';
import { refusalWords } from '../../proxy/observe/words.ts';
import type { ExchangeRecord, ProxyObserver } from '../../proxy/record.ts';
import type { PageHandler } from '../../proxy/server.ts';
import type { Store } from '../../stores/store.ts';
import { type CommandDefinition, type GivenArguments, jsonOption, readNumber } from '../command.ts';
import { EXIT_CODE_TEXT, type ExitCode, exitCodes } from '../exit-codes.ts';
import { untilTold } from '../interruption.ts';
import { type Report, writeJson } from '../output.ts';
import { storeOption } from '../store.ts';
import type { Terminal } from '../terminal.ts';
import { readVersion } from '../version.ts';

/** `roundfold proxy`: long conversations just work for clients that nobody can change. Runs until it is told to end. */
export const proxy: CommandDefinition = {
  name: 'proxy',
  summary: 'keep the conversations of any client inside their window, between it and its provider',
  options: [
    { flags: '--port <number>', help: 'port to listen at; default 8787' },
    { flags: '--host <name>', help: 'address to listen at; default 127.0.0.1, this machine only' },
    {
      flags: '--upstream <url>',
      help: 'where requests go: URL, PATH=URL or MODEL=URL; may be repeated; default: the provider of each format',
      isList: true,
    },
    storeOption,
    {
      flags: '--mode <name>',
      help: 'observe counts and tells, and changes nothing; default fold',
      choices: ['fold', 'observe'],
    },
    { flags: '--window <tokens>', help: "window of every model; default: each model's own" },
    {
      flags: '--allow-remote',
      help: 'allow an address that other machines can reach; needs ROUNDFOLD_TOKEN',
    },
    { flags: '--show-content', help: 'let the dashboard show texts of messages and memories' },
    { flags: '--log <file>', help: 'one line of JSON per request, without contents, into a file' },
    { flags: '--recall', help: 'let agents read what left: an MCP server at /roundfold/mcp' },
    { flags: '--config <file>', help: 'settings as JSON with comments; default ROUNDFOLD_CONFIG' },
    { flags: '--print-config', help: 'show the settings in force and where each came from, and end' },
    jsonOption,
  ],
  examples: [
    ['roundfold proxy', 'then ANTHROPIC_BASE_URL=http://127.0.0.1:8787 claude'],
    ['roundfold proxy --mode observe --json', 'only count, one line of JSON per request'],
    ['roundfold proxy --upstream http://127.0.0.1:11434 --window 32000', 'in front of a local server'],
  ],
  details: () => SETTINGS,
  run,
};

const SETTINGS = `Every setting has a variable (maxStreams: ROUNDFOLD_MAX_STREAMS) and a place in the
configuration file. Flags go before variables, variables before the file. A request
with the header x-roundfold-bypass: 1 passes as it is. What was done with a request
stands in the x-roundfold-* headers of its answer.

${EXIT_CODE_TEXT}
`;

async function run(given: GivenArguments, report: Report): Promise<ExitCode> {
  // Loaded here, so that help and other commands do without.
  const { describeConfig, loadConfig } = await import('../../proxy/config.ts');
  const { env } = process;
  const { defaultStorePath } = await import('../../stores/sqlite-file.ts');
  const loaded = loadConfig({ flags: readFlags(given), environment: env, file: readConfigFile(given, env) });
  const store = loaded.config.store ?? defaultStorePath(env);
  const config = { ...loaded.config, store };
  if (given.flag('printConfig')) {
    printConfig(report, describeConfig({ ...loaded, config }));
    return exitCodes.done;
  }
  return serve(config, report);
}

async function serve(config: ProxyConfig & { readonly store: string }, report: Report): Promise<ExitCode> {
  const { startProxy } = await import('../../proxy/server.ts');
  const { createObservation } = await import('../../proxy/observe/observation.ts');
  const { watchStore } = await import('../../proxy/observe/store-watch.ts');
  const { openStore } = await import('../../stores/registry.ts');
  const { env } = process;
  const { terminal } = report;
  const ended = untilTold();
  const {
    store: address,
    window,
    maxBodyBytes,
    maxStreams,
    drainSeconds,
    log,
    showContent,
    recall,
    ...settings
  } = config;
  const secret = env['ROUNDFOLD_STORE_SECRET'] || undefined;
  const store = openStore(address, {
    secret,
    onFault: ({ reason }) => terminal.talk(`a stored record could not be used: ${reason}\n`),
  });
  const watch = watchStore(store, { say: (line) => terminal.talk(`${line}\n`) });
  try {
    const { observer, pages, wishesOf, close } = await createObservation({
      ...{ store, showContent, observers: [watch] },
      log: log === undefined ? undefined : { file: log },
    });
    await watch.begin(observer.keeperEvent);
    const running = await startProxy({
      ...{ ...settings, store, wishesOf, isReady: watch.hasAnswered },
      pages: recall ? await recallPages(pages, store, config) : pages,
      windowTokens: window,
      limits: { bodyBytes: maxBodyBytes, streams: maxStreams },
      observer: alsoPrinting(observer, report),
      // A store in memory belongs to one thread.
      threads: store.name === 'memory' ? undefined : { address, secret },
    });
    sayAddresses(terminal, running.url, config);
    await ended;
    await running.close({ drainMilliseconds: drainSeconds * 1000 });
    close();
    return exitCodes.done;
  } finally {
    watch.close();
    await store.close();
  }
}

/** Addresses at which all of a machine can be reached; nobody else can use them as an address. */
const WILDCARDS = ['0.0.0.0', '[::]'];

function sayAddresses(terminal: Terminal, listening: string, { hosts, token }: ProxyConfig): void {
  const { hostname: listensAt, port } = new URL(listening);
  const isWildcard = WILDCARDS.includes(listensAt);
  const url = isWildcard ? `http://${hosts[0] ?? hostname()}:${port}` : listening;
  if (isWildcard) terminal.talk('# or another name or address by which clients reach this machine:\n');
  terminal.talk(`export ANTHROPIC_BASE_URL=${url}\n`);
  terminal.talk(`export OPENAI_BASE_URL=${url}/v1\n`);
  terminal.talk(`export GOOGLE_GEMINI_BASE_URL=${url}\n`);
  if (token !== undefined) terminal.talk('# clients send the token in the header x-roundfold-token\n');
  terminal.talk(`# ${url}/roundfold/ shows what happens\n`);
}

/** Loaded here, so that a proxy without it does without the SDK. */
async function recallPages(others: PageHandler, store: Store, config: ProxyConfig): Promise<PageHandler> {
  const { withRecall } = await import('./recall-over-http.ts');
  const { isLoopback } = await import('../../proxy/access.ts');
  const { tenant: fixed, tenantHeader: header, host } = config;
  const tenants = { fixed, header, allowsAnonymous: isLoopback(host) };
  return withRecall({ store, tenants, version: readVersion(), others });
}

function alsoPrinting(observer: ProxyObserver, report: Report): ProxyObserver {
  return {
    ...observer,
    exchange(record) {
      observer.exchange?.(record);
      printExchange(report, record);
    },
    refused(record) {
      observer.refused?.(record);
      if (report.json) writeJson(report, 'refused', record);
      else
        report.terminal.talk(
          `${record.httpStatus} refused (${record.reason}): ${refusalWords[record.reason]}\n`,
        );
    },
    windowLearnt(model, tokens) {
      observer.windowLearnt?.(model, tokens);
      report.terminal.talk(`the window of ${printable(model, 80)} is ${tokens} tokens, says upstream\n`);
    },
  };
}

function readFlags(given: GivenArguments): Readonly<Record<string, unknown>> {
  return {
    port: readNumber(given, 'port', { from: 0, to: 65_535 }),
    host: given.text('host'),
    upstreams: given.list('upstream')?.map(readUpstream),
    store: given.text('store'),
    mode: given.text('mode'),
    window: readNumber(given, 'window', { from: 1 }),
    allowRemote: given.flag('allowRemote') ? true : undefined,
    recall: given.flag('recall') ? true : undefined,
    showContent: given.flag('showContent') ? true : undefined,
    log: given.text('log'),
  };
}

/** `https://…`, `/path=https://…` or `model-*=https://…`. */
function readUpstream(text: string): Readonly<Record<string, string>> {
  const [, condition, url] = /^([^=]{1,300}?)=(https?:\/\/.{1,2000})$/.exec(text) ?? [];
  if (condition === undefined || url === undefined || /^https?:\/\//.test(text)) return { url: text };
  return condition.startsWith('/') ? { url, path: condition } : { url, model: condition };
}

function readConfigFile(given: GivenArguments, env: NodeJS.ProcessEnv) {
  const name = given.text('config') ?? (env['ROUNDFOLD_CONFIG'] || undefined);
  if (name === undefined) return undefined;
  try {
    return { name, text: readFileSync(name, 'utf8') };
  } catch (cause) {
    const isMissing = isObject(cause) && cause['code'] === 'ENOENT';
    // biome-ignore lint/style/useErrorCause: the cause is passed, in the third argument
    throw new RoundfoldError(
      'usage',
      isMissing ? 'there is no such file' : 'the configuration cannot be read',
      {
        cause,
        place: { source: name },
        remedy: isMissing
          ? 'Check the path after --config, or in ROUNDFOLD_CONFIG.'
          : 'Check the rights of the file.',
      },
    );
  }
}

function printConfig(report: Report, rows: readonly ConfigRow[]): void {
  const { terminal } = report;
  for (const { key, value, source } of rows) {
    if (report.json) writeJson(report, 'setting', { key, value, source });
    else
      terminal.data(`${key} = ${value === undefined ? '(not set)' : JSON.stringify(value)}  # ${source}\n`);
  }
}

function printExchange(report: Report, record: ExchangeRecord): void {
  if (report.json) {
    writeJson(report, 'exchange', record);
    return;
  }
  if (record.kind !== 'generate') return;
  const { status, reason, httpStatus, model, tokensReceived, tokensSent, recoveries, upstream, fault } =
    record;
  const why = reason === undefined ? '' : ` (${reason})`;
  const size = tokensReceived === undefined ? '' : ` ${tokensReceived}`;
  const sent = tokensSent === undefined || tokensSent === tokensReceived ? '' : ` → ${tokensSent}`;
  const left = httpStatus === undefined ? ', the client has left' : '';
  const failed = fault === undefined ? left : `, ${upstream ?? 'upstream'}: ${printable(fault, 200)}`;
  const again = recoveries === 0 ? '' : `, sent again ${recoveries} times because it was too long`;
  report.terminal.talk(
    `${httpStatus ?? '---'} ${status}${why}${size}${sent}${size === '' ? '' : ' tokens'} ${printable(model ?? '', 60)}${again}${failed}\n`,
  );
}
