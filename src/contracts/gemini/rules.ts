import { createReporter, listRules, type RuleRow } from '../finding.ts';

/** The rules of `generateContent`, with the server's own texts. */
export const geminiRules = {
  G0: {
    title: 'every field has the type the schema names',
    fix: 'Give the field the type the schema names.',
    evidence: 'inferred',
    wording: (path: string, type: string) =>
      `Invalid value at '${path}' (type.googleapis.com/google.ai.generativelanguage.v1beta.${type})`,
  },
  G1: {
    title: 'function calls follow a user turn or function responses',
    fix: 'Keep the user turn before the calls, and put all calls of one answer in one content.',
    evidence: 'reported',
    wording: () =>
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
  },
  G2: {
    title: 'function responses follow their function calls',
    fix: 'Restore the content with the function calls directly before the responses, or remove the responses.',
    evidence: 'reported',
    wording: () => 'Please ensure that function response turn comes immediately after a function call turn.',
  },
  G3: {
    title: 'the content after function calls holds as many responses as there are calls',
    fix: 'Put one functionResponse per functionCall in the one content that follows, or remove the calls.',
    evidence: 'reported',
    wording: () =>
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
  },
  G4: {
    title:
      'Gemini 3 and later: the first call of every step of the current turn carries its thought signature',
    fix: 'Restore the thoughtSignature the model sent with the call; for calls of another model send the documented bypass value.',
    evidence: 'documented',
    wording: () =>
      'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.',
  },
  G5: {
    title: 'thought signatures go back as they came, to the model they came from',
    fix: 'Send the thoughtSignature unchanged, on the part it came with, or the documented bypass value.',
    evidence: 'reported',
    wording: {
      corrupted: () => 'Corrupted thought signature.',
      foreign: () => 'Invalid thought signature',
    },
  },
  G6: {
    title: 'contents, parts and tools are not empty, and a part holds one thing',
    fix: 'Leave out what is empty; give every kind of data a part of its own.',
    evidence: 'reported',
    wording: {
      noContents: () => '* GenerateContentRequest.contents: contents is not specified',
      noParts: (path: string) => `* GenerateContentRequest.${path}: contents.parts must not be empty.`,
      noData: (path: string) =>
        `* GenerateContentRequest.${path}.data: required oneof field 'data' must have one initialized field`,
      muchData: (path: string, name: string) =>
        `Invalid value at '${path}' (oneof), oneof field 'data' is already set. Cannot set '${name}'`,
      noTool: (path: string) =>
        `${path}.tool_type: required one_of 'tool_type' must have one initialized field`,
    },
  },
  G7: {
    title: 'the role is user or model; on Vertex it may not be left out',
    fix: "Give the content the role 'user' or 'model'.",
    evidence: 'reported',
    wording: () => 'Please use a valid role: user, model.',
  },
} as const satisfies Readonly<Record<string, RuleRow & { readonly wording: unknown }>>;

/** Every rule of the table, as the contract lists them. */
export const geminiRuleList = listRules(geminiRules);

/** Makes findings of these rules. */
export const report = createReporter(geminiRules);
