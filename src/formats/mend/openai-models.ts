/** How the names of OpenAI's own models begin. */
const OWN_MODEL = /^(?:ft:)?(?:gpt-|chatgpt-|codex-|computer-use-|o\d)/;

/** Whether OpenAI's own limits hold: servers that merely speak its formats have others. Held to them when unknown. */
export function isOpenaiModel(model: string | undefined): boolean {
  return model === undefined || OWN_MODEL.test(model);
}

/** Models that think before everything they write, so that what they wrote comes with a reasoning item. */
const ALWAYS_REASONING = /^(?:o1|o3|o4-mini|gpt-5)(?:-|$)/;
const NEVER_REASONING = /^gpt-5-chat(?:-|$)/;

/** Whether everything that this model wrote has a reasoning item before it. */
export function reasonsAlways(model: string | undefined): boolean {
  return model !== undefined && ALWAYS_REASONING.test(model) && !NEVER_REASONING.test(model);
}
