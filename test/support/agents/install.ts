import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

// Agents that are free software, at pinned versions. They are large, so they are installed beside the project, never among
// its dependencies, and only once.

const packages = {
  codex: '@openai/codex@0.169.0',
  gemini: '@google/gemini-cli@0.61.0',
  opencode: 'opencode-ai@1.18.33',
  pi: '@earendil-works/pi-coding-agent@0.87.1',
} as const;

/** An agent that tests start. */
export type AgentName = keyof typeof packages;

export const agentNames = Object.keys(packages) as AgentName[];

/** Where the agents are: `ROUNDFOLD_CLIENTS`, or a folder beside the project's own. */
export const agentsFolder =
  process.env['ROUNDFOLD_CLIENTS'] ?? resolve(import.meta.dirname, '../../../.clients');
const binaries = join(agentsFolder, 'node_modules', '.bin');
const INSTALL_MS = 150_000;

/** Installs what is missing; one run of npm for all of it. */
export function installAgents(): void {
  const missing = agentNames.filter((name) => !existsSync(join(binaries, name)));
  if (missing.length === 0) return;
  mkdirSync(agentsFolder, { recursive: true });
  if (!existsSync(join(agentsFolder, 'package.json')))
    writeFileSync(join(agentsFolder, 'package.json'), '{ "private": true }\n');
  const options = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--fetch-retries=1'];
  for (const wanted of [missing, ...missing.map((name) => [name])]) {
    const names = wanted.filter((name) => whyMissing(name) !== undefined).map((name) => packages[name]);
    // All together first; one by one where a package of them cannot be had.
    if (names.length > 0)
      spawnSync('npm', ['install', ...options, ...names], { cwd: agentsFolder, timeout: INSTALL_MS });
  }
  // Of all install scripts only this one is needed: it links the program that fits the machine.
  const opencode = join(agentsFolder, 'node_modules', 'opencode-ai');
  if (missing.includes('opencode') && existsSync(opencode))
    spawnSync(process.execPath, ['postinstall.mjs'], { cwd: opencode, timeout: INSTALL_MS });
}

/** Why an agent cannot be started; undefined when it can. */
export function whyMissing(name: AgentName): string | undefined {
  return existsSync(join(binaries, name))
    ? undefined
    : `${packages[name]} could not be installed from the registry`;
}

/** The search path with the agents on it, and with the Node that runs this. */
export function pathWithAgents(): string {
  return [binaries, resolve(process.execPath, '..'), process.env['PATH'] ?? ''].join(delimiter);
}
