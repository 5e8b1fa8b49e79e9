import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { runChat } from '../../chat/agent-loop.ts';
import { ChatArchive } from '../../chat/archive.ts';
import { Chat, type ChatHost } from '../../chat/chat.ts';
import { whoAnswers } from '../../chat/commands/looking.ts';
import { completeCommand } from '../../chat/commands/run-command.ts';
import { gaugeText } from '../../chat/gauge.ts';
import { Editor } from '../../chat/input/editor.ts';
import { type EntrySource, openLineEntries } from '../../chat/input/entries.ts';
import { loadMessages } from '../../chat/load.ts';
import { chooseProvider } from '../../chat/providers/registry.ts';
import {
  findSession,
  newSessionPath,
  readSession,
  type SavedChat,
  sessionFolder,
} from '../../chat/session-file.ts';
import { openWorkspace } from '../../chat/tools.ts';
import { RoundfoldError } from '../../conversation/errors.ts';
import { nearest } from '../../conversation/nearest.ts';
import { countOf } from '../../report/terminal.ts';
import type { Store } from '../../stores/store.ts';
import { type GivenArguments, readNumber } from '../command.ts';
import { createSummarizer, readSettings } from '../compaction-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { makePrivateFolder, refuseForeignFile, writePrivateFile } from '../files.ts';
import { sayRemedy } from '../output.ts';
import type { Terminal } from '../terminal.ts';

/** Puts a chat together and runs it to its end. */
export async function startChat(given: GivenArguments, terminal: Terminal): Promise<ExitCode> {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const canEdit = isTerminal && !terminal.isPlain;
  const { provider, defaultModel, baseUrl } = chooseProvider(
    { name: given.text('provider'), baseUrl: given.text('baseUrl'), isPaced: isTerminal },
    process.env,
  );
  const { sessionPath, saved } = findChat(given, provider.wire.format);
  if (saved !== undefined && given.text('load') !== undefined) {
    throw new RoundfoldError('usage', '--load begins a chat, and that one has begun', {
      remedy: 'Leave --load out, or name another --session.',
    });
  }
  const summarizer = createSummarizer(given, { provider: provider.name, baseUrl });
  const logPath = checkLog(given);
  const isSaved = canSave(given, sessionPath, terminal);
  const host = hostOf(terminal);
  const store = await openStoreOf(given);
  const archive = store === undefined ? undefined : new ChatArchive(store, basename(sessionPath, '.jsonl'));
  const chat = new Chat({
    host,
    provider,
    workspace: await openWorkspace(process.cwd()),
    model: given.text('model') ?? saved?.model ?? defaultModel,
    windowTokens: readNumber(given, 'window', { from: 0, remedy: 'Give tokens; 0 has no limit.' }),
    strategy: given.text('strategy') ?? 'ladder',
    settings: readSettings(given),
    summarizer,
    logPath,
    archive,
    sessionPath,
    isSaved,
    saved,
  });
  const load = given.text('load');
  const loaded = load === undefined ? undefined : await loadMessages(load, provider.wire.format);
  if (loaded !== undefined) chat.dialogue.replace(loaded.messages);
  if (isTerminal) greet(chat);
  for (const change of loaded?.changes ?? []) chat.say(host.style('dim', `  ${change}`));
  const entries = openEntries({ host, terminal }, { canEdit, hasPrompt: isTerminal });
  try {
    const { failures } = await runChat(chat, entries);
    return failures > 0 && !isTerminal ? exitCodes.upstream : exitCodes.done;
  } finally {
    entries.close();
    await archive?.close();
  }
}

function greet(chat: Chat): void {
  const { dialogue, host } = chat;
  const said = dialogue.isEmpty ? '' : `, ${countOf(dialogue.messages.length, 'message')} so far`;
  chat.say(host.style('bold', `roundfold chat: ${whoAnswers(chat)}${said}`));
  if (chat.options.isSaved) chat.say(host.style('dim', `saved to ${chat.sessionPath}`));
  chat.say(host.style('dim', '/help lists the commands'));
  if (!dialogue.isEmpty) chat.say(gaugeText(chat));
}

function hostOf(terminal: Terminal): ChatHost {
  return {
    out: (text) => terminal.out(text),
    style: (style, text) => terminal.style(style, text),
    columns: () => (process.stdout.isTTY ? process.stdout.columns : terminal.columns),
    isPlain: terminal.isPlain,
    nearest,
    writeConversation(path, text, { isOwn, makesFolder }) {
      if (makesFolder) makePrivateFolder(path);
      writePrivateFile(path, text, { kind: 'conversation', isForced: isOwn });
    },
    now: () => new Date(),
  };
}

function openEntries(
  { host, terminal }: { readonly host: ChatHost; readonly terminal: Terminal },
  { canEdit, hasPrompt }: { readonly canEdit: boolean; readonly hasPrompt: boolean },
): EntrySource {
  if (!canEdit) return openLineEntries({ input: process.stdin, out: host.out, hasPrompt });
  return new Editor({
    input: process.stdin,
    out: (sequence) => terminal.drive(sequence),
    size: () => ({ columns: process.stdout.columns, rows: process.stdout.rows }),
    complete: completeCommand,
    style: (text) => host.style('dim', text),
  });
}

/** Where the chat is saved, and what is there already. */
function findChat(
  given: GivenArguments,
  format: string,
): { readonly sessionPath: string; readonly saved: SavedChat | undefined } {
  const folder = sessionFolder(process.env);
  const named = given.text('session');
  const isResumed = given.flag('resume') || given.text('resume') !== undefined;
  if (named !== undefined && isResumed) {
    throw new RoundfoldError('usage', '--session and --resume both name a chat', {
      remedy: 'Use one of them.',
    });
  }
  const sessionPath =
    named ?? (isResumed ? findSession(folder, given.text('resume')) : newSessionPath(folder, new Date()));
  if (!existsSync(sessionPath)) return { sessionPath, saved: undefined };
  const saved = readSession(sessionPath);
  if (saved === undefined) {
    throw new RoundfoldError('input-not-understood', `${sessionPath} is no saved chat`, {
      remedy: 'Use --load to begin with what is in it.',
    });
  }
  if (saved.format === format) return { sessionPath, saved };
  throw new RoundfoldError('usage', `that chat is written as ${saved.format}, not as ${format}`, {
    remedy: 'Resume it with the provider it was begun with, or begin another one with --load.',
  });
}

/** The file that compactions are noted in. */
function checkLog(given: GivenArguments): string | undefined {
  const path = given.text('log');
  if (path !== undefined) refuseForeignFile(path, { kind: 'log', isForced: given.flag('force') });
  return path;
}

/**
 * Whether the chat can be saved. A place that nobody has chosen ends no chat: it goes on unsaved, and says so.
 * @throws RoundfoldError `usage` when it cannot be saved where the user wants it
 */
function canSave(given: GivenArguments, sessionPath: string, terminal: Terminal): boolean {
  try {
    makePrivateFolder(sessionPath);
    return true;
  } catch (error) {
    if (!RoundfoldError.is(error) || given.text('session') !== undefined) throw error;
    terminal.talk(`${terminal.styleTalk('yellow', 'this chat is not saved')}: ${error.message}\n`);
    sayRemedy(terminal, 'Start it with --session FILE to save it elsewhere, or /save FILE before you quit.');
    return false;
  }
}

async function openStoreOf(given: GivenArguments): Promise<Store | undefined> {
  const address = given.text('store');
  if (address === undefined) return undefined;
  const { openStore } = await import('../../stores/registry.ts');
  return openStore(address, { secret: process.env['ROUNDFOLD_STORE_SECRET'] || undefined });
}
