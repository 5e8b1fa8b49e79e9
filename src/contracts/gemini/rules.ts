import type { RuleRow } from '../finding.ts';

const otherNumber = (): string =>
  'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';

/** The rules of `generateContent`, with the server's own texts. */
export const geminiRules = {
  wrongKindOfValue: {
    id: 'wrong-kind-of-value',
    alias: 'G0',
    title: 'every field holds the kind of value the schema names',
    fix: 'Give the field the kind of value the schema names.',
    evidence: 'inferred',
    wording: (path: string, type: string) =>
      `Invalid value at '${path}' (type.googleapis.com/google.ai.generativelanguage.v1beta.${type})`,
  },
  toolCallOutOfTurn: {
    id: 'tool-call-out-of-turn',
    alias: 'G1',
    title: 'function calls follow a user turn or function responses',
    fix: 'Keep the user turn before the calls, and put all calls of one answer in one content.',
    evidence: 'reported',
    wording: () =>
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
  },
  toolResultWithoutCall: {
    id: 'tool-result-without-call',
    alias: 'G2',
    title: 'function responses follow their function calls',
    fix: 'Restore the content with the function calls directly before the responses, or remove the responses.',
    evidence: 'reported',
    wording: () => 'Please ensure that function response turn comes immediately after a function call turn.',
  },
  toolCallWithoutResult: {
    id: 'tool-call-without-result',
    alias: 'G3',
    title: 'function responses follow function calls',
    fix: 'Put one functionResponse per functionCall in the one content that follows, or remove the calls.',
    evidence: 'reported',
    wording: otherNumber,
  },
  toolResultsMiscounted: {
    id: 'tool-results-miscounted',
    alias: 'G3',
    title: 'the content after function calls holds as many responses as there are calls',
    fix: 'Put one functionResponse per functionCall in the one content that follows, or remove the calls.',
    evidence: 'reported',
    wording: otherNumber,
  },
  thoughtSignatureMissing: {
    id: 'thought-signature-missing',
    alias: 'G4',
    title:
      'Gemini 3 and later: the first call of every step of the current turn carries its thought signature',
    fix: 'Restore the thoughtSignature the model sent with the call; for calls of another model send the documented bypass value.',
    evidence: 'documented',
    wording: () =>
      'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.',
  },
  thoughtSignatureInvalid: {
    id: 'thought-signature-invalid',
    alias: 'G5',
    title: 'thought signatures go back as they came, to the model they came from',
    fix: 'Send the thoughtSignature unchanged, on the part it came with, or the documented bypass value.',
    evidence: 'reported',
    wording: {
      corrupted: () => 'Corrupted thought signature.',
      foreign: () => 'Invalid thought signature',
    },
  },
  noMessages: {
    id: 'no-messages',
    alias: 'G6',
    title: 'there is at least one content',
    fix: 'Send at least one content.',
    evidence: 'reported',
    wording: () => '* GenerateContentRequest.contents: contents is not specified',
  },
  emptyContent: {
    id: 'empty-content',
    alias: 'G6',
    title: 'a content has parts',
    fix: 'Remove the content or give it a part.',
    evidence: 'reported',
    wording: (path: string) => `* GenerateContentRequest.${path}: contents.parts must not be empty.`,
  },
  emptyPart: {
    id: 'empty-part',
    alias: 'G6',
    title: 'a part holds something',
    fix: 'Remove the empty part.',
    evidence: 'reported',
    wording: (path: string) =>
      `* GenerateContentRequest.${path}.data: required oneof field 'data' must have one initialized field`,
  },
  severalThingsInPart: {
    id: 'several-things-in-part',
    alias: 'G6',
    title: 'a part holds one thing',
    fix: 'Give every kind of data a part of its own.',
    evidence: 'reported',
    wording: (path: string, name: string) =>
      `Invalid value at '${path}' (oneof), oneof field 'data' is already set. Cannot set '${name}'`,
  },
  emptyTool: {
    id: 'empty-tool',
    alias: 'G6',
    title: 'a tool says what it offers',
    fix: 'Remove the empty tool.',
    evidence: 'reported',
    wording: (path: string) =>
      `${path}.tool_type: required one_of 'tool_type' must have one initialized field`,
  },
  unknownRole: {
    id: 'unknown-role',
    alias: 'G7',
    title: 'the role is user or model; on Vertex it may not be left out',
    fix: "Give the content the role 'user' or 'model'.",
    evidence: 'reported',
    wording: () => 'Please use a valid role: user, model.',
  },
} as const satisfies Readonly<Record<string, RuleRow & { readonly wording: unknown }>>;
