/** The words by which a user takes back, replaces or restores what was said before. */

import { topicWords } from './words.ts';

function anyOf(ways: readonly string[]): RegExp {
  return new RegExp(ways.join('|'), 'iu');
}

const EARLIER =
  "(?:everything|all (?:of )?(?:this|that|it)|the (?:earlier|previous|prior|above|last|first|original|old|whole|initial)|my (?:earlier|previous|last|first|original)|our (?:earlier|previous)|(?:any|all) (?:earlier|previous|prior)|what (?:i|we)(?:['’]ve)? (?:just )?(?:said|wrote|asked|told|agreed|decided))";

/** Takes back what was said before, which a pointer stands for. */
export const WITHDRAWN = anyOf([
  `(?<!\\b(?:not|never|['’]?t) )\\b(?:scratch|strike|forget|disregard|ignore|discard|never ?mind) (?:about )?${EARLIER}\\b`,
  "(?<!\\b(?:not|never|['’]?t) )\\b(?:scratch|strike|forget|disregard|discard) (?:about )?(?:that|this|it)\\b(?! (?:is|was|the|we|i|you|file|line|part)\\b)",
  '(?<!\\p{L})forget [A-Z1-9](?: (?:and|or) [A-Z1-9])?(?!\\p{L})',
  '^[\\s\\p{P}]{0,8}(?:(?:oh|ok|okay|actually|no|well|wait|hm+),? )*never ?mind\\b',
  '\\bi (?:take (?:that|it|this) back)\\b',
  // German, Spanish, French
  '(?<!\\p{L})(?:vergiss|vergesst|vergessen sie|streich|ignoriere?|verwirf) (?:das|es|alles|den|die|meine|was|bitte)(?!\\p{L})|gilt nicht mehr',
  '(?<!\\p{L})(?:olv[ií]da(?:te|d)?|descarta|ignora) (?:eso|esto|todo|lo|la|el|de)(?!\\p{L})|olvídalo|ya no (?:vale|aplica)',
  "(?<!\\p{L})(?:oublie|oubliez|ignore|ignorez|annule|annulez|laisse|laissez) (?:ça|cela|tout|ce|l['’]|tomber)",
  // Chinese, Japanese
  '算了|忘(?:掉|了)(?:它|这个|那个|之前|前面|刚才|吧)|(?:忽略|无视|取消|作废)(?:之前|前面|上面|刚才|先前)|(?:之前|前面|刚才|原来|先前)(?:说)?的.{0,30}(?:作废|不算|取消|不要了|不用了)',
  '取り消し|忘れてください|(?:前|さっき|先ほど)の.{0,20}(?:無視|なし|取り消)',
]);

/** Announces another plan: takes back the one before only where another follows. */
export const ANNOUNCED = anyOf([
  "\\bi(?:['’]ve| have)? (?:changed my mind|reconsidered|thought (?:about )?it (?:over|more)|decided against)\\b|\\bon second thoughts?\\b|\\blet me (?:revise|rephrase|correct (?:that|myself)|change (?:that|my))\\b",
  "^[\\s\\p{P}]{0,8}(?:(?:ok|okay|actually|so|sorry|wait|there['’]?s (?:been )?a),? )*(?:change of plans?|plan change|total reset|full (?:pivot|reset)|new plan|correction)\\b",
  '\\b(?:swap|change|switch|replace) (?:the|our|my) (?:approach|plan|direction|strategy)\\b|\\bstart(?:ing)? (?:all )?over\\b|\\bfinal answer\\b|^[\\s\\p{P}]{0,8}(?:actually|wait|no)\\b[\\s\\p{P}]{1,4}(?:wait|no|scratch|stop)\\b',
  'anders überlegt|planänderung|neuer plan|(?<!\\p{L})doch nicht(?!\\p{L})|cambio de planes?|nuevo plan|cambié de opinión|he cambiado de (?:opinión|idea)|pensándolo (?:bien|mejor)',
  "changement de plan|nouveau plan|changé d['’]avis|réflexion faite|改主意|新(?:的)?(?:计划|方案)|重新来|推翻|やっぱり|新しい(?:計画|方針)|考え直し",
]);

/** Names what holds no more: its words are those behind, between or before. */
export const NAMED: readonly RegExp[] = [
  /^(?!\W{0,4}(?:once|if|when|after|until|since|as|because|what|why)\b)(.{3,200}?) (?:is|are) (?:now |officially )?(?:off the table|no longer (?:an option|valid|needed|wanted|the plan|in force|required|relevant|applicable)|not (?:needed|wanted|required|valid|relevant) any ?more|obsolete|withdrawn|revoked|void|scrapped)/iu,
  /(?<!\b(?:not|never|['’]?t) )\b(?:forget(?! to\b|ting)(?: about)?|(?<!from )scratch|scrap|abandon|discard|disregard|no longer (?:use|want|need|do|going with)|(?:don['’]?t|do not) (?:want|need|use|do) (?=[^.]{1,120}any ?more)) (?:the |that |our |my )?([^.;!—–]{3,120})/iu,
  /(?:vergiss|streich|verwirf|olvida|descarta|oublie|abandonne)(?:z)? (?:den|die|das|el|la|lo de|los|le|les) ([^.;!—–]{3,120})|(?:不再用|不再使用|不用|取消|放弃)([^，。；！]{2,40})/iu,
];

/** Names what is replaced, in a sentence that may as well be about code: only what was said in those very words gives way. */
export const REPLACED =
  /\b(?:instead of|rather than|in place of) ([^.,;:!—–]{3,120})|\bnot (?:the |a |with )?([^.,;:!—–]{3,60}?),? but\b|(?:anstatt|statt|anstelle von) ([^.,;:!—–]{3,120})|(?:en (?:vez|lugar) de|au lieu d(?:e |['’])|à la place d(?:e |['’])) ?([^.,;:!—–]{3,120})|(?:而不是|代替)([^，。；！]{2,40})/iu;

/** A plan in the place of another, which it does not name. */
export const OTHERWISE =
  /\binstead\b(?! of)|^[\s\p{P}]{0,8}actually\b[\s\p{P}]{1,3}(?:let['’]?s|use|make|go|i['’]?d (?:rather|prefer)|i want|we should)(?!.*\b(?:also|too|as well)\b)|\bstattdessen\b|\ben su lugar\b|\bmejor (?:usemos|usa|hagamos|vamos)\b|\bà la place\b|\bplutôt\b|改(?:用|成|为)|换成|换(?:用|为)|还是用|代わりに/iu;

/** Everything that was said before, or every plan. */
export const EVERYTHING =
  /\b(?:everything|all (?:of )?(?:the |my |our |those |these )?(?:earlier|previous|prior|above|rules|instructions|that i said|that we))\b|全部|一切|所有|alles|todo lo|tout ce/iu;
export const EVERY_PLAN =
  /\ball (?:of )?(?:this|that|it)\b|\b(?:total|full|complete) (?:reset|pivot)\b|\bstart(?:ing)? (?:all )?over\b|重新来|推翻/iu;
/** Goes back to what was replaced. */
export const RESTORED =
  /\b(?:go(?:ing)? back|back|return|revert|stick|stay|keep(?:ing)?|let['’]?s keep) (?:to |with )?(?:the |my |our )?(?:original|first|initial|earlier|previous|old) (?:plan|idea|approach|decision|one|option|version|choice)\b/iu;

export const CONDITION = /\b(?:if|unless|in case|wenn|falls|si)\b|如果|もし/iu;
/** What forbids: to do something instead of it confirms it. */
export const FORBIDDING = /\b(?:never|not|avoid|no|without)\b|n['’]t\b|nicht|kein|nunca|jamais|不|别/iu;

/** Whether a sentence takes something back that was said before. */
export function isRevision(text: string): boolean {
  return WITHDRAWN.test(text) || ANNOUNCED.test(text) || RESTORED.test(text) || NAMED[0]?.test(text) === true;
}

/** Whether a sentence does nothing but take something back. */
export function isMereRevision(text: string): boolean {
  const cue = WITHDRAWN.exec(text) ?? ANNOUNCED.exec(text);
  return cue !== null && topicWords(text.slice(cue.index + cue[0].length)).size === 0;
}
