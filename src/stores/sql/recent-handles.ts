const PLACES = 4096;
/** Characters that are looked at: handles are made of their content, so that the last ones are as good as all. */
const LAST = 6;

/**
 * Handles that were asked for lately. Each has its place, which it loses to the next one that has the same. That takes less
 * time than a set, which would have to be kept small; now and then it takes one handle for another.
 */
export class RecentHandles {
  readonly #places = new Int32Array(PLACES);

  /** Notes the handle. Whether it was noted before, as far as it has not lost its place. */
  note(handle: string): boolean {
    let number = 1;
    for (let index = Math.max(handle.length - LAST, 0); index < handle.length; index++) {
      number = (Math.imul(number, 31) + handle.charCodeAt(index)) | 0;
    }
    const place = number & (PLACES - 1);
    if (this.#places[place] === number) return true;
    this.#places[place] = number;
    return false;
  }
}
