import type { PreparedStatus } from '../../keeper/keeper.ts';
import type { ProxyPassReason, RefusalReason } from '../record.ts';

/** Why a request went on as it came, for people. A reason without words here does not compile. */
export const passWords: Readonly<Record<ProxyPassReason, string>> = {
  observing: 'the proxy only observes',
  bypassed: 'the request asked to be left alone',
  'not-a-conversation': 'it is no conversation',
  unreadable: 'its body could not be read',
  fragment: 'it is a part of a conversation',
  'compaction-answered': 'it asked for a compaction and got our memory, without asking the provider',
  'no-tenant': 'it has no credential to tell whose it is',
  'provider-holds-history': 'the provider holds the rest of its history',
  'provider-compacts': 'the client has asked the provider to compact it',
  'client-compacts': "it is the client's own compaction, which has to see everything",
  'folded-calls': 'its tool calls are folded into texts in a way that cannot be undone exactly',
  'unknown-model': 'the window of its model is not known',
  failed: 'something unexpected went wrong',
};

/** What became of a request, for people. */
export const statusWords: Readonly<Record<PreparedStatus, string>> = {
  unchanged: 'fits: sent as it came',
  folded: 'folded',
  reduced: 'did not fit: sent with less for this once',
  passed: 'passed as it came',
};

/** Why the proxy itself refused a request, for people. */
export const refusalWords: Readonly<Record<RefusalReason, string>> = {
  'no-token': 'the header x-roundfold-token, or the password of a page, was missing or wrong',
  'wrong-host': 'it named another host than those that are listed',
  'web-page': 'it came from a web page',
  'no-path': 'it named no path',
  'no-page': 'it asked for a page that is not here',
  'no-upstream': 'no upstream of the configuration takes its path and model',
  'too-large': 'its body was above maxBodyBytes',
  busy: 'as many requests were under way as maxStreams or the memory for bodies allows',
  websocket: 'it asked for a WebSocket',
  'cannot-compact': 'it asked for a compaction of something that it did not hold',
  'no-answer': 'upstream could not be reached or did not answer',
  internal: 'something went wrong in the proxy itself',
};

/** What became of a request and why, in one line. Words that are not ours are not repeated. */
export function tellStatus(status: PreparedStatus, reason: string | undefined): string {
  const why = reason === undefined ? undefined : wordsFor(passWords, reason);
  const what = wordsFor(statusWords, status) ?? 'unknown';
  return why === undefined ? what : `${what}: ${why}`;
}

function wordsFor(words: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined;
}

/** The value if it is one of ours, else `other`: what comes with a request must not make names. */
export function knownOr(names: Readonly<Record<string, unknown>>, name: string | undefined): string {
  if (name === undefined) return 'none';
  return Object.hasOwn(names, name) ? name : 'other';
}
