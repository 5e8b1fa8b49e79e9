/** `j` and `k` move through what can be opened, `esc` goes back, `1` to `3` change the view. Enter is the browser's own. */
export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const view = VIEWS.get(event.key);
    if (event.key === 'j') move(1);
    else if (event.key === 'k') move(-1);
    else if (event.key === 'Escape') goUp();
    else if (view !== undefined) location.hash = view;
    else return;
    event.preventDefault();
  });
}

const VIEWS = new Map([
  ['1', '#/'],
  ['2', '#/money'],
  ['3', '#/health'],
]);

function move(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const current = rows.indexOf(document.activeElement as HTMLElement);
  const next = current === -1 ? (by === 1 ? 0 : rows.length - 1) : current + by;
  rows[Math.min(rows.length - 1, Math.max(0, next))]?.focus();
}

/** From a fold to its conversation, from there to the list. */
function goUp(): void {
  const [view, id, part] = location.hash.replace(/^#\/?/, '').split('/');
  location.hash = view === 'c' && part !== undefined && part !== '' ? `#/c/${id}` : '#/';
}
