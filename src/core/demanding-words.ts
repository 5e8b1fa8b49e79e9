/** Where a clause begins: at the start, behind a mark, or behind a word that opens another one. */
const CLAUSE =
  '(?:^[\\s\\d\\p{P}\\p{S}]{0,12}|[,;:.!)"”’—–*…] {1,3}| - |\\b(?:please|pls|and|but|so|then|or|also|just|ok|okay|now|no|yes|well|again|kindly|otherwise|however|actually)[,:]? )';

const NOT_DO = "(?:do not|don['’]?t)";
const COUNT = '(?:\\d|an? |one|two|three|four|five|six|seven|eight|nine|ten)';
/** Verbs with which people say what to do; others would do as well. */
const DO =
  "(?:use|do|make|keep|put|write|take|go|set|call|run|add|move|switch|return|pick|choose|create|change|replace|show|try|let['’]?s|want|like|prefer)";

const INSTEAD = `${DO}\\b.{0,300}\\b(?:instead|rather than)\\b`;

/** What demands at the beginning of a clause, where a verb without a subject is an order. */
const ORDERS: readonly string[] = [
  `${NOT_DO} (?!have |know|think|understand|remember|recall|care |see |worry|get it)`,
  'only (?!recently|just |because)',
  'stop \\p{L}+ing\\b',
  'prefer\\b',
  INSTEAD,
  // German, Spanish, French
  '(?:bitte )?(?:nur|nicht|keine?[nrsm]?) ',
  'solo ',
  '(?:por favor,? )?no (?:lo |la |los |las |me |te |se )?\\p{L}+(?:es|as)\\b(?=.* (?:el|la|los|las|de|que|en|un|una|del|al|con)\\b)',
  'ne \\p{L}+(?:ez|e|s) (?:pas|jamais|rien)\\b',
];

/** How English demands. */
const ENGLISH: readonly string[] = [
  "\\b(?:must(?:n['’]?t)?|should(?:n['’]?t)?|shall|never|always|avoid|make sure|ensure)\\b",
  `\\b(?:I|we) (?:really |just |also )?${NOT_DO} (?:want|need|like)\\b`,
  `(?<!\\b(?:if|when|that) )\\byou ${NOT_DO} (?!have|need|know|want|understand|think|see|get|remember)`,
  "\\byou (?:cannot|can['’]?t|can not|may not|may only|can only|need to|have to|are not allowed)\\b",
  '^[\\s\\d\\p{P}\\p{S}]{0,12}(?!(?:I|we|it|this|that|they|there|he|she|which|the|is|are|was|can|not|if|view|read) )\\p{L}+ only\\b',
  '\\b(?:want|need|please|to|allowed|change|use|report|return) only\\b|\\bonly want\\b',
  "^(?!.*\\b(?:is|are|was|were|it['’]s)\\b).*\\p{L} only[*_ ]{0,4}(?:[,;:.!)—–]|- |$)",
  "\\blet['’]?s not\\b",
  "\\b(?:I|we|would|I['’]d|we['’]d|should) (?:also |really |strongly )?prefer\\b",
  '\\b(?:is|are|be) (?:strictly |absolutely )?(?:required|mandatory|forbidden|prohibited|not allowed|not permitted|off[- ]limits)\\b',
  `\\b(?:at least|at most|no more than|no fewer than|no less than|no longer than) ${COUNT}`,
  `\\b(?:I|we|to|would|I['’]d) ${INSTEAD}`,
  '\\b(?:from now on|going forward|from here on|henceforth|at all costs|under no circumstances|without exception|no exceptions|no matter what|non-negotiable|red line|hard (?:rule|limit|requirement|constraint)|be sure to|remember to|keep in mind|please keep)\\b',
];

/** How other languages in Latin letters do. */
const LATIN: readonly string[] = [
  // German
  '\\b(?:muss|müssen|musst|müsst|(?:darf|darfst|dürfen|dürft) (?:nicht|nur|kein\\p{L}*|nie)|nie|niemals|immer|keinesfalls|auf keinen fall|mindestens|höchstens|unbedingt|sollst|sollen|sollte|ausschließlich|ab (?:jetzt|sofort)|verboten)\\b',
  '^(?!(?:ich|wir|das|es|er|sie|ist|geht|war|hat|habe) )[\\p{L}]+ (?:bitte )?(?:nicht|keine?[nrsm]?) ',
  '^(?!.*\\b(?:ich|wir|kann|können|will)\\b).*\\bnicht \\p{L}+en[.!]?$',
  // French, Spanish, Portuguese, Italian
  '\\b(?:doit|doivent|jamais|toujours|seulement|uniquement|interdit|au moins|au plus|ne pas|debe|debes|deben|nunca|siempre|sólo|solamente|prohibido|al menos|a partir de ahora|deve|devem|devono|sempre|somente|apenas|proibido|mai|soltanto|almeno|vietato)\\b',
  // Dutch, Polish, Turkish, Indonesian, Vietnamese
  '\\b(?:nooit|altijd|alleen|moet|moeten|nigdy|zawsze|tylko|musi|nie wolno|asla|sadece|mutlaka|her zaman|jangan|selalu|hanya|harus|không được|luôn|phải)\\b',
];

/** The same in scripts where no space parts words, or where letters are none to `\b`. */
const SIGNS: readonly string[] = [
  'нельзя|никогда|всегда|должен|должн|обязательно|не надо|не нужно|запрещ|ніколи|завжди|(?<!\\p{L})(?:только|тільки)(?! что)',
  '(?:^|[\\s,;:.!—])не \\p{L}+(?:й|йте|и|ите|ь|ьте)(?!\\p{L})',
  '必须|必須|不要|不得|不可(?!用|见|見|能)|禁止|只能|务必|務必|永远|切勿|严禁|(?:^|[，,。；：:你请請都决絕绝对對])不能|(?:^|[，,。；：:请請])(?:别|別|只)',
  '必ず|しないで|してはいけ|常に|(?:のみ|だけ).{0,40}(?:ください|して|こと)',
  '절대|반드시|항상|하지 마|지 말|يجب|أبدا|دائما|فقط|ممنوع|कभी नहीं|हमेशा|केवल|ज़रूर|אסור|תמיד|רק ',
];

/** A sentence with one of these demands something, once what is `IDLE` is taken out. */
export const DEMANDING = new RegExp(
  [`${CLAUSE}(?:${ORDERS.join('|')})`, ...ENGLISH, ...LATIN, ...SIGNS].join('|'),
  'iu',
);

/** Words of the same sound that demand nothing: what is, what was, what somebody believes or will do. */
export const IDLE = new RegExp(
  [
    '\\bnever ?mind\\b',
    "(?:\\b(?:is|are|was|were|been|has|have|had|I|it|that|this|they|he|she|which|who|what|there|does|did|almost|nearly|seems|(?<!you )(?:will|would))|['’](?:s|ve|re)) (?:also |only |almost )?(?:never|always)\\b(?! (?:want|need|ok|okay|to|allowed|acceptable|permitted)\\b)",
    "\\b(?:I|we|he|she|it|they|you) must(?:n['’]?t)? have\\b|\\bthere must be\\b",
    "\\bI should\\b|\\bshould(?:n['’]?t)? (?:be (?:all|fine|good|ok|okay|enough|in my|under)\\b|have been\\b|have had\\b)",
    "\\b(?:I(?:['’]m)? (?:read|heard|have read|believe|understand|certain|sure|guess|assume|wonder|wondering)|according to)\\b.*\\b(?:should(?:n['’]?t)?|must)\\b",
    "\\b(?:I['’]ll|we['’]ll|they['’]ll|will|I|they|which|it|(?<!want )to) (?:make sure|ensure)\\b|\\bwant to (?:make sure|ensure) I\\b",
    '\\b(?:to|can|could|would|will|I|they|helps?) avoid\\b',
  ].join('|'),
  'giu',
);

/** A sentence that asks. */
export const QUESTION =
  /[?？؟][\s"'”’)\]]{0,4}$|(?:吗|呢)[。.]?$|^[\s\p{P}]{0,8}(?:what|why|how|when|where|who|which|do|does|did|is|are)\b(?! not| n['’]t) (?:I|we|it|this|that|there|they|the)\b/iu;

/** A demand in the form of a question. */
export const REQUEST =
  /\b(?:can|could|would|will) (?:you|we) (?:(?:please |also |just |maybe )?(?:make sure|ensure|never|always|avoid|not|only|stop \p{L}+ing|keep)\b|.{0,200}\b(?:and|but) (?:please )?(?:make sure|ensure|never|don['’]?t|do not)\b)/iu;
