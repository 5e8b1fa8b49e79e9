import type { Violation } from '../contract.ts';
import { isGiven, read, readList, readText } from '../json-value.ts';
import { isStrictVersion } from './frame.ts';
import { type Block, type Check, type Message, type Request, readTypedList } from './request.ts';
import { rules } from './rules.ts';
import { report } from './worded-rule.ts';

/** What messages and text blocks hold: something, text that says something, allowed parts. */
export const checkContent: Check = (request) => [
  ...checkSystemText(request),
  ...request.messages.flatMap((message) => [
    ...checkNotEmpty(message, request),
    ...message.blocks.flatMap((block) => checkText(block, 'messages')),
  ]),
  ...(isStrictVersion(request) ? request.messages.flatMap(checkStrictParts) : []),
];

function checkSystemText({ body, isWhole }: Request): Violation[] {
  if (!isWhole) return [];
  return readTypedList(read(body, 'system'), 'system').flatMap((block) => checkText(block, 'system'));
}

function checkNotEmpty(message: Message, { body }: Request): Violation[] {
  const content = read(message.value, 'content');
  const isEmpty = content === '' || (Array.isArray(content) && content.length === 0);
  if (!isEmpty) return [];
  const isLast = message.index === readList(body, 'messages').length - 1;
  return isLast && message.role === 'assistant' ? [] : [report(rules.emptyContent, message.path)];
}

function checkText(block: Block, place: 'messages' | 'system'): Violation[] {
  if (block.type !== 'text') return [];
  const text = readText(block.value, 'text');
  if (text === undefined || text.trim() !== '') return [];
  if (text !== '') return [report(rules.blankText, block.path, place)];
  if (!isGiven(read(block.value, 'cache_control'))) return [report(rules.emptyText, block.path, place)];
  return [report(rules.cacheBreakpointOnEmptyText, place === 'system' ? block.path : `${block.path}.text`)];
}

function checkStrictParts({ role, blocks }: Message): Violation[] {
  const reason = 'with this API version';
  return blocks.flatMap((block) => {
    if (role === 'assistant' && block.type === 'document')
      return [report(rules.unsupportedContent, block.path, reason)];
    const isCitedUserText =
      role === 'user' && block.type === 'text' && readList(block.value, 'citations').length > 0;
    return isCitedUserText ? [report(rules.unsupportedContent, `${block.path}.text.citations`, reason)] : [];
  });
}
