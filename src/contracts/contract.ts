/** One fault of a request, as the provider would state it. */
export interface Violation {
  /** Id of the broken rule; it says what is wrong, e.g. `tool-call-without-result`. */
  readonly rule: string;
  /**
   * What the rule was called before its id said what is wrong, e.g. `A16`.
   * @deprecated Compare `rule` instead. The alias leaves with the next release.
   */
  readonly alias: string;
  /**
   * `error`: the provider refuses the request. `warning`: accepted, but fragile. `info`: accepted by an endpoint that
   * the body fits, but not by another one it may be meant for.
   */
  readonly severity: 'error' | 'warning' | 'info';
  /** Place in the request in the provider's own notation, e.g. `messages.3.content.0`. */
  readonly path: string;
  /** The provider's own wording, with ids and indices filled in. */
  readonly message: string;
  /** What to change, as one sentence. */
  readonly fix: string;
}

/** How well a rule's condition and wording are known. */
export type Evidence = 'types' | 'documented' | 'server-source' | 'reported' | 'inferred';

/** A rule as data: what the docs list and what `check` explains. */
export interface Rule {
  /** Unique within a contract. Contracts that know the same mistake have the same id for it. */
  readonly id: string;
  readonly title: string;
  readonly fix: string;
  readonly evidence: Evidence;
}

/** Opaque content whose validity only its issuer can judge. */
export interface Seal {
  readonly kind: 'thinking' | 'reasoning' | 'compaction' | 'thought-signature';
  /** The block, item or part that carries the seal. */
  readonly value: unknown;
  readonly path: string;
  /** The whole request, for seals that are bound to what stands before them. */
  readonly body: unknown;
}

/**
 * - `valid`: as issued, where it was issued
 * - `modified`: its text was changed since
 * - `tampered`: the signature does not fit at all
 * - `foreign-prefix`: issued behind a different prefix
 * - `gap`: valid by itself, but seals that stood before it were taken out
 */
export type SealVerdict = 'valid' | 'modified' | 'tampered' | 'foreign-prefix' | 'gap';

/** Judges seals. A simulator that issued them has one; offline there is none, and only shapes are checked. */
export type SealVerifier = (seal: Seal) => SealVerdict;

/** What is known about the request besides its body. Everything is optional; what is unknown is not held against it. */
export interface CheckContext {
  /** `messages`: only the message list is known, rules about the rest of the request are left out. Default `request`. */
  readonly scope?: 'request' | 'messages' | undefined;
  /**
   * Which of Anthropic's endpoints the body is for: `/v1/messages` or `/v1/messages/count_tokens`. Where it is unknown,
   * a body without `max_tokens` and without any field that only an answer needs is taken for one to count.
   */
  readonly endpoint?: 'messages' | 'count-tokens' | undefined;
  /** Overrides the model named in the body. */
  readonly model?: string | undefined;
  /** Value of the `anthropic-version` header. */
  readonly apiVersion?: string | undefined;
  /** Values of the `anthropic-beta` header. Unknown when left out: then no field is held to need one. */
  readonly betas?: readonly string[] | undefined;
  /** Server behind a compatible endpoint, where its rules or wordings differ: `deepseek`, `mistral`, `qwen`, `vertex`, … */
  readonly vendor?: string | undefined;
  /** Whether the server still holds a stored response or item with this id. */
  readonly stored?: ((id: string) => boolean) | undefined;
  readonly seals?: SealVerifier | undefined;
}

/** The rules of one wire format, independent of everything that builds requests. */
export interface Contract {
  /** Name of the wire format, e.g. `anthropic-messages`. */
  readonly format: string;
  readonly rules: readonly Rule[];
  /** Every violation, in order of place. Never throws, whatever the value is. */
  check(body: unknown, context?: CheckContext): readonly Violation[];
}
