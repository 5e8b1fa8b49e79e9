/** A conversation's last use is written down again only after this time, so that reading stays reading. */
export const TOUCH_AFTER_MS = 5 * 60_000;
