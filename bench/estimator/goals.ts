/** One goal of a benchmark: what was measured, and the bar it has to clear. */
export interface Goal {
  readonly name: string;
  readonly measured: number;
  readonly bar: { readonly atLeast: number } | { readonly atMost: number };
  readonly unit: string;
}

/** Prints each goal with PASS or FAIL, and sets the exit code to 1 when one is missed. */
export function printGoals(goals: readonly Goal[]): void {
  for (const goal of goals) {
    const isMet = isGoalMet(goal);
    if (!isMet) process.exitCode = 1;
    const [word, bar] = 'atLeast' in goal.bar ? ['at least', goal.bar.atLeast] : ['at most', goal.bar.atMost];
    console.log(
      `${isMet ? 'PASS' : 'FAIL'}  ${goal.name}: ${goal.measured.toFixed(2)}${goal.unit} (${word} ${bar}${goal.unit})`,
    );
  }
}

function isGoalMet({ measured, bar }: Goal): boolean {
  return 'atLeast' in bar ? measured >= bar.atLeast : measured <= bar.atMost;
}
