import { type Compactor, createCompactor } from '../config/compactor.ts';
import { withLogging } from '../config/node.ts';
import type { Usage } from '../core/message.ts';
import type { Strategy } from '../core/strategy.ts';
import type { Summarizer } from '../core/summarizer.ts';
import { createTokenEstimator, type TokenEstimator } from '../core/token-estimator.ts';
import { measureContext } from '../core/tokens.ts';
import { withRecursionGuard } from '../decorators/with-recursion-guard.ts';
import { tokenProfileForModel } from '../models/token-profiles.ts';
import { createStrategy } from '../strategies/registry.ts';
import type { ChatArchive } from './archive.ts';
import { Dialogue } from './dialogue.ts';
import type { ChatHost } from './host.ts';
import type { ChatProvider } from './providers/provider.ts';
import { formatSession, makeSessionFolder, type SavedChat } from './session-file.ts';
import type { Workspace } from './tools/workspace.ts';

export interface ChatOptions {
  readonly host: ChatHost;
  readonly provider: ChatProvider;
  readonly workspace: Workspace;
  readonly model: string;
  /** Size of the window, instead of the model's. */
  readonly windowTokens: number | undefined;
  /** Name of the strategy that runs by itself. */
  readonly strategy: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly summarizer: Summarizer;
  /** File that gets a record of every compaction. */
  readonly logPath: string | undefined;
  readonly archive: ChatArchive | undefined;
  /** Where the chat is saved at first. */
  readonly sessionPath: string;
  readonly saved?: SavedChat | undefined;
}

/** What the requests of a chat have taken so far. */
export interface Spent {
  readonly requests: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** One chat: its messages, who answers, and what keeps it inside its window. */
export class Chat {
  readonly options: ChatOptions;
  readonly dialogue: Dialogue;
  isVerbose = false;
  /** Where it is saved. */
  sessionPath: string;
  spent: Spent = { requests: 0, promptTokens: 0, outputTokens: 0 };
  /** What the provider said of the context, and how many messages that was. */
  #reported: { readonly usage: Usage; readonly messages: number } | undefined;
  #pins: readonly string[];
  #compactor: Compactor;
  #estimator: TokenEstimator;

  constructor(options: ChatOptions) {
    this.options = options;
    const { provider, saved } = options;
    this.sessionPath = options.sessionPath;
    this.dialogue = new Dialogue(provider.wire, options.model, saved);
    this.#pins = saved?.pins ?? [];
    this.#estimator = createTokenEstimator({ profile: tokenProfileForModel(options.model) });
    this.#compactor = this.compactorFor(this.configured());
  }

  get host(): ChatHost {
    return this.options.host;
  }

  get compactor(): Compactor {
    return this.#compactor;
  }

  get estimator(): TokenEstimator {
    return this.#estimator;
  }

  get pins(): readonly string[] {
    return this.#pins;
  }

  pin(text: string): void {
    this.#pins = [...this.#pins, text];
    this.#renew();
  }

  /** Goes on with another model of the same provider. */
  useModel(model: string): void {
    this.dialogue.model = model;
    this.#estimator = createTokenEstimator({ profile: tokenProfileForModel(model) });
    this.#reported = undefined;
    this.#renew();
  }

  /** The strategy that runs by itself. */
  configured(): Strategy {
    return createStrategy(this.options.strategy, this.options.settings);
  }

  /** A compactor of this chat around a strategy. */
  compactorFor(
    strategy: Strategy,
    more: {
      readonly summarizer?: Summarizer | undefined;
      /** Leaves no trace in the log. */
      readonly isTrial?: boolean;
    } = {},
  ): Compactor {
    const { archive, logPath, windowTokens, summarizer } = this.options;
    const named = archive?.named(strategy) ?? strategy;
    const logged = logPath === undefined || more.isTrial === true ? named : withLogging(named, logPath);
    return createCompactor({
      model: this.dialogue.model === 'offline' ? undefined : this.dialogue.model,
      windowTokens: windowTokens ?? (this.dialogue.model === 'offline' ? OFFLINE_WINDOW : undefined),
      format: this.dialogue.wire.format,
      strategy: withRecursionGuard(logged),
      summarizer: more.summarizer ?? summarizer,
      pins: { patterns: this.#pins.map((text) => new RegExp(literally(text))) },
      state: this.#compactor?.state,
      ledger: this.#compactor?.ledger,
    });
  }

  /** Notes what a provider said of a request. */
  report(usage: Usage | undefined): void {
    const { requests, promptTokens, outputTokens } = this.spent;
    const sent = usage ?? this.#estimateRequest();
    this.spent = {
      requests: requests + 1,
      promptTokens: promptTokens + sent.promptTokens,
      outputTokens: outputTokens + sent.outputTokens,
    };
    this.#reported = usage === undefined ? undefined : { usage, messages: this.dialogue.messages.length };
  }

  /** Forgets what was said of messages that are no longer the same. */
  changed(): void {
    this.#reported = undefined;
  }

  /** Tokens of the next request, and the same as a report for a compactor where a provider has said something. */
  tokens(): { readonly tokens: number; readonly usage: Usage | undefined } {
    const conversation = this.dialogue.read();
    const reported = this.#reported;
    if (reported === undefined) {
      return { tokens: measureContext(conversation, this.#estimator).tokens, usage: undefined };
    }
    const later = conversation.messages.slice(reported.messages);
    const added = later.reduce((sum, message) => sum + this.#estimator.countMessage(message), 0);
    const promptTokens = Math.round(reported.usage.promptTokens + added);
    const { outputTokens } = reported.usage;
    return { tokens: promptTokens + outputTokens, usage: { promptTokens, outputTokens } };
  }

  say(text: string): void {
    this.host.out(`${text}\n`);
  }

  /** Says that something cannot be done. */
  refuse(message: string, remedy?: string): void {
    this.say(this.host.style('red', message));
    if (remedy !== undefined) this.say(this.host.style('dim', `  ${remedy}`));
  }

  /** Saves the chat, or a copy of it. */
  save(path: string = this.sessionPath): void {
    if (path === this.sessionPath) makeSessionFolder(path);
    const { wire, model, state } = this.dialogue;
    const text = formatSession({ ...state, format: wire.format, model, pins: this.#pins });
    this.host.writePrivateFile(path, text);
  }

  /** What the newest answer took, by our own count. */
  #estimateRequest(): Usage {
    this.#reported = undefined;
    const answer = this.dialogue.read().messages.at(-1);
    const outputTokens = answer === undefined ? 0 : Math.round(this.#estimator.countMessage(answer));
    return { promptTokens: this.tokens().tokens - outputTokens, outputTokens };
  }

  #renew(): void {
    this.#compactor = this.compactorFor(this.configured());
  }
}

/** The text as an expression that matches it and nothing else. */
function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Nobody has measured the window of a provider without a model. */
const OFFLINE_WINDOW = 32_000;
