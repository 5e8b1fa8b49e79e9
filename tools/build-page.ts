/** Builds the dashboard's page into one HTML file: nothing is loaded, and only its own script and style may run. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rolldown } from 'rolldown';
import { darkPalette, lightPalette } from '../src/report/html/style.ts';

/** In the order in which later ones win. */
const STYLES = ['base', 'numbers', 'conversation', 'narrow'];
const OUTPUT = 'dist/web/dashboard.html';

/** The colours of the reports. */
function variables({ series, ...colours }: typeof lightPalette): string {
  const named = Object.entries(colours).map(([name, colour]) => `--${name}:${colour}`);
  return [...named, ...series.map((colour, index) => `--s${index}:${colour}`)].join(';');
}

async function script(): Promise<string> {
  const bundle = await rolldown({
    input: 'web/main.tsx',
    platform: 'browser',
    tsconfig: 'web/tsconfig.json',
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  if (output.length !== 1) throw new Error(`the page's script has ${output.length} parts instead of one`);
  // Inside HTML nothing may look like the end of the script.
  return output[0].code.trim().replaceAll('</script', '<\\/script');
}

function style(): string {
  const own = STYLES.map((name) => readFileSync(`web/style/${name}.css`, 'utf8')).join('');
  const chart = readFileSync('node_modules/uplot/dist/uPlot.min.css', 'utf8');
  return [
    `:root{color-scheme:light dark;${variables(lightPalette)}}`,
    `@media (prefers-color-scheme:dark){:root{${variables(darkPalette)}}}`,
    chart.trim(),
    own.replaceAll(/\n\s*/g, '\n').trim(),
  ].join('\n');
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

const [code, sheet] = [await script(), style()];
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(code)}`,
  `style-src ${hashOf(sheet)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>roundfold</title>
<style>${sheet}</style>
</head>
<body>
<div id="app"></div>
<script type="module">${code}</script>
</body>
</html>
`;
mkdirSync('dist/web', { recursive: true });
writeFileSync(OUTPUT, page);
