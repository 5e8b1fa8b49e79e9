import { claudeCode } from './claude-code/reader.ts';
import { claudeCodeWriter } from './claude-code/writer.ts';
import { codex } from './codex/reader.ts';
import { codexWriter } from './codex/writer.ts';
import { geminiCli } from './gemini-cli/reader.ts';
import { createJsonReader } from './json/reader.ts';
import { openWebui } from './open-webui/reader.ts';
import { opencode } from './opencode/reader.ts';
import { opencodeWriter } from './opencode/writer.ts';
import { pi } from './pi/reader.ts';
import { piWriter } from './pi/writer.ts';
import { roundfoldChat } from './roundfold-chat/reader.ts';
import type { SessionWriter } from './session-writer.ts';
import { sweAgent } from './swe-agent/reader.ts';
import type { TranscriptReader } from './transcript.ts';

/**
 * Every reader, in the order in which a file is offered to them; plain JSON takes what nobody else knows.
 * `recogniseFormat` names the wire format of a request body or a list of messages.
 */
export function transcriptReaders(
  recogniseFormat: (value: unknown) => string | undefined,
): readonly TranscriptReader[] {
  return [
    claudeCode,
    codex,
    pi,
    opencode,
    geminiCli,
    openWebui,
    sweAgent,
    roundfoldChat,
    createJsonReader(recogniseFormat),
  ];
}

/** Every agent that can go on with a session that roundfold wrote. */
export const sessionWriters: readonly SessionWriter[] = [
  claudeCodeWriter,
  codexWriter,
  piWriter,
  opencodeWriter,
];
