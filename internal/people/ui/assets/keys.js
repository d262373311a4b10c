// The keys. A view registers what it does with on(); the handler registered last comes first.
import { html, signal, useEffect, useLayoutEffect, useRef } from './lib.js';
import { take } from './parts.js';
import { go, put, route, tabs } from './state.js';

export const sheet = signal(false);
const handlers = [];
let changed = 0; // when a list last changed under the keys

// on registers {key: fn} while a component is shown.
export function on(map) {
  handlers.push(map);
  return () => handlers.splice(handlers.indexOf(map), 1);
}
// useKeys registers the keys of a component while it is shown.
export function useKeys(map) {
  const now = useRef(map);
  now.current = map;
  useLayoutEffect(() => on(new Proxy({}, { get: (_, key) => now.current[key] })), []);
}

// useRows lets keys move over the rows of a list, whose choice is the parameter sel of the address:
// [index of the chosen row, select]. select chooses a row, and opens or closes it. Escape empties the
// first of the parameters clear that is set; id names a row, and y what is copied of it.
/** @param {any[]} rows @param {(r: any) => string} id @param {RowKeys} keys
 * @returns {[number, (i: number, open?: boolean) => void]} */
export function useRows(rows, id, { sel = 'sel', last = 0, enter, clear = [sel], y }) {
  const now = () => rows.findIndex((r) => id(r) === route.value.p[sel]);
  const select = (i, open) => {
    const r = rows[Math.max(0, Math.min(i, rows.length - 1))];
    if (!r) return;
    put({ [sel]: id(r), ...(open === undefined ? {} : { open: open ? id(r) : '' }) });
    setTimeout(() => {
      /** @type {HTMLElement | null} */
      const row = document.querySelector(`main tr[data-id="${CSS.escape(id(r))}"]`);
      row?.focus({ preventScroll: true });
      row?.scrollIntoView({ block: 'nearest' });
    });
  };
  const down = () => select(now() + 1), up = () => select(now() < 0 ? last : now() - 1);
  useKeys({
    j: down, ArrowDown: down, k: up, ArrowUp: up, g: () => select(0), G: () => select(rows.length - 1),
    Enter: () => enter(now()), Escape: () => escape(clear), y: () => {
      const r = rows[now()], text = y && y(r);
      return !!text && take(text);
    },
  });
  return [now(), select];
}
// escape empties the first of the parameters that is set; false = none is.
export function escape(list) {
  const name = list.find((n) => route.value.p[n]);
  return name ? put({ [name]: '' }) : false;
}

// press clicks the button that a selector finds; false = there is none that can be clicked.
export function press(selector, within = document) {
  const button = /** @type {HTMLButtonElement | null} */ (within.querySelector(selector));
  if (!button || button.disabled) return false;
  button.click();
  return true;
}

// moved notes that rows have moved. For a moment after it the keys that change something do
// nothing: they could meet another row than the one that was looked at.
export function moved() { changed = Date.now(); }
export const movedAt = () => changed;
const settled = () => Date.now() - changed > 500;
const acting = new Set(['a', 'd', 's', 'm', 'u', 'p', 'x', 'z']);

/** @param {any} e */
const typing = (e) => e.target.closest?.('input, textarea, select, [contenteditable], .code');

addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing || e.defaultPrevented) return;
  if (e.key === 'Escape' && sheet.value) { sheet.value = false; e.preventDefault(); return; }
  if (sheet.value && e.key !== '?') return;
  if (typing(e)) {
    if (e.key !== 'Escape') return;
    /** @type {HTMLElement} */ (e.composedPath()[0]).blur(); // the editor is in a shadow tree
    e.preventDefault();
    return;
  }
  if ((e.key === 'Enter' || e.key === ' ') && /** @type {any} */ (e.target).closest?.('a, button, summary')) return;
  if (e.key >= '1' && e.key <= String(tabs.length)) {
    const view = tabs[+e.key - 1];
    go(view, kept(view));
    e.preventDefault();
    return;
  }
  if (e.key === '?') { sheet.value = !sheet.value; e.preventDefault(); return; }
  if (acting.has(e.key) && (e.repeat || !settled())) { e.preventDefault(); return; }
  for (let i = handlers.length - 1; i >= 0; i--) {
    const fn = handlers[i][e.key];
    if (fn && fn(e) !== false) { e.preventDefault(); return; }
  }
});

// lastOf has the parameters of each view when it was left, so that its key returns to them.
const lastOf = Object.create(null);
export function keep() { lastOf[route.value.view] = route.value.p; }
export const kept = (view) => lastOf[view] || {};

const rows = [
  ['1 – 6', 'Now, Calls, Session, Guards, Undo, Learn'],
  ['j k', 'next and previous row; also ↓ ↑'],
  ['g G', 'first and last row'],
  ['Enter', 'open the row, or follow its link'],
  ['Esc', 'close the row; once more clears the search'],
  ['/', 'search'],
  ['f', 'follow what is new'],
  ['Space', 'pause'],
  ['a d', 'allow and deny what has the focus'],
  ['s m', 'allow in the session, deny with a message'],
  ['u p', 'of an open call: undo it, permit it once'],
  ['x z', 'of an open call: false alarm, snooze its guard'],
  ['w', 'of an open call: it alone, with an address of its own'],
  ['e w', 'of a guard: edit it, and ask it about the past'],
  ['y', 'copy the id'],
  ['?', 'this sheet'],
];
const searches = [
  ['rm -rf', 'text in what it was about, or in the reason'],
  ['tool:Bash', 'calls of a tool; tool:Bash,Write of either'],
  ['decision:deny', 'or outcome: deny, ask, contain, rewrite, allow, none, disobeyed, "not asked"'],
  ['agent:codex', 'an agent, by its name or its id'],
  ['hook:secret-guard', 'or guard: what a hook decided'],
  ['cwd:/src/app', 'a folder, and what is below it'],
  ['-tool:Read -"vitest"', 'leaves out calls of a tool, and calls with a text'],
  ['took:>1s', 'hookd and people took longer; took:<20ms'],
  ['result:failed', 'how the call ended: ran, failed or none; undo:yes where files were kept'],
  ['path:src/app', 'a path, and host:github.com a host, that it names'],
  ['rewrote:yes', 'another input ran; rewrote:npm where it has that text'],
  ['since:14:00', 'until: too; a time, a date, or how long ago as 30m, 2h, 7d'],
  ['shadow:yes', 'where a hook in the shadow would have said something'],
];

// Sheet shows all keys and all words of the search.
export function Sheet() {
  const ref = useRef();
  useEffect(() => {
    const d = ref.current;
    if (sheet.value && d && !d.open) d.showModal();
  }, [sheet.value]);
  if (!sheet.value) return '';
  const part = (title, list, tag) => html`<section><h2>${title}</h2>
    <dl>${list.map(([k, v]) => html`<dt>${tag(k)}</dt><dd>${v}</dd>`)}</dl></section>`;
  return html`<dialog ref=${ref} class="sheet" aria-label="Keys and search words" onClose=${() => {
    sheet.value = false;
  }}
      onClick=${(e) => e.target === ref.current && (sheet.value = false)}>
    <div>${part('Keys', rows, (k) => k.split(' ').map((c) => html`<kbd>${c}</kbd> `))}
    ${part('Words of the search', searches, (k) => html`<code>${k}</code>`)}</div>
    <p class="t"><kbd>Esc</kbd> closes this.</p></dialog>`;
}
