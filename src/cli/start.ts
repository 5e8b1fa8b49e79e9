import { readVersion } from './version.ts';

/** Runs what the command line of this process asks for. */
export async function start(): Promise<void> {
  const [first, ...others] = process.argv.slice(2);
  // Editors and installers ask for the version: they do not wait for the commands to be loaded.
  if ((first === '--version' || first === '-V') && others.length === 0) {
    process.stdout.write(`${readVersion()}\n`);
    return;
  }
  const { runCommand } = await import('./program.ts');
  process.exitCode = await runCommand(process.argv);
}
