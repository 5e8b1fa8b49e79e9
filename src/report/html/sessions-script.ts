/**
 * What makes the list of sessions one that can be sorted, filtered and searched. It reads and moves rows of the table that is
 * there already, and nothing else. Rows are shown in portions: laying thousands of them out takes seconds.
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
`;

/** SHA-256 of the script, in Base64. A test computes it again and says what it has to be. */
export const sessionsScriptHash = '1RW2dDQ3WMAWFiVgxx/XJmitXaqzwvb2QStJt4IBeqA=';
