/**
 * What makes the list of sessions one that can be sorted, filtered and searched, and unpacks the page of a session that is
 * asked for. It reads and moves what is on the page already, and nothing else. Rows are shown in portions: laying thousands of
 * them out takes seconds.
 */
export const sessionsScript = `'use strict';
const table = document.getElementById('list');
const body = table.tBodies[0];
const rows = [...body.rows].map((row) => ({
  row,
  text: row.textContent.toLowerCase(),
  agent: row.dataset.agent,
  isBroken: row.dataset.broken === '1',
  values: row.dataset.values.split(' ').map(Number),
}));
const search = document.getElementById('search');
const agent = document.getElementById('agent');
const broken = document.getElementById('broken');
const count = document.getElementById('count');
const more = document.getElementById('more');
const step = Number(more.dataset.step);
let limit = step;
const show = () => {
  const words = search.value.toLowerCase().split(' ').filter((word) => word !== '');
  let found = 0;
  for (const each of rows) {
    const isFound =
      words.every((word) => each.text.includes(word)) &&
      (agent.value === '' || each.agent === agent.value) &&
      (!broken.checked || each.isBroken);
    if (isFound) found++;
    const isShown = isFound && found <= limit;
    if (each.row.hidden === isShown) each.row.hidden = !isShown;
  }
  count.textContent = found + ' of ' + rows.length;
  more.hidden = found <= limit;
};
const startOver = () => {
  limit = step;
  show();
};
const showMore = () => {
  limit += step;
  show();
};
for (const control of [search, agent, broken]) control.addEventListener('input', startOver);
more.addEventListener('click', showMore);
new IntersectionObserver((seen) => {
  if (seen.some((entry) => entry.isIntersecting)) showMore();
}, { rootMargin: '600px' }).observe(more);
const headings = [...table.tHead.rows[0].cells];
for (const heading of headings) {
  const button = heading.querySelector('button');
  if (button === null) continue;
  button.addEventListener('click', () => {
    const isDown = heading.getAttribute('aria-sort') !== 'descending';
    for (const other of headings) other.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
    const key = Number(button.dataset.key);
    const sign = isDown ? -1 : 1;
    rows.sort((left, right) => sign * (left.values[key] - right.values[key]));
    const list = document.createDocumentFragment();
    for (const { row } of rows) list.append(row);
    body.append(list);
    startOver();
  });
}
document.getElementById('tools').hidden = false;
show();
const all = document.getElementById('all');
const session = document.getElementById('session');
const pages = document.getElementById('pages');
const inPack = Number(pages.dataset.inPack);
const unpack = async (number) => {
  const pack = pages.content.children[Math.floor(number / inPack)];
  if (pack === undefined) return '';
  const bytes = Uint8Array.from(atob(pack.textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const texts = (await new Response(stream).text()).split('\\0');
  return texts[number % inPack] ?? '';
};
const { title } = document;
let scrolled = 0;
const openAsked = async () => {
  const asked = /^#s([0-9]+)$/.exec(location.hash);
  if (asked === null && location.hash !== '') return;
  const text = asked === null ? '' : await unpack(Number(asked[1]));
  const isOpen = text !== '';
  if (isOpen && session.hidden) scrolled = scrollY;
  session.innerHTML = text;
  session.hidden = !isOpen;
  all.hidden = isOpen;
  const name = document.getElementById('session-name');
  document.title = isOpen ? name.textContent : title;
  if (isOpen) {
    scrollTo({ top: 0, behavior: 'instant' });
    name.focus({ preventScroll: true });
  } else scrollTo({ top: scrolled, behavior: 'instant' });
};
addEventListener('hashchange', openAsked);
openAsked();
`;

/** SHA-256 of the script, in Base64. A test computes it again and says what it has to be. */
export const sessionsScriptHash = 'YGPOuQJ+pVtmUZUqv9sIB0NhNIvf2nVAxP26dWqUCF4=';
