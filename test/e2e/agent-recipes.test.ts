import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentNames, installAgents, pathWithAgents, whyMissing } from '../support/agents/install.ts';
import { snippetProject } from '../support/snippet-project.ts';
import { snippetsOf } from '../support/snippets.ts';

// docs/clients.md says how to see a fold with agents as their users have them. This types what stands there.

const snippets = snippetsOf('docs/clients.md');
const fileOf = (name: string) => snippets.find(({ file }) => file === name)?.text ?? '';
const commandLines = snippets
  .flatMap(({ text, language }) => (language === 'sh' ? text.split('\n') : []))
  .flatMap((line) => {
    const agent = agentNames.find((name) => line.startsWith(`roundfold run --window 60000 ${name} `));
    return agent === undefined ? [] : [{ line, agent }];
  });

const TIMEOUT_MS = 120_000;

describe('the command lines of docs/clients.md', () => {
  const project = snippetProject();
  beforeAll(() => {
    installAgents();
    for (const name of ['parts.json', 'provider-for-agents.sh']) project.write(name, fileOf(name));
    mkdirSync(join(project.path, '.gemini'));
    const auth = { security: { auth: { selectedType: 'gemini-api-key' } } };
    writeFileSync(join(project.path, '.gemini/settings.json'), JSON.stringify(auth));
  }, 600_000);
  afterAll(() => project.remove());

  it('are there for every agent', () => {
    expect(commandLines.map(({ agent }) => agent).toSorted()).toEqual(agentNames.toSorted());
  });

  it.for(commandLines)('$line', { timeout: TIMEOUT_MS }, async ({ line, agent }, test) => {
    const why = whyMissing(agent);
    if (why !== undefined) return test.skip(why);
    const { code, output } = await project.run(
      [
        // Whatever an agent wants from elsewhere, it does not get.
        `export HTTPS_PROXY=http://127.0.0.1:9 NO_PROXY=127.0.0.1 PATH="$PATH:${pathWithAgents()}"`,
        'rm -f provider.sh',
        '. ./provider-for-agents.sh',
        `${line} < /dev/null`,
        'code=$?',
        'kill $!',
        'exit $code',
      ].join('\n'),
    );
    expect(code, output).toBe(0);
    expect(output).toContain('All 40 parts are read.');
    expect(Number(/(\d+) folds?,/.exec(output)?.[1] ?? 0), output).toBeGreaterThanOrEqual(2);
  });
});
