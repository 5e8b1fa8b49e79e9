/** Names that belong to no project: whoever needs one knows it anyway. */
const WORDS = `
  dev/null origin/main origin/master usr/bin usr/local bin/bash bin/sh HEAD~1
  package.json package-lock.json tsconfig.json node_modules README README.md LICENSE CHANGELOG.md CONTRIBUTING.md
  SECURITY.md Makefile Dockerfile Cargo.toml go.mod go.sum pyproject.toml requirements.txt setup.py index.ts index.js
  main.go main.py __init__.py .gitignore .env CLAUDE.md AGENTS.md
  application/json text/plain text/html utf-8 UTF-8 localhost 127.0.0.1 0.0.0.0
  JSON YAML TOML HTML HTTP HTTPS POST PATCH DELETE NULL TRUE FALSE TODO FIXME NOTE WARNING ERROR INFO DEBUG
  MUST NEVER ALWAYS ONLY IMPORTANT SELECT FROM WHERE EOF PATH HOME
  TypeScript JavaScript GitHub GitLab Node.js macOS python3 toString
`;

const ROUND_NUMBERS = [1000, 1024, 1200, 1500, 2000, 2048, 3000, 4000, 4096, 5000, 8000, 8080, 8192, 10_000];
const YEARS = Array.from({ length: 20 }, (_, year) => 2015 + year);

/** What counts for nothing where nothing is known about the projects that sessions work on. */
export const commonNames: ReadonlySet<string> = new Set([
  ...WORDS.split(/\s+/).filter((word) => word !== ''),
  ...[...ROUND_NUMBERS, ...YEARS].map(String),
]);
