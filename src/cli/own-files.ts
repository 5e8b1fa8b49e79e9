import { closeSync, openSync, readSync } from 'node:fs';
import { PAGE_GENERATOR } from '../report/html/page.ts';

/**
 * What a file that roundfold writes is. A conversation bears no mark of ours: nobody could tell ours from one that
 * somebody needs.
 */
export type FileKind = 'page' | 'receipt' | 'log' | 'export' | 'conversation';

/** How the files of each kind begin. */
const BEGINNINGS: ReadonlyMap<FileKind, RegExp> = new Map([
  ['page', new RegExp(`^<!doctype html>\\n<html lang="en"><head><meta charset="utf-8">${PAGE_GENERATOR}`)],
  ['receipt', /^\{\s{1,8}"version": 1,\s{1,8}"strategy": "[^"]{0,200}",\s{1,8}"messagesBefore": \d/],
  ['log', /^\{(?:"time":"[^"]{1,40}",)?"version":1,"strategy":"[^"]{0,200}","trigger":"/],
  ['export', /^\{"version":\d{1,9},"type":"roundfold-export"/],
]);

/** Longer beginnings are not looked at. */
const LOOKED_AT_BYTES = 1024;

/**
 * Whether the file is one that roundfold wrote, of the kind that is about to take its place. An empty file counts: there
 * is nothing in it to lose.
 * @throws what the file system throws when it cannot be read
 */
export function isOwnFile(path: string, kind: FileKind): boolean {
  const beginning = readBeginning(path);
  return beginning === '' || BEGINNINGS.get(kind)?.test(beginning) === true;
}

function readBeginning(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(LOOKED_AT_BYTES);
    return bytes.toString('utf8', 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}
