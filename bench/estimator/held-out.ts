// The kinds that are held out whole turn up inside other texts: in tool results, manuals, documentation.
const heldOutLooks: readonly RegExp[] = [
  /^[-dl][-rwx]{9}[.+]? /m,
  /^(?:def|class) \w+.*:$/m,
  /^from [\w.]+ import /m,
  /<\/(?:div|body|html|span)>/,
  /^[0-9a-f]{8}:? {1,2}[0-9a-f]{2,4} [0-9a-f]{2,4} /m,
  /"(?:devDependencies|dependencies)": \{/,
  /"mappings": ?"/,
  /^#include [<"]/m,
  /^=head1 /m,
  /^npm (?:verb|http|sill|timing) /m,
  /^[.#]?[\w-]+ \{\n {2,4}[\w-]+: [^\n]+;$/m,
  /^ {2}[\w-]+:\n {4}[\w-]+: /m,
  /[├└]─[─┬] \S+@\d/,
];

/** Says whether a text looks like it holds some of a kind that is never fitted; such texts are left out of the fit. */
export function looksHeldOut(text: string): boolean {
  return heldOutLooks.some((look) => look.test(text));
}
