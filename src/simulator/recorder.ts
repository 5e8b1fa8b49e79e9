/** A request as the simulator keeps it. Keys and cookies are never part of it. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Wire format of the endpoint; undefined for paths that are no model's. */
  readonly format: string | undefined;
  readonly model: string | undefined;
  readonly isStreamed: boolean;
  /** Tokens of the prompt; undefined when the request was refused before it was counted. */
  readonly promptTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** The contract's rule that was broken, e.g. `tool-call-without-result`. */
  readonly rule: string | undefined;
  /** Names of the faults that struck it. */
  readonly faults: readonly string[];
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The parsed body; undefined when there was none, it was no JSON, or newer requests needed its room. */
  readonly body: unknown;
}

/** Keeps the newest requests. */
export interface Recorder {
  readonly requests: readonly RecordedRequest[];
  add(request: RecordedRequest, sizeBytes: number): void;
}

const maxRequests = 1000;
const maxBodyBytes = 64 * 1024 * 1024;

/** A recorder that holds 1,000 requests, and bodies of 64 MiB together: older ones lose theirs. */
export function createRecorder(): Recorder {
  const requests: RecordedRequest[] = [];
  const sizes: number[] = [];
  let heldBytes = 0;

  const forgetBodies = (): void => {
    for (let index = 0; heldBytes > maxBodyBytes && index < requests.length - 1; index++) {
      const request = requests[index];
      if (request === undefined || sizes[index] === 0) continue;
      requests[index] = { ...request, body: undefined };
      heldBytes -= sizes[index] ?? 0;
      sizes[index] = 0;
    }
  };

  return {
    requests,
    add(request, sizeBytes) {
      requests.push(request);
      sizes.push(sizeBytes);
      heldBytes += sizeBytes;
      if (requests.length > maxRequests) {
        requests.shift();
        heldBytes -= sizes.shift() ?? 0;
      }
      forgetBodies();
    },
  };
}

const secretHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
]);

/** Headers that may be kept. */
export function withoutSecrets(
  headers: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !secretHeaders.has(name)));
}
