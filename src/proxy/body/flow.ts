import type { Dispatcher } from 'undici';
import type { RawHeaders } from '../headers.ts';

/** Where an answer goes. */
export interface AnswerReceiver {
  /** Whether there is room for more; otherwise `resume` of the answer says when there is. */
  data(chunk: Buffer): boolean;
  end(trailers: RawHeaders): void;
  /** It breaks off. */
  fail(error: Error): void;
}

/** A body on its way: held until somebody takes it, and not faster than he can. */
export class Flow {
  readonly #controller: Dispatcher.DispatchController;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #holdsUpTo = 0;
  #receiver: AnswerReceiver | undefined;
  #ending: ((receiver: AnswerReceiver) => void) | undefined;
  #onChange: (() => void) | undefined;

  constructor(controller: Dispatcher.DispatchController) {
    this.#controller = controller;
    controller.pause();
  }

  data(chunk: Buffer): void {
    if (this.#receiver !== undefined) {
      if (!this.#receiver.data(chunk)) this.#controller.pause();
      return;
    }
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes > this.#holdsUpTo) this.#controller.pause();
    this.#onChange?.();
  }

  end(trailers: RawHeaders): void {
    this.#finish((receiver) => receiver.end(trailers));
  }

  fail(error: Error): void {
    this.#finish((receiver) => receiver.fail(error));
  }

  #finish(ending: (receiver: AnswerReceiver) => void): void {
    this.#ending = ending;
    if (this.#receiver !== undefined) ending(this.#receiver);
    this.#onChange?.();
  }

  receive(receiver: AnswerReceiver): void {
    this.#receiver = receiver;
    let hasRoom = true;
    for (const chunk of this.#held) hasRoom = receiver.data(chunk);
    this.#held = [];
    if (this.#ending !== undefined) this.#ending(receiver);
    else if (hasRoom) this.#controller.resume();
  }

  resume(): void {
    this.#controller.resume();
  }

  discard(): void {
    if (this.#ending === undefined) this.#controller.abort(new Error('nobody wants the rest'));
  }

  /** The whole body, if it is no longer than that. */
  async whole(maxBytes: number): Promise<Buffer | undefined> {
    const held = await this.until(maxBytes, () => false);
    return this.#ending === undefined ? undefined : held;
  }

  /** The body until somebody has seen enough, it ends, it is longer than that, or time is up. All of it is held. */
  async until(maxBytes: number, isEnough: (held: Buffer) => boolean, timeMs?: number): Promise<Buffer> {
    this.#holdsUpTo = maxBytes;
    let isLate = false;
    const timer = timeMs === undefined ? undefined : setTimeout(() => this.#late(), timeMs);
    this.#late = () => {
      isLate = true;
      this.#onChange?.();
    };
    const goesOn = () =>
      this.#ending === undefined &&
      !isLate &&
      this.#heldBytes <= maxBytes &&
      !isEnough(Buffer.concat(this.#held));
    while (goesOn()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onChange = resolve;
      this.#controller.resume();
      await promise;
    }
    clearTimeout(timer);
    this.#onChange = undefined;
    return Buffer.concat(this.#held);
  }

  #late: () => void = () => undefined;
}
