import { isObject } from '../../conversation/json.ts';
import { printable } from '../../conversation/printable.ts';
import { urlVariables } from '../../proxy/clients/client.ts';

import { passWords, refusalWords } from '../../proxy/observe/words.ts';
import type { ProxyPassReason, RefusalReason } from '../../proxy/record.ts';
import { countOf, formatCount } from '../../report/terminal.ts';
import type { Facts } from './facts.ts';
import { passRemedies } from './remedies.ts';

/** Something that was found. A `problem` keeps conversations from being folded, a `hint` may cost something. */
export interface Finding {
  readonly severity: 'problem' | 'hint' | 'fine';
  /** Stable, for programs. */
  readonly code: string;
  readonly message: string;
  readonly remedy?: string | undefined;
  /** Lines for a shell that do it, each to be used as it stands. */
  readonly commands?: readonly string[] | undefined;
}

type Check = (facts: Facts) => readonly Finding[];

/** All checks, in the order in which they are told. A new one is a function and a line here. */
const checks: readonly Check[] = [
  checkReach,
  checkVariables,
  checkForwardProxy,
  checkRequests,
  checkPassed,
  checkRefused,
  checkPauses,
  checkStore,
  checkWindows,
  checkClaudeCode,
  checkConversations,
];

/** Says why conversations are not folded, and what to do about it. Whoever has no problem is told so. */
export function diagnose(facts: Facts): readonly Finding[] {
  const found = checks.flatMap((check) => check(facts));
  if (found.some(({ severity }) => severity === 'problem')) return found;
  const folded = facts.health?.byStatus['folded'] ?? 0;
  const message =
    folded > 0
      ? `the proxy works: ${countOf(folded, 'request')} went out folded`
      : 'nothing stands in the way: a conversation is folded when it comes near its window';
  return [{ severity: 'fine', code: 'ready', message }, ...found];
}

function checkReach({ url, reach }: Facts): readonly Finding[] {
  switch (reach) {
    case 'proxy':
      return [];
    case 'ending':
      return [problem('ending', `the proxy at ${url} is about to end`, 'Start it again: roundfold proxy.')];
    case 'no-token':
      return [
        problem(
          'no-token',
          `the proxy at ${url} wants a token`,
          'Set ROUNDFOLD_TOKEN to the one it was started with.',
        ),
      ];
    case 'somebody-else':
      return [
        problem(
          'not-a-proxy',
          `what answers at ${url} is no roundfold proxy`,
          'Give its address: roundfold doctor http://127.0.0.1:8787.',
        ),
      ];
    case 'nobody':
      return [
        problem(
          'unreachable',
          `nobody answers at ${url}`,
          'Start a proxy with `roundfold proxy`, or a client with one of its own: roundfold run claude.',
        ),
      ];
  }
}

/** Whether the environment that this runs in would lead a client to the proxy. */
function checkVariables({ url, env, health }: Facts): readonly Finding[] {
  const variables = Object.values(urlVariables);
  const given = variables.filter((name) => (env[name] ?? '') !== '');
  const elsewhere = given.filter((name) => !isBelow(env[name] ?? '', url));
  if (given.length === 0) {
    return [
      {
        severity: 'hint',
        code: 'no-variables',
        message: 'no variable of this shell leads a client to the proxy',
        remedy: '`roundfold run` leads each client as it needs it. By hand, whichever you use:',
        commands: [...variables.map((name) => exportTo(name, url)), `codex -c 'openai_base_url="${url}/v1"'`],
      },
    ];
  }
  // Whoever gets requests has clients that know the way.
  const severity = health?.requests === 0 ? 'problem' : 'hint';
  return elsewhere.map((name) => ({
    severity,
    code: 'points-elsewhere',
    message: `${name} leads to somebody else`,
    commands: [exportTo(name, url)],
  }));
}

function exportTo(name: string, url: string): string {
  return `export ${name}=${url}${name === urlVariables.openai ? '/v1' : ''}`;
}

function isBelow(given: string, url: string): boolean {
  if (!URL.canParse(given) || !URL.canParse(url)) return false;
  const names = [new URL(given), new URL(url)].map(({ hostname, port }) => `${localName(hostname)}:${port}`);
  return names[0] === names[1];
}

function localName(hostname: string): string {
  return hostname === 'localhost' || hostname === '[::1]' ? '127.0.0.1' : hostname;
}

/** Requests to this machine must not go out to a proxy of the network. */
function checkForwardProxy({ url, env }: Facts): readonly Finding[] {
  const name = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'].find(
    (each) => (env[each] ?? '') !== '',
  );
  if (name === undefined || !URL.canParse(url)) return [];
  const { hostname } = new URL(url);
  const spared = `${env['NO_PROXY'] ?? ''},${env['no_proxy'] ?? ''}`.split(',').map((each) => each.trim());
  if (spared.some((each) => each === '*' || each === hostname)) return [];
  return [
    {
      severity: 'hint',
      code: 'forward-proxy',
      message: `${name} may lead requests for ${hostname} out of this machine`,
      commands: [`export NO_PROXY=${hostname}`],
    },
  ];
}

function checkRequests({ reach, health }: Facts): readonly Finding[] {
  if (reach !== 'proxy') return [];
  if (health === undefined) {
    return [
      {
        severity: 'hint',
        code: 'tells-nothing',
        message: 'this proxy does not tell what became of its requests',
        remedy: 'Look at x-roundfold-status and x-roundfold-reason in the headers of its answers.',
      },
    ];
  }
  if (health.requests === 0) {
    return [
      problem(
        'no-requests',
        'no request has come through since it was started',
        'Start the client from a shell in which the variables are set: programs that run already keep their addresses.',
      ),
    ];
  }
  const failed = health.upstreamErrors;
  if (failed * 2 <= health.requests) return [];
  return [
    problem(
      'upstream',
      `${formatCount(failed)} of ${countOf(health.requests, 'request')} were refused or not answered${lastFault(health.upstreamFault)}`,
      'Look at the address of the upstream and at the key: `roundfold proxy --print-config`.',
    ),
  ];
}

function lastFault(fault: unknown): string {
  return typeof fault === 'string' ? `; the last: ${printable(fault, 200)}` : '';
}

/** Reasons for which the client or the proxy has to be set otherwise are problems; the others are as they should be. */
function checkPassed({ health }: Facts): readonly Finding[] {
  return (health?.passed ?? []).flatMap(({ reason, count }): readonly Finding[] => {
    if (!Object.hasOwn(passWords, reason) || count === 0) return [];
    const known = reason as ProxyPassReason; // one of the names of its words
    const remedy = passRemedies[known];
    const message = `${countOf(count, 'request')} passed as ${count === 1 ? 'it' : 'they'} came: ${passWords[known]}`;
    return [{ severity: remedy === undefined ? 'hint' : 'problem', code: reason, message, remedy }];
  });
}

/** What upstream did not answer is told with the address of it. */
function checkRefused({ health }: Facts): readonly Finding[] {
  return (health?.refused ?? []).flatMap(({ reason, count }): readonly Finding[] => {
    if (!Object.hasOwn(refusalWords, reason) || reason === 'no-answer') return [];
    const why = refusalWords[reason as RefusalReason]; // one of the names of its words
    return [
      hint(
        `refused-${reason}`,
        `${countOf(count, 'request')} ${count === 1 ? 'was' : 'were'} refused: ${why}`,
      ),
    ];
  });
}

function checkPauses({ health }: Facts): readonly Finding[] {
  if (health === undefined || health.paused === 0) return [];
  const why = health.pauseReason === undefined ? '' : `: ${health.pauseReason}`;
  return [
    problem(
      'paused',
      `compactions of ${countOf(health.paused, 'conversation')} pause because several came to nothing${why}`,
      'They are tried again when the conversation has grown. What is pinned or instructions may leave too little room: a larger --window, or fewer tools.',
    ),
  ];
}

function checkStore({ health }: Facts): readonly Finding[] {
  const count = health?.store.count ?? 0;
  if (count === 0) return [];
  const what = health?.store.last === undefined ? '' : ` (${health.store.last})`;
  return [
    problem(
      'store',
      `the store did not answer ${countOf(count, 'time')}${what}`,
      'Look at the disk, the rights of the file or the database, then: roundfold store verify.',
    ),
  ];
}

function checkWindows({ health }: Facts): readonly Finding[] {
  return (health?.windows ?? []).map(({ model, windowTokens }) => ({
    severity: 'hint',
    code: 'learnt-window',
    message: `the window of ${model} is ${formatCount(windowTokens)} tokens, as upstream says`,
    remedy: 'Set it in `windows` of the config, so that nobody has to run into it first.',
  }));
}

/** What Claude Code gives up behind an address that is not Anthropic's. */
function checkClaudeCode({ env, conversations }: Facts): readonly Finding[] {
  const isUsed = conversations.some(({ client }) => client === 'claude-code');
  if (!isUsed && (env[urlVariables.anthropic] ?? '') === '') return [];
  const isLong = (env['ANTHROPIC_MODEL'] ?? '').includes('[1m]');
  const finds = env['CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY'] !== undefined;
  return [
    ...(env['ENABLE_TOOL_SEARCH'] === undefined
      ? [
          {
            ...hint(
              'tool-search',
              'Claude Code turns tool search off behind another address: 11,000 tokens and more per request',
            ),
            commands: ['export ENABLE_TOOL_SEARCH=true'],
          },
        ]
      : []),
    ...(isLong || finds
      ? []
      : [
          {
            ...hint(
              'window-dropped',
              'Claude Code takes models for ones with 200,000 tokens behind another address',
              'Name the model with [1m] at its end, or:',
            ),
            commands: ['export CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY=1'],
          },
        ]),
  ];
}

/** Where the conversations stand that have not been folded yet. */
function checkConversations({ conversations }: Facts): readonly Finding[] {
  return conversations
    .filter((row) => isObject(row) && row.folds === 0 && row.status === 'unchanged')
    .slice(0, MOST_SHOWN)
    .flatMap(({ id, tokensSent, triggerTokens, model }) => {
      if (tokensSent === undefined || triggerTokens === undefined) return [];
      const place = `${formatCount(tokensSent)} tokens of the ${formatCount(triggerTokens)} at which it is folded`;
      return [hint('not-due', `conversation ${id.slice(0, 12)} (${model ?? 'unknown model'}) has ${place}`)];
    });
}

const MOST_SHOWN = 5;

function problem(code: string, message: string, remedy: string): Finding {
  return { severity: 'problem', code, message, remedy };
}

function hint(code: string, message: string, remedy?: string): Finding {
  return { severity: 'hint', code, message, remedy };
}
