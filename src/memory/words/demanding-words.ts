/** Words at the beginning of a sentence that carry no demand: greetings, consent, joining words, `please`. */
const FILLER =
  "(?:please|pls|and|but|so|then|or|also|just|ok|okay|now|no|nope|yes|yeah|yep|yup|well|again|kindly|otherwise|however|actually|instead|absolutely|alright|right|hey|hi|hello|oh|ah|hm+|uh|wait|sorry|sure|great|cool|nice|thanks|first|second|next|finally|lastly|perhaps|maybe|dude|omfg|wtf|fine|anyway|meanwhile|important|note|still|go ahead and|i['’]d like you to|i want you to|i need you to|you know what)";

/** What stands in front of a clause and is no part of what it says. */
export const FILLERS = new RegExp(
  `^(?:[\\s\\d\\p{P}\\p{S}]{0,12}${FILLER}(?![\\p{L}'’]))*[\\s\\d\\p{P}\\p{S}]{0,12}`,
  'iu',
);

const NOT_DO = "(?:do not|don['’]?t)";
const COUNT = '(?:\\d|an? |one|two|three|four|five|six|seven|eight|nine|ten)';

/** Verbs by which people say what shall be done. Many others would do; these open most requests. */
const DOING =
  'accept|add|address|adjust|allow|analy[sz]e|annotate|answer|append|apply|assign|assume|attach|audit|back up|book|bring|build|bump|call|cancel|change|check|choose|clean|clone|close|combine|commit|compare|compile|complete|configure|confirm|connect|consider|continue|convert|copy|count|cover|create|cut|debug|declare|define|delete|deploy|design|disable|display|document|download|downgrade|draft|draw|drop|edit|enable|exchange|execute|expand|export|extend|extract|figure out|fetch|fill|filter|find|finish|fix|format|generate|get|give|go|group|handle|hide|highlight|identify|implement|import|improve|increase|insert|inspect|install|integrate|introduce|investigate|invoke|join|kill|launch|link|list|load|log|look|lower|make|map|mark|measure|merge|migrate|mirror|mock|modify|move|open|optimi[sz]e|order|parse|paste|patch|pick|pin|plan|port|prepare|print|proceed|propose|publish|pull|push|put|raise|read|rebase|rebook|rebuild|record|recreate|redirect|redo|reduce|refactor|refund|release|reload|remind|remove|rename|render|reorder|repeat|replace|reply|report|reproduce|reset|resolve|respond|restart|restore|retry|return|revert|review|rewrite|roll back|run|save|scan|schedule|search|select|send|set|ship|show|simplify|sketch|sort|spawn|split|squash|start|stash|store|submit|suggest|swap|switch|sync|take|test|think|tidy|track|transfer|translate|trim|try|turn|undo|update|upgrade|upload|validate|verify|wire|work|wrap|write';

/** An order: a clause that begins with a verb. */
export const ORDERED = new RegExp(`^(?:${DOING})(?![\\p{L}'’=:(]|-\\p{L})`, 'iu');

/** Verbs that say how the work shall be done, or what shall be left alone. */
export const MANNER = new RegExp(
  [
    "^(?:use(?! cases?)|keep(?! (?:going|on|working|it up|me posted))|skip|leave(?! (?:from|for|on|at)\\b)|stick (?:to|with)|stay (?:with|in|on|within|under)|treat|apply the same|limit|focus|exclude|omit|respect|preserve|maintain|honou?r|obey|follow(?! up)|hold off|refrain|wait (?:for|until|till)|ask (?:me )?(?:before|first)|restrict|remember|respond in|answer in|reply in|write (?:it )?in|be (?:concise|brief|careful|strict|short|terse))(?![\\p{L}'’])",
    '^(?:do|make|write) (?:small|meaningful|individual|separate|atomic|frequent|granular|one) (?:\\p{L}+ )?commits?',
    // German, Spanish, Portuguese, French
    '^(?:bitte )?(?:nutze|nutz|verwende|benutze?|halte dich|achte|behalte?|belass|vermeide|stell sicher|denk daran|lass)(?!\\p{L})',
    '^(?:por favor )?(?:usa|utiliza|utilice|use|mantén|mantenga|evita|evite|asegúrate|asegúrese|recuerda|sigue|respeta|deja)(?!\\p{L}) ',
    "^(?:s['’]il (?:te|vous) pla[iî]t )?(?:utilise|garde|évite|assure-toi|assurez-vous|veille|respecte|laisse|conserve)(?:z|r)?(?!\\p{L})",
  ].join('|'),
  'iu',
);

const BASE =
  '(?!(?!need|feed|embed|exceed|proceed|succeed|seed|speed|shed)\\p{L}{2,}ed\\b|(?!focus|bias|alias)\\p{L}+[^s\\P{L}]s\\b|\\p{L}+ing\\b)';

/** What demands at the beginning of a clause, where a verb without a subject is an order. */
const ORDERS: readonly string[] = [
  `${NOT_DO} (?!have (?!to )|know|think|understand|remember|recall|care |see |worry|get it|mind)`,
  `never (?!mind|again$|been|seen|had|was|did)${BASE}\\p{L}`,
  `always (?!been|seen|had|was|did|the )${BASE}\\p{L}`,
  `only (?:${DOING}|use|keep|ever|touch)\\b`,
  `(?:${DOING}) only\\b`,
  'stop (?!hook)\\p{L}+ing\\b',
  '(?:make sure|ensure|avoid|be sure (?:to|that|you)|remember to|keep in mind|note that you|prefer)\\b',
  "let['’]?s (?:please )?(?:not|never|avoid|always|keep|stick|only)\\b",
  `(?:at most|at least|no more than|no fewer than|no less than|no longer than|up to|max(?:imum)?) ${COUNT}`,
];
/** At the beginning of a clause. */
const ORDER = new RegExp(`^(?:${ORDERS.join('|')})`, 'iu');

/** Anywhere in a clause. */
const STATED = new RegExp(
  [
    `\\b(?:I|we) (?:really |just |also |actually |do )?${NOT_DO} (?:really |actually )?(?:want|need|like)\\b`,
    "\\b(?:I|we)(?:['’]d| would)?(?: also| really| strongly| much)? (?:prefer\\b|rather (?!than))",
    '\\b(?:I|we) (?:would )?(?:never|only|always) want\\b',
    '^(?:after|before|for|at|with) (?:each|every) (?!.*\\b(?:is|are|was|were|has|have|i|we|it|they|there)\\b)\\p{L}+ \\p{L}',
    "\\b(?:I|we)(?:['’]d| would)? (?:just |also |really )?(?:like|want|need)\\b.{0,200}\\b(?:without \\p{L}+ing|to keep|keeping)\\b",
    '\\bno [\\p{L} ]{1,40}(?:needed|required|please|thanks)\\b',
    '\\b(?:want|need|allowed|change|use|report|return|touch|edit|modify|answer|to) only\\b',
    '(?<!\\b(?:to|will|I|we|they|which|it|that|can|could|would|should|helps?|ll) )\\b(?:make sure|ensure)\\b',
    "\\b(?:you|it is|it['’]s|is|are) never (?:ok|okay|to|allowed|acceptable|permitted|fine|want|do|use|push|touch|write|change|ask)\\b",
    '\\byou always (?!been|seen|had|was|did|seem)\\p{L}+(?<!s)\\b(?! to\\b)',
    '\\b(?:is|are|be) (?:strictly |absolutely |completely )?(?:mandatory|forbidden|prohibited|not allowed|not permitted|off[- ]limits|non-negotiable)\\b',
    '^(?!(?:one|two|three|four|five|some|several|a few|a couple of|here are)\\b[^:]{0,40}$).*\\b(?:from now on|going forward|from here on|henceforth|at all costs|under no circumstances?|without exception|no exceptions|no matter what|non-negotiable|not negotiable|not up for debate|red line|(?:hard|firm|strict|golden|key) (?:rule|limit|requirement|constraint|line)s?)\\b',
    `\\b(?:use|with|in|within|keep|write|give|need|want|allow|make|take|run|add|set|under)\\b(?:(?!\\b(?:was|were|took|got|had|is|are)\\b).){0,60} (?:at most|at least|no more than|no fewer than|no less than|no longer than) ${COUNT}`,
  ].join('|'),
  'iu',
);

/** A modal verb; what stands before it says whether it demands. */
const MODAL =
  /\b(?:must(?:n['’]?t)?|should(?:n['’]?t)?|shall|may (?:not|only)|can(?:not|['’]t| not| only)|(?:need|have|are not allowed|are allowed only) to)\b/iu;
/** Modal verbs that demand only of somebody who is spoken to. */
const MODAL_OF_YOU = /^(?:can|need|have|are|may)/iu;
/** Before a modal: what makes of it a report, a guess, a question within a sentence, or a thought of one's own. */
const REPORTED =
  /\b(?:whether|if|where|which|who|what|why|how|because|since|says?|said|saw|think|thinks|thought|believe|guess|assume|suppose|heard|read|told|according|theory|probably|apparently|seems?|wonder|wondering|sure|expect|expected|expecting|there|I|my|as|than|when|so that)\b|\S that\b/iu;
/** The same where somebody is spoken to: "I think you should" is still an order, and so is what a condition leads to. */
const TOLD =
  /\b(?:whether|says?|said|heard|read|told|wonder|wondering|sure|why|how|what|I see)\b|\S that\b/iu;
/** Before a comma: what follows is what others say, or what somebody would expect. */
const HEARSAY = /^(?:according|in theory|in principle|as far as|apparently|supposedly|normally|usually)\b/iu;
/** Behind a modal: what somebody expects, or what is over. */
const EXPECTED =
  /^ (?:(?:also|just|really|all|already|now|probably|still) )?(?:have (?:been|had|\p{L}+(?:ed|en|ne|nt)\b)|be (?:fine|ok|okay|enough|all|good|in my|under|able|easy|possible|relativ|fairly|pretty|quite|safe|it\b|there\b)|work\b|help\b|fix\b|suffice|cover\b|do(?: it)?[.!]?$)/iu;

/** The same in other languages in Latin letters. */
const LATIN: readonly string[] = [
  // German
  '\\b(?:muss|müssen|musst|müsst|(?:darf|darfst|dürfen|dürft) (?:nicht|nur|kein\\p{L}*|nie)|nie|niemals|immer|keinesfalls|auf keinen fall|mindestens|höchstens|unbedingt|sollst|sollen|sollte|ausschließlich|ab (?:jetzt|sofort)|verboten)\\b',
  '^(?!(?:ich|wir|das|es|er|sie|ist|geht|war|hat|habe) )[\\p{L}]+ (?:bitte )?(?:nicht|keine?[nrsm]?) ',
  '^(?!.*\\b(?:ich|wir|kann|können|will)\\b).*\\bnicht \\p{L}+en[.!]?$',
  '^(?:bitte )?(?:nur|nicht|keine?[nrsm]?) ',
  // French, Spanish, Portuguese, Italian
  '\\b(?:doit|doivent|jamais|toujours|seulement|uniquement|interdit|au moins|au plus|ne pas|debe|debes|deben|nunca|siempre|sólo|solamente|prohibido|al menos|a partir de ahora|deve|devem|devono|sempre|somente|apenas|proibido|mai|soltanto|almeno|vietato)\\b',
  '^(?:por favor,? )?(?:solo |no (?:lo |la |los |las |me |te |se )?\\p{L}+(?:es|as)\\b(?=.* (?:el|la|los|las|de|que|en|un|una|del|al|con)\\b))',
  "^(?:ne |n['’])\\p{L}+(?:ez|e|s) (?:pas|jamais|rien)\\b",
  // Dutch, Polish, Turkish, Indonesian, Vietnamese
  '\\b(?:nooit|altijd|alleen|moet|moeten|nigdy|zawsze|tylko|musi|nie wolno|asla|sadece|mutlaka|her zaman|jangan|selalu|hanya|harus|không được|luôn|phải)\\b',
];

/** The same in scripts where no space parts words, or where letters are none to `\b`. */
const SIGNS: readonly string[] = [
  'нельзя|никогда|всегда|должен|должн|обязательно|не надо|не нужно|запрещ|ніколи|завжди|(?<!\\p{L})(?:только|тільки)(?! что)',
  '(?:^|[\\s,;:.!—])не \\p{L}+(?:й|йте|и|ите|ь|ьте)(?!\\p{L})',
  '必须|必須|不要|不得|不可(?!用|见|見|能)|禁止|只能|务必|務必|永远|切勿|严禁|不准|不许|确保|確保|而不是|(?:^|[，,。；：:你请請都决絕绝对對])不能|(?:^|[，,。；：:请請])(?:别|別|只)|(?:^|[，,。；：:])请?(?:用|使用|保持|注意|记得)',
  '必ず|ないで|してはいけ|するな|常に|禁止|(?:のみ|だけ).{0,40}(?:ください|して|こと)|ではなく.{0,40}(?:ください|して|使)',
  '절대|반드시|항상|하지 마|지 말|يجب|أبدا|دائما|فقط|ممنوع|कभी नहीं|हमेशा|केवल|ज़रूर|אסור|תמיד|רק ',
];

/** A sentence in another language than English demands with one of these, once what is idle is taken out. */
const FOREIGN = new RegExp([...LATIN, ...SIGNS].join('|'), 'iu');

/** Words of the same sound in other languages that demand nothing: what is, what was, what the speaker has to do. */
const FOREIGN_IDLE =
  /\b(?:ich|wir) (?:muss|müssen|sollte|sollten)\b|\b(?:muss|sollte) (?:ich|man)\b|\bimmer (?:noch|wieder|mehr)\b|\b(?:ist|sind|war|wird|hat|habe|haben|es|das|passiert|kommt|läuft|geht) (?:\p{L}+ ){0,2}(?:immer|nie|nur)\b|\btoujours pas\b|\b(?:est|sont|était|ai|a|ont|je|il|elle|ça|c['’]est) (?:\p{L}+ ){0,2}(?:toujours|jamais|seulement)\b|\b(?:es|está|son|fue|he|ha|han|lo|se|casi) (?:siempre|nunca|solo|sólo)\b|\b(?:siempre|nunca) (?:es|está|ha|he|fue|falla|pasa)\b|(?:我|他|她|它)(?:们)?(?:必须|不能|不要)|不要紧|是不是/giu;

/** A sentence that asks. */
export const QUESTION =
  /[?？؟][\s"'”’)\]*]{0,4}$|(?:吗|呢|嗎)[。.]?$|か[。.]?$|^[\s\d\p{P}]{0,8}(?:(?:and|but|so|ok|okay|hmm?|now|well|oh|yes|yeah|if so|if not),? ){0,2}(?:(?:what|why|how|who)(?:['’]?s|['’]re)? (?!not)\p{L}|(?:when|where|which)(?: \p{L}+)? (?:do|does|did|is|are|was|were|will|can|could|should|would)\b|(?:do|does|did|is|are|was|were|has|have) (?:I|we|it|this|that|there|they|the|you|our|my)\b|any (?:idea|issues?|reason|chance|thoughts|way)\b|(?:can|could|should|shall|would) (?:I|we|you|it|this|that|they|there)\b)/iu;

/** A demand in the form of a question. */
const REQUEST =
  /\b(?:can|could|would|will) (?:you|we) (?:(?:please |also |just |maybe )?(?:(?:make sure|ensure)(?! (?:it|it['’]s|this|that['’]s|that (?:is|was|change)|those|these)\b.{0,40}\?)|never|always|avoid|not|only|stop \p{L}+ing|keep)\b|.{0,200}\b(?:and|but) (?:please )?(?:make sure|ensure|never|don['’]?t|do not|keep)\b|.{0,200}\bwithout \p{L}+ing (?:the|any|my|our|it)\b)/iu;

/** Shorter sentences demand nothing that can be named; longer ones are pasted data. */
const SHORTEST = 10;
export const LONGEST = 600;
/** In scripts where a sign is a word. */
const SHORTEST_OF_SIGNS = 4;
const SIGN = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/** Whether a sentence demands or forbids something. */
export function isDemand(sentence: string): boolean {
  if (sentence.length > LONGEST || !isLongEnough(sentence)) return false;
  const spoken = sentence.replaceAll(QUOTATION, ' ~ ').replaceAll(EMPHASIS, '').replaceAll(/\s+/g, ' ');
  if (REQUEST.test(spoken)) return true;
  if (QUESTION.test(spoken) || PLAN.test(spoken)) return false;
  return (
    NONE_OF_IT.test(spoken) ||
    hasDemandingClause(clausesOf(spoken)) ||
    FOREIGN.test(spoken.replaceAll(FOREIGN_IDLE, ' ~ '))
  );
}

/** The label of a plan: what stands behind it is no rule. */
const PLAN =
  /^[\s\p{P}\d]{0,8}(?:(?:the|my|our|new|current|next|final|updated|revised|total|first) ){0,2}(?:plan|approach|goal|decision|idea|proposal|option|choice|task|todo|next steps?)\b[^:]{0,80}:(?!.*\b(?:never|always|must|only|don['’]?t|do not)\b)/iu;
/** "No global state!", "no new packages please". */
const NONE_OF_IT =
  /^[\s\p{P}]{0,6}(?:(?:and|but|ok|okay|please|also),? )?no (?:more )?(?!problem|worries|idea|thanks|way|doubt|wonder|clue|luck|need|i|we|it|that|this|the|you)(?:[\p{L}-]+ ){0,4}[\p{L}-]+(?:!+| please[.!]?)$/iu;
/** Quoted text: the user repeats it and does not demand it. */
const QUOTATION = /`[^`\n]{1,200}`|"[^"\n]{1,300}"|“[^”\n]{1,300}”/g;
const EMPHASIS = /\*{1,3}|(?<![\p{L}\d])_{1,2}(?=\p{L})|(?<=\p{L})_{1,2}(?![\p{L}\d])/gu;

/** Whether a sentence is long enough to demand something that can be named. */
export function isLongEnough(sentence: string): boolean {
  return sentence.length >= SHORTEST || (sentence.length >= SHORTEST_OF_SIGNS && SIGN.test(sentence));
}

interface Clause {
  readonly text: string;
  /** The mark or word that parts it from the clause before it; empty for the first. */
  readonly opening: string;
  readonly isAside: boolean;
}

const BORDER =
  /([,;:!?…()[\]]+(?=\s|$)|[([](?=\S)|[—–]|\.{2,}|\s-{1,2}(?=\s))|\s(?=(?:and|but|so|then|or)\s)/gu;

/** The clauses of a sentence, parted by marks and by words that join. */
function clausesOf(sentence: string): readonly Clause[] {
  const clauses: Clause[] = [];
  let start = 0;
  let opening = '';
  let isAside = false;
  const close = (end: number) => {
    const text = sentence.slice(start, end).replace(FILLERS, '');
    if (text !== '') clauses.push({ text, opening, isAside });
  };
  for (const match of sentence.matchAll(BORDER)) {
    close(match.index);
    opening = match[1]?.trim() ?? 'and';
    if (opening.startsWith('(')) isAside = true;
    else if (opening.includes(')')) isAside = false;
    start = match.index + match[0].length;
  }
  close(sentence.length);
  return clauses;
}

function hasDemandingClause(clauses: readonly Clause[]): boolean {
  const isMain = (clause: Clause, index: number) => isMainClause(clause, clauses[index - 1]);
  const order = clauses.findIndex((clause, index) => isMain(clause, index) && ORDERED.test(clause.text));
  const isOrder = (clause: Clause, index: number) =>
    ORDER.test(clause.text) ||
    STATED.test(clause.text) ||
    NOUN_ONLY.test(clause.text) ||
    (order !== -1 && index >= order && LIMIT.test(clause.text)) ||
    (isMain(clause, index) && MANNER.test(clause.text));
  return clauses.some(isOrder) || hasObligation(clauses.filter(({ isAside }) => !isAside));
}

/** Whether one of the clauses says what must or should be, and no other makes a report of it. */
function hasObligation(clauses: readonly Clause[]): boolean {
  let isReport = false;
  let isHearsay = false;
  for (const { text, opening } of clauses) {
    const modal = MODAL.exec(text);
    const before = text.slice(0, modal?.index);
    const reported = /\byou $/i.test(before) ? TOLD : REPORTED;
    isReport = isHearsay || reported.test(before) || (isReport && opening === 'and');
    if (modal !== null && !isReport && isObliging(text, modal)) return true;
    isHearsay ||= HEARSAY.test(text);
  }
  return false;
}

/** "Facts only", "unit tests only". */
const NOUN_ONLY =
  /^(?!.*\b(?:is|are|was|were|has|have|had|it|there|can|will|does|read|view|write|not|if|one|I)\b)(?:[^\s]{1,40} ){1,4}only[.!]?$/iu;
/** What narrows an order. */
const LIMIT =
  /^only (?:in|on|for|within|from|with|at|the|when|if|these|those|what)\b|\bwithout \p{L}+ing\b|^no \p{L}+/iu;

/** Whether a clause stands where an order may: first, behind an introduction, or joined to another order. */
function isMainClause({ opening }: Clause, previous: Clause | undefined): boolean {
  if (previous === undefined || /[:;!?—–]|^-/.test(opening)) return true;
  if (opening === 'and') return ORDERED.test(previous.text) || MANNER.test(previous.text);
  if (/^let['’]?s\b/i.test(previous.text)) return true;
  return (
    INTRODUCTION.test(previous.text) || !/\S\s+\S+\s+\S/.test(previous.text) || ORDERED.test(previous.text)
  );
}

const INTRODUCTION =
  /^(?:if|when|whenever|once|before|after|while|for|in|on|at|as|since|because|given|with|to|unless|until|from|wenn|si|quand|cuando)\b/i;

function isObliging(clause: string, modal: RegExpExecArray): boolean {
  const before = clause.slice(0, modal.index).trimEnd();
  const after = clause.slice(modal.index + modal[0].length);
  if (MODAL_OF_YOU.test(modal[0]) && !/\byou$/i.test(before)) return false;
  const isRule = /^must|n['’]?t$/i.test(modal[0]) || /^ (?:not|never|always|only)\b/i.test(after);
  // "We should" is a plan; a rule for both says what must, or must not, be.
  return (isRule || !/\bwe$/i.test(before)) && !EXPECTED.test(after);
}
