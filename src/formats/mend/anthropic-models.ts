/** What a model of Anthropic's takes, as far as mending depends on it. */
interface ModelHabits {
  /** An answer may stand last and be continued. */
  readonly takesPrefill: boolean;
  /** Instructions may stand among the messages. */
  readonly takesSystemMessages: boolean;
}

const TAKES_ALL: ModelHabits = { takesPrefill: true, takesSystemMessages: true };

/** From which version on a family takes instructions among the messages; families that are not named here never do. */
const SYSTEM_MESSAGES_SINCE: ReadonlyMap<string, number> = new Map([
  ['opus', 4.8],
  ['sonnet', 5.5],
  ['fable', 5],
  ['mythos', 5],
]);

const LAST_PREFILL_VERSION = 4.5;

/** The habits of a model, by whatever name a platform gives it. A model that is not known is taken to refuse nothing. */
export function modelHabits(model: string | undefined): ModelHabits {
  const name = (model ?? '').slice(-200).toLowerCase().replaceAll('.', '-');
  if (/claude-3-/.test(name)) return { takesPrefill: true, takesSystemMessages: false };
  const found = /claude-([a-z]{1,12})-(\d{1,2})(?:-(\d{1,2}))?(?!\d)/.exec(name);
  if (found === null) return TAKES_ALL;
  const version = Number(`${found[2]}.${found[3] ?? 0}`);
  const since = SYSTEM_MESSAGES_SINCE.get(found[1] ?? '') ?? Number.POSITIVE_INFINITY;
  return { takesPrefill: version <= LAST_PREFILL_VERSION, takesSystemMessages: version >= since };
}
