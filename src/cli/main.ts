#!/usr/bin/env node
// Imports nothing, and is written as old versions of Node read it: they must come as far as the sentence that says so.

const OLDEST = [22, 18] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  const needed = OLDEST.join('.');
  process.stderr.write(
    `error roundfold needs Node.js ${needed} or newer, and this is ${process.versions.node}\n` +
      '      Install a newer Node.js from https://nodejs.org, then run it again.\n',
  );
  process.exitCode = 1;
} else {
  // An error that nobody expects ends the process with its stack, as it should.
  void import('./start.ts').then(({ start }) => start());
}

export {};
