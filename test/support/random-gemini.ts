import { type BodyWriter, listUnder, only, PICTURE, present, type WritingContext } from './random-writers.ts';

/** Bodies for `generateContent`. */
export const geminiWriter: BodyWriter = {
  format: 'gemini',
  ...listUnder('contents'),
  write: (context) => ({ request: requestOf(context), response: responseOf(context) }),
  frame: ({ isBare, instructions }, list) =>
    isBare
      ? list
      : {
          model: 'gemini-3-pro',
          ...(instructions === undefined ? {} : { systemInstruction: { parts: [{ text: instructions }] } }),
          contents: list,
        },
};

function requestOf({ exchange, before }: WritingContext): readonly unknown[] {
  const results = (before?.calls ?? []).map(({ name, output }) => ({
    functionResponse: { name, response: { output } },
  }));
  const [first, ...others] = exchange.asked;
  const inlineData =
    exchange.media === 'picture'
      ? { mimeType: 'image/png', data: PICTURE }
      : { mimeType: 'application/pdf', data: PICTURE };
  const asked =
    first === undefined ? [] : [{ text: first }, ...only(exchange.media !== 'none', { inlineData })];
  const parts = exchange.joinsResults ? [[...results, ...asked]] : [results, asked];
  return [
    ...parts.filter((list) => list.length > 0).map((list) => ({ role: 'user', parts: list })),
    ...others.map((text) => ({ role: 'user', parts: [{ text }] })),
  ];
}

/** The first call of every response has the signature that newer models insist on. */
function responseOf({ exchange, index }: WritingContext): readonly unknown[] {
  const { thinking, said, searches, calls, isSplit } = exchange;
  const spoken = [
    ...present(thinking, ({ text }) => ({ text, thought: true })),
    ...(searches
      ? [
          { executableCode: { language: 'PYTHON', code: 'print(42)' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '42' } },
        ]
      : []),
    ...present(said, (text) => ({ text })),
  ];
  const called = calls.map(({ name, path }, place) => ({
    functionCall: { name, args: { path } },
    ...(place === 0 ? { thoughtSignature: `c2ln${index}` } : {}),
  }));
  const lists =
    isSplit && spoken.length > 0 && called.length > 0 ? [spoken, called] : [[...spoken, ...called]];
  return lists.map((parts) => ({ role: 'model', parts }));
}
