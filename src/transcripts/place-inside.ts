import type { Place } from '../conversation/errors.ts';

/** The place of something inside a value: `path` continues the path of the value itself. */
export function placeInside(place: Place, path: string): Place {
  return { ...place, path: place.path === undefined ? path : `${place.path}.${path}` };
}
