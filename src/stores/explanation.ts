/** What an error of a database means for the user: "the store at ... <what>", and what helps. */
export interface Explanation {
  readonly what: string;
  readonly remedy: string;
}
