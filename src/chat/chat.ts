/** The state of one chat: dialogue, provider, compactor, usage, and where it is saved. */

import type { CompactionEvent } from '../compaction/options.ts';
import type { Strategy } from '../compaction/plan/strategy.ts';
import { createStrategy } from '../compaction/strategies/registry.ts';
import type { Usage } from '../conversation/message.ts';
import type { Summarizer } from '../memory/summary-request.ts';
import { contextWindowForModel, knownWindow } from '../tokens/catalog.ts';
import { createTokenEstimator, type TokenEstimator } from '../tokens/estimator.ts';
import { measureContext } from '../tokens/measure.ts';
import { tokenProfileForModel } from '../tokens/profiles.ts';
import type { ChatArchive } from './archive.ts';
import { ChatCompactor, type RunAccounts, RunLog } from './chat-compactor.ts';
import { Dialogue } from './dialogue.ts';
import type { ChatProvider } from './providers/provider.ts';
import {
  addRequest,
  addSummary,
  formatSession,
  nothingSpent,
  type SavedChat,
  type Spent,
} from './session-file.ts';
import type { Workspace } from './tools.ts';

/** What the chat needs of the program around it. */
export interface ChatHost {
  /** Writes to the screen, or to whatever stands for it. */
  out(text: string): void;
  style(style: ChatStyle, text: string): string;
  /** Columns of the screen, as it is now. */
  columns(): number;
  /** Whether to draw with plain characters. */
  readonly isPlain: boolean;
  /** The known name that is nearest to a mistyped one. */
  nearest(word: string, names: readonly string[]): string | undefined;
  /**
   * Writes a conversation for its owner alone, whole or not at all.
   * @throws RoundfoldError `usage` when it cannot be written, or when a file is there that `place` does not give up
   */
  writeConversation(path: string, text: string, place: ConversationPlace): void;
  now(): Date;
}

/** What is known of the place where a conversation is written. */
export interface ConversationPlace {
  /** Whether the file is this chat's own, so that it may be replaced. */
  readonly isOwn: boolean;
  /** Whether the folder is made when it is not there. */
  readonly makesFolder: boolean;
}

export type ChatStyle = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';

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
  /** Whether it is saved there after every turn. */
  readonly isSaved: boolean;
  readonly saved?: SavedChat | undefined;
}

/** One chat: its messages, who answers, and what keeps it inside its window. */
export class Chat {
  readonly options: ChatOptions;
  readonly dialogue: Dialogue;
  isVerbose = false;
  /** Where it is saved. */
  sessionPath: string;
  #spent: Spent;
  /** When the newest request was sent, in milliseconds. */
  #askedAt: number | undefined;
  /** What the provider said of the context, and how many messages that was. */
  #reported: { readonly usage: Usage; readonly messages: number } | undefined;
  /** Files that hold this chat, or a copy of it. */
  readonly #ownFiles = new Set<string>();
  #pins: readonly string[];
  #patterns: readonly RegExp[];
  readonly #log: RunLog | undefined;
  #compactor: ChatCompactor;
  #estimator: TokenEstimator;

  constructor(options: ChatOptions) {
    this.options = options;
    const { provider, saved } = options;
    this.sessionPath = options.sessionPath;
    if (saved !== undefined) this.#ownFiles.add(options.sessionPath);
    this.dialogue = new Dialogue(provider.wire, options.model, saved);
    this.#pins = saved?.pins ?? [];
    this.#patterns = this.#pins.map(toPattern);
    this.#spent = saved?.accounts?.spent ?? nothingSpent;
    this.#askedAt = saved?.accounts?.askedAt;
    this.#estimator = createTokenEstimator({ profile: tokenProfileForModel(options.model) });
    const { logPath } = options;
    this.#log = logPath === undefined ? undefined : new RunLog(logPath, () => this.#sayLogFails(logPath));
    this.#compactor = this.#createCompactor(saved?.accounts?.runs);
  }

  get host(): ChatHost {
    return this.options.host;
  }

  get compactor(): ChatCompactor {
    return this.#compactor;
  }

  get estimator(): TokenEstimator {
    return this.#estimator;
  }

  get pins(): readonly string[] {
    return this.#pins;
  }

  /** What the chat has taken so far. */
  get spent(): Spent {
    return this.#spent;
  }

  /** Seconds since the newest request was sent; undefined when there was none. */
  get idleSeconds(): number | undefined {
    if (this.#askedAt === undefined) return undefined;
    return Math.max(0, (this.host.now().getTime() - this.#askedAt) / 1000);
  }

  pin(text: string): void {
    if (this.#pins.includes(text)) return;
    this.#pins = [...this.#pins, text];
    this.#patterns = this.#pins.map(toPattern);
  }

  /** Goes on with another model of the same provider. */
  useModel(model: string): void {
    this.dialogue.model = model;
    this.#estimator = createTokenEstimator({ profile: tokenProfileForModel(model) });
    this.#reported = undefined;
    this.#compactor = this.#createCompactor(this.#compactor.accounts);
  }

  /** The strategy that runs by itself. */
  configured(): Strategy {
    return createStrategy(this.options.strategy, this.options.settings);
  }

  /** Notes that a request is sent now. */
  asking(): void {
    this.#askedAt = this.host.now().getTime();
  }

  /** Notes what a provider said of a request. */
  report(usage: Usage | undefined): void {
    this.#spent = addRequest(this.#spent, usage ?? this.#estimateRequest());
    this.#reported = usage === undefined ? undefined : { usage, messages: this.dialogue.messages.length };
  }

  /** Notes what the summaries of a run have taken. */
  paidForSummary(usage: Usage | undefined): void {
    this.#spent = addSummary(this.#spent, usage);
  }

  /** Forgets the reported usage: the messages are no longer those it was reported for. */
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

  /** Saves the chat where it is kept. Gives whether it is kept anywhere. */
  keep(): boolean {
    if (this.options.isSaved) this.save();
    return this.options.isSaved;
  }

  /** Whether the file holds this chat, or a copy of it. */
  isOwnFile(path: string): boolean {
    return this.#ownFiles.has(path);
  }

  /**
   * Saves the chat, or a copy of it.
   * @throws RoundfoldError `usage` when it cannot be written, or when the file is not this chat's
   */
  save(path: string = this.sessionPath): void {
    const { wire, model, state } = this.dialogue;
    const accounts = { spent: this.#spent, askedAt: this.#askedAt, runs: this.#compactor.accounts };
    const text = formatSession({ ...state, format: wire.format, model, pins: this.#pins, accounts });
    const makesFolder = path === this.sessionPath;
    this.host.writeConversation(path, text, { isOwn: this.isOwnFile(path), makesFolder });
    this.#ownFiles.add(path);
  }

  /** What the newest answer took, by our own count. */
  #estimateRequest(): Usage {
    this.#reported = undefined;
    const answer = this.dialogue.read().messages.at(-1);
    const outputTokens = answer === undefined ? 0 : Math.round(this.#estimator.countMessage(answer));
    return { promptTokens: this.tokens().tokens - outputTokens, outputTokens };
  }

  #sayLogFails(path: string): void {
    this.refuse(`${path} cannot be written; nothing is logged`, 'Start the chat with another --log.');
  }

  /** A model that wrote no summary is told: somebody has named it, and may be paying for it. */
  #sayEvent(event: CompactionEvent): void {
    if (event.type === 'summarizer-failed') {
      const words = `${event.summarizer} wrote no summary (${event.message}); it was written without a model`;
      this.say(this.host.style('yellow', words));
    }
    if (event.type === 'summarizer-paused')
      this.say(
        this.host.style('dim', `no model writes summaries for ${event.turns} turns (${event.reason})`),
      );
  }

  #createCompactor(accounts: RunAccounts | undefined): ChatCompactor {
    const { archive, windowTokens, summarizer } = this.options;
    const { model, wire } = this.dialogue;
    const isOffline = model === 'offline';
    return new ChatCompactor({
      model: isOffline ? undefined : model,
      windowTokens: windowTokens ?? (isOffline ? OFFLINE_WINDOW : guessedWindow(model)),
      format: wire.format,
      configured: this.configured(),
      summarizer,
      log: this.#log,
      dress: (strategy) => archive?.named(strategy) ?? strategy,
      patterns: () => this.#patterns,
      accounts,
      onEvent: (event) => this.#sayEvent(event),
    });
  }
}

/** An expression that matches the text and nothing else. */
function toPattern(text: string): RegExp {
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
}

/** What is taken for the window of a model that nobody knows; undefined for the others, whose windows are known. */
function guessedWindow(model: string): number | undefined {
  return knownWindow(model) === undefined ? contextWindowForModel(model) : undefined;
}

/** Nobody has measured the window of a provider without a model. */
const OFFLINE_WINDOW = 32_000;
