/** A text in which case and white space do not count: lower case, every run of white space one space. */
export function foldText(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, ' ');
}
