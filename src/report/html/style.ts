/**
 * Colours by role, for light and dark screens. Tests hold their contrast to WCAG's 4.5 for text and 3 for graphics. The colours
 * of series tell them apart beside their marks and names, and were chosen to differ for the colour-blind too.
 */
export const lightPalette = {
  page: '#fafaf8',
  surface: '#ffffff',
  ink: '#1b1d21',
  muted: '#5c626b',
  line: '#e3e4e1',
  accent: '#0a5fb4',
  good: '#0b7550',
  warning: '#8a5a00',
  critical: '#b3261e',
  series: ['#0a62ad', '#c44d00', '#00795c', '#8745a8', '#7d6300', '#c02c6b', '#39788c', '#6a6f78'],
};

export const darkPalette: typeof lightPalette = {
  page: '#131518',
  surface: '#1a1d21',
  ink: '#e9ebee',
  muted: '#a2a8b1',
  line: '#2e3238',
  accent: '#76b7ff',
  good: '#4cc79a',
  warning: '#e3b341',
  critical: '#ff8a80',
  series: ['#5eaef5', '#ff9152', '#35c69c', '#c893ea', '#d9b341', '#ff83b0', '#7fc1d6', '#a5abb5'],
};

/** How many series have a colour of their own. */
export const seriesColours = lightPalette.series.length;

function variables({ series, ...colours }: typeof lightPalette): string {
  const named = Object.entries(colours).map(([name, colour]) => `--${name}:${colour}`);
  const numbered = series.map((colour, index) => `--s${index}:${colour}`);
  return [...named, ...numbered].join(';');
}

const seriesRules = lightPalette.series.map((_, index) => `.s${index}{--own:var(--s${index})}`).join('');

const RULES = `
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.55 Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
main,header.top,footer{max-width:1120px;margin:0 auto;padding:0 32px}
header.top{padding-top:40px}
footer{padding-top:24px;padding-bottom:48px;color:var(--muted);font-size:13px}
h1,h2,h3{line-height:1.25;letter-spacing:-.012em;font-weight:650;margin:0;overflow-wrap:anywhere}
h1{font-size:28px;letter-spacing:-.02em}
h2{font-size:19px}
h3{font-size:15px}
p{margin:0;max-width:72ch}
a{color:var(--accent);text-underline-offset:3px;text-decoration-thickness:1px}
:focus-visible{outline:2px solid var(--accent);outline-offset:3px;border-radius:4px}
code,.path{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
code,.path{overflow-wrap:anywhere}
h1 .path,summary .path{font:inherit}
.name{color:var(--muted);font-size:13px;letter-spacing:.02em;margin-bottom:6px}
.lead{color:var(--muted);margin-top:8px;max-width:none}
.note{color:var(--muted);font-size:13px;margin-top:10px}
.skip{position:absolute;left:-9999px}
.skip:focus{left:16px;top:12px;background:var(--surface);padding:8px 12px;z-index:1}
section{background:var(--surface);border:1px solid var(--line);border-radius:12px;padding:26px 28px 28px;margin:20px 0}
section>h2+p{color:var(--muted);margin-top:6px}
section section,section .stats{margin:22px 0}
section section{border:0;padding:0}
section section:last-child{margin-bottom:0}
.stats{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:20px 28px;margin:26px 0 28px}
.stats div{border-top:2px solid var(--line);padding-top:10px}
.stats dt{color:var(--muted);font-size:13px}
.stats dd{margin:2px 0 0;font-size:23px;font-weight:600;letter-spacing:-.02em;line-height:1.25}
.stats dd small{display:block;font-size:13px;font-weight:400;letter-spacing:0;color:var(--muted);margin-top:2px}
.ok{color:var(--good)}.warning{color:var(--warning)}.critical{color:var(--critical)}
.stats dd small.ok{color:var(--good)}.stats dd small.warning{color:var(--warning)}.stats dd small.critical{color:var(--critical)}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:8px 40px}
.pair>*{min-width:0}
section h3{margin-top:24px}
figure{margin:18px 0 0;min-width:0}
figcaption{font-weight:600;font-size:14px}
figcaption small{display:block;font-weight:400;font-size:13px;color:var(--muted)}
.multiples{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,300px),1fr));gap:8px 36px}
.plot{padding:30px 10px 48px 44px}
.plot svg,.key svg{display:block;overflow:visible}
svg text{font-size:12px;fill:var(--muted)}
svg text.end{text-anchor:end}
svg text.middle{text-anchor:middle}
svg text.halo{paint-order:stroke;stroke:var(--surface);stroke-width:4px;stroke-linejoin:round}
.grid line{stroke:var(--line)}
.grid line.base{stroke:var(--muted)}
${seriesRules}
.curve{fill:none;stroke:var(--own);stroke-width:2;stroke-linejoin:round;stroke-linecap:round;vector-effect:non-scaling-stroke}
.area{fill:var(--own);opacity:.1}
.mark,.whisker,.seg{fill:var(--own);stroke:var(--own)}
.mark{stroke:var(--surface);stroke-width:1.5}
.whisker{stroke-width:1.5;opacity:.55}
.seg{stroke:var(--surface);stroke-width:1.5}
.meter .seg{stroke:none}
.dark{--own:var(--ink)}
.quiet{--own:var(--muted)}
.dashed{stroke-dasharray:6 4}
.dotted{stroke-dasharray:1.5 4}
.limit{stroke:var(--muted);stroke-width:1.25}
.limit.window{stroke:var(--critical)}
.limit.trigger{stroke:var(--warning);stroke-dasharray:6 4}
.limit.target{stroke:var(--good);stroke-dasharray:2 4}
.cut{stroke:var(--ink);stroke-width:1;stroke-dasharray:3 3;opacity:.6}
.cutmark{fill:var(--ink)}
.bar{height:38px;margin-top:18px;border-radius:7px;overflow:hidden}
.bar svg{display:block}
.bar text{fill:var(--surface);font-weight:600}
.meter{display:block;width:100%;height:8px;min-width:60px;margin-top:8px;border-radius:3px;background:var(--line)}
.metered{width:30%}
.track{fill:var(--line)}
.key{list-style:none;display:flex;flex-wrap:wrap;gap:6px 22px;margin:16px 0 0;padding:0;font-size:13px}
.key li{display:flex;align-items:center;gap:8px}
.swatch{display:inline-block;width:11px;height:11px;border-radius:3px;vertical-align:-1px;margin-right:9px;background:var(--own);print-color-adjust:exact;forced-color-adjust:none}
.scroll{overflow-x:auto;margin-top:14px}
table{border-collapse:collapse;width:100%;font-size:14px}
caption{text-align:left;color:var(--muted);font-size:13px;padding-bottom:6px}
th,td{text-align:left;vertical-align:top;padding:7px 18px 7px 0;border-bottom:1px solid var(--line)}
tr>:last-child{padding-right:2px}
tbody tr:last-child>*{border-bottom:0}
th{font-weight:600}
thead th{color:var(--muted);font-weight:500;font-size:13px;vertical-align:bottom}
tbody th{font-weight:500}
.n{text-align:right;white-space:nowrap}
td small,th small{display:block;color:var(--muted);font-size:12.5px;font-weight:400;white-space:normal}
.n small{white-space:nowrap}
.nowrap{white-space:nowrap}
.group th{padding-top:22px;font-weight:650}
.wide{min-width:760px}
.wide tbody th[scope=row]{position:sticky;left:0;background:var(--surface)}
.wide caption span{display:block;position:sticky;left:0;width:fit-content;max-width:min(100%,calc(100vw - 70px))}
details{margin-top:14px}
details.session{margin:0;border-top:1px solid var(--line);padding:6px 0}
section>:is(h2,p)+details.session{margin-top:16px}
summary{cursor:pointer;color:var(--accent);font-size:14px;padding:4px 0;width:fit-content}
details.session>summary{font-size:15px;font-weight:600;overflow-wrap:anywhere;width:auto;color:var(--ink)}
.defs{position:absolute}
.filled{fill:var(--own)}
.tools{display:flex;flex-wrap:wrap;gap:12px 20px;align-items:center;margin-top:16px;font-size:14px}
.tools[hidden]{display:none}
.tools output{color:var(--muted)}
.tools :is(input[type=search],select){font:inherit;color:inherit;background:var(--page);border:1px solid var(--line);border-radius:7px;padding:5px 9px;max-width:100%}
.tools input[type=search]{width:min(340px,60vw)}
thead button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer;text-decoration:underline dotted;text-underline-offset:4px}
[aria-sort=descending] button::after{content:" \\2193"}
[aria-sort=ascending] button::after{content:" \\2191"}
.list{table-layout:fixed;min-width:980px}
.list th{width:92px}
.list th:first-child{width:140px}
.list th:nth-child(3){width:112px}
.list th:nth-last-child(-n+2){width:130px}
.list .prompt{width:auto}
.list td{overflow-wrap:anywhere}
.words{margin:8px 0 0;font-size:14px}.words dt{font-weight:600;margin-top:8px}.words dd{margin:0;color:var(--muted);max-width:72ch}
pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;margin:0;white-space:pre-wrap;overflow-wrap:anywhere}
.command{background:var(--page);border:1px solid var(--line);border-radius:8px;padding:10px 14px;margin-top:6px;user-select:all}
article>h2{margin-top:10px;font-size:22px}
article>h2:focus-visible{outline:none}
.memory{margin-top:10px}
.memory p,.quotation p{max-width:96ch;white-space:pre-wrap;overflow-wrap:anywhere}
.memory p{margin-top:3px}
section section .memory p{padding-inline-start:1.1em;text-indent:-1.1em}
section section .memory .more{text-indent:0;margin-top:0}
.memory p:empty{height:.7em}
.memory .turn{color:var(--muted);margin-top:12px}
.memory pre{color:var(--muted);margin:2px 0 4px 1.4em}
.memory pre.code{color:inherit;white-space:pre;overflow-x:auto;background:var(--page);border:1px solid var(--line);border-radius:8px;padding:12px 14px;margin:4px 0 0}
.memory summary small{color:var(--muted)}
.quotation{margin:12px 0 18px;border-inline-start:3px solid var(--line);padding-inline-start:14px}
@media (max-width:640px){
main,header.top,footer{padding-left:16px;padding-right:16px}
header.top{padding-top:24px}
section{padding:20px 16px 22px;margin:14px 0;border-radius:10px}
h1{font-size:23px}
.stats{grid-template-columns:1fr 1fr;gap:16px 20px}
.stats dd{font-size:20px}
.roomy{display:none}
th,td{padding-right:14px}
}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media print{section{break-inside:avoid;border:0;padding:0}details{display:block}}
`;

/** The stylesheet of every page. The same for all of them, so that a policy can name it by its hash. */
export const pageStyle = [
  `:root{color-scheme:light dark;${variables(lightPalette)}}`,
  `@media (prefers-color-scheme:dark){:root{${variables(darkPalette)}}}`,
  RULES.trim().replaceAll('\n', ''),
].join('');

/** SHA-256 of the stylesheet, in Base64. A test computes it again and says what it has to be. */
export const pageStyleHash = '8op44sFLsvrZAXNveJP6F7IIGUBiHiKNQtiDPhrqTRY=';
