const familyName = /gemini-(\d{1,3})(?:\.(\d{1,3}))?/;

/** Version of a Gemini model as a number: 2.5, 3. A name without one is a new model. */
export function generationOf(model: string): number {
  const [, major, minor = '0'] = familyName.exec(model.slice(0, 200)) ?? [];
  return major === undefined ? newest : Number(`${major}.${minor}`);
}

const newest = 4;
/** The first version that thinks before it answers unless it is told not to. */
const firstThinking = 2.5;

/** Whether the model thinks before it answers: `thinkingBudget: 0` keeps those before version 3 from it. */
export function thinks(model: string, thinkingBudget: unknown): boolean {
  const generation = generationOf(model);
  return generation >= 3 || (generation >= firstThinking && thinkingBudget !== 0);
}
