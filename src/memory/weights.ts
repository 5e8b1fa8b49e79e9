/**
 * What each token of a piece is worth to somebody who has to carry on. Story, state and files compete in this one currency:
 * the dearest tokens are taken first until the room is full. Set on recorded sessions, few enough to be read.
 */
export const WORTH = {
  /** What a model wrote is there to be told, before anything else: somebody has paid for it. */
  written: 200,
  /** State is computed and short, and every reader asks for it first. */
  state: 40,
  /** How the newest check ended is told in any case; of older ones, the less the older. */
  lastCheck: 100,
  /** What is being done and what comes next, the branch and the newest commit. */
  sureState: 100,
  /** An open task names the work to come; a closed one only says that it need not be done again. */
  openTask: 14,
  closedTask: 6,
  taskDetail: 1.6,
  /** Whoever goes on has to know what is no longer as it was. */
  changedFile: 100,

  /** A line below what an earlier memory tells: it was chosen once, and there is newer now. */
  past: 0.4,

  /** Rules and corrections of the user hold until they are taken back: they come first, whatever else has to go. */
  demand: 300,
  /** What took the place of something revoked: without it the note of that would leave nothing in force. */
  held: 600,
  /** A plan, a choice or a request: many are done with, but nobody else can say what was wanted. */
  decision: 14,
  /** A message of a few words. */
  fewWords: 18,
  /** What else the user typed: nearly always short, and the reason for all that follows. */
  said: 10,
  /** A question was mostly answered, and the answer is told. */
  question: 6,
  oldQuestion: 3,
  /** What was taken back, marked as such, so that nobody goes back to it. */
  revoked: 2,
  /** Thanks, asides, consent: short, and sometimes more than it seems. */
  idle: 3,
  /** Texts that came with a message of the user's, by whomever. */
  given: 0.25,
  /** A summary with which the session began stands for all that is older. */
  handover: 1.5,

  /** The text that ends a turn says what was done and found. Its first sentence most of all: the rest of it may be long. */
  closingFirst: 5.5,
  closing: 1.3,
  /** A sentence of it that says why, and how it ends. */
  closingReason: 6,
  closingLast: 3,
  /** What the newest words of the user answer is a part of what they ask: "fix them all" means a list. Its end is told whole. */
  asked: 8,
  askedEnd: 200,
  /** What the agent says between two steps is short, and tells what it has found and why it goes on as it does. */
  aside: 4.5,
  /** It finds or decides something about a thing by its name. */
  finding: 7,
  /** The same right after something failed: what it was, or what mends it. */
  explanation: 8,
  /** A sentence with a finding, a decision or a reason in a long text. */
  decisive: 2.5,
  /** "Let me look at …": the look itself is told. */
  announcement: 0.15,

  /** What was changed, and by which line. */
  change: 2,
  changedLine: 1,
  /** The newest run of a command that acts or checks. */
  run: 2.6,
  /** A run that was repeated later, or that had nothing to say. */
  oldRun: 0.25,
  /** Any other call. */
  call: 3,
  /** The user did not want it: whoever does not know will try again. */
  refused: 5,
  delegated: 2.2,
  /** Looking around: where things are. */
  look: 0.5,

  /** Lines of results. Addresses and hashes are named nowhere else. */
  reference: 6,
  sum: 1.5,
  failure: 1,
  /** The line that says what went wrong: without it nobody knows what the next steps mended. */
  firstError: 2,
  edge: 0.8,
  /** A sentence in a result: documents, reports, comments. One with a reason or a rule is worth more. */
  rule: 1.1,
  prose: 0.4,
  plain: 0.16,
  /** A row of a short answer in fields: ids, prices and dates that nobody's prose repeats. */
  record: 9,
  /** The same where a command has printed it: it can be printed again. */
  printed: 6,
} as const;

/**
 * In a small memory the state and the user's words would leave no room for what happened. Above this share of the room they are
 * worth less, except what is worth so much that it has to be told.
 */
export const CROWDING = {
  share: { state: 0.3, said: 0.25, story: 1, files: 1 },
  above: 0.3,
  exempt: 100,
} as const;

/** Newer things are worth a little more: the oldest have this share. */
export const OLDEST_SHARE = 0.55;

/** How likely a later call uses a name that occurs only in the past, relative to others; `base` turns that into worth. */
export const NAME_WORTH = {
  base: 8,
  /** By the power of its age in events. */
  fading: 0.26,
  /** The user or the agent spoke of it. */
  spokenOf: 17,
  /** It stands on a line that an edit wrote. */
  changed: 3.5,
  inFile: 2.3,
} as const;

/** How likely a later edit quotes a line of a file, relative to others; `base` turns that into worth. */
export const LINE_WORTH = {
  base: 1,
  fading: 0.6,
  /** The longer what was shown in one piece, the less each line of it was what the agent looked for. */
  longStretch: 0.18,
  changed: 2.1,
  changedFile: 3.1,
  often: 0.23,
  /** A sentence in a document or a comment, and one with a reason or a rule, whatever was edited. */
  prose: 0.25,
  rule: 0.4,
  proseFading: 0.15,
  /** Brackets, imports, comments of a word. */
  idle: 0.03,
} as const;

/**
 * What files hold can be read again, what was decided can not: in a memory of a smaller share than `fullShare` of what it
 * stands for, files and names are worth less, by these powers of the share. Below `outlineShare` single lines of files say too
 * little to be told, and all of them may take `filesRoom`; below `openShare` only what no check has passed yet is shown.
 */
export const SMALL_MEMORY = {
  fullShare: 0.2,
  files: 0.2,
  names: 0.65,
  outlineShare: 0.085,
  filesRoom: 0.15,
  openShare: 0.05,
} as const;
