import { join } from 'node:path';

/** What decides where agents keep their sessions. */
export interface AgentEnvironment {
  /** The user's home. */
  readonly home: string;
  /** Variables of the environment. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** The variable's value; undefined where it is not set or empty. */
function variable({ variables }: AgentEnvironment, name: string): string | undefined {
  return Object.hasOwn(variables, name) ? variables[name] || undefined : undefined;
}

/** Where Claude Code keeps one folder for each project. */
export function claudeProjects(environment: AgentEnvironment): string {
  const base = variable(environment, 'CLAUDE_CONFIG_DIR') ?? join(environment.home, '.claude');
  return join(base, 'projects');
}

/** Where Codex keeps its rollouts, by date. */
export function codexSessions(environment: AgentEnvironment): string {
  return join(variable(environment, 'CODEX_HOME') ?? join(environment.home, '.codex'), 'sessions');
}

/** Where pi keeps one folder for each project. */
export function piSessions(environment: AgentEnvironment): string {
  const base = variable(environment, 'PI_CODING_AGENT_DIR') ?? join(environment.home, '.pi', 'agent');
  return variable(environment, 'PI_CODING_AGENT_SESSION_DIR') ?? join(base, 'sessions');
}

/** Where OpenCode keeps its database. */
export function opencodeData(environment: AgentEnvironment): string {
  const data = variable(environment, 'XDG_DATA_HOME') ?? join(environment.home, '.local', 'share');
  return join(data, 'opencode');
}

/** Where Gemini CLI keeps one folder for each project. */
export function geminiSessions(environment: AgentEnvironment): string {
  return join(variable(environment, 'GEMINI_CLI_HOME') ?? environment.home, '.gemini', 'tmp');
}
