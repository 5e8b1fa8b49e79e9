/** Lines and sentences of a text, as they were written; an end mark counts before a space. */
export function sentencesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .flatMap((line) => line.split(/(?<=[.!?。！？]) /))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}
