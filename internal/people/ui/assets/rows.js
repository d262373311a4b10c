// A list of any length of which only the part that is seen is in the page. Each row
// has the same height, and at most one is open: one offset puts all in their place.
import { html, useEffect, useLayoutEffect, useRef, useState } from './lib.js';

const narrow = matchMedia('(max-width: 840px)');
export const isNarrow = () => narrow.matches;

// useNarrow is whether rows are folded.
export function useNarrow() {
  const [is, set] = useState(narrow.matches);
  useEffect(() => {
    const f = () => set(narrow.matches);
    narrow.addEventListener('change', f);
    return () => narrow.removeEventListener('change', f);
  }, []);
  return is;
}

const chunk = 100; // rows of a list that are drawn at once

// useMore draws a long list in chunks. It returns the number of rows to draw, the row at among them, and a ref for the
// element below them: more are drawn before it is seen.
/** @param {number} count @param {number} at @returns {[number, {current: any}]} */
export function useMore(count, at) {
  const [drawn, draw] = useState(chunk), end = useRef(), most = Math.max(drawn, at + chunk);
  useEffect(() => {
    if (!end.current) return undefined;
    const seen = new IntersectionObserver(([e]) => e.isIntersecting && draw(most + chunk),
      { root: scroller(), rootMargin: '800px' });
    seen.observe(end.current);
    return () => seen.disconnect();
  }, [most, count > most]);
  return [most, end];
}

const over = 12; // rows beyond each edge
const restTime = 150; // ms without scrolling, after which the rows stand in the order of reading

export const scroller = () => document.getElementById('main');

// Virtual renders the body of a table of count rows, each of the same height, of which at
// most one is open. row(i) returns {id, cells, class, tabindex, selected}, open(i) a row below it; added
// is how many rows were ever put before the first; end is called when the last are near.
//
// While the list is scrolled its rows stay where they are in the document and get another
// place and other texts: making rows costs more than a frame has. Once it rests they are
// put in the order of reading.
export function Virtual({ count, added, height, opened, openHeight, row, open, end, click }) {
  const body = useRef(), [first, setFirst] = useState(0), [shown, setShown] = useState(30),
    [moving, setMoving] = useState(false);
  const look = useRef(), top = useRef(0), size = useRef(0), focused = useRef(''), drawn = useRef(new Map());
  look.current = () => {
    const main = scroller(), above = main.scrollTop - top.current;
    const at = Math.max(0,
      Math.floor((opened >= 0 && above > (opened + 1) * height ? above - openHeight : above) / height));
    const n = Math.ceil(size.current / height) + 1;
    setFirst(Math.max(0, Math.min(at - over, count - 1)));
    setShown(n + 2 * over);
    if (end && at + 2 * n + 200 > count) end();
  };
  useEffect(() => {
    let frame = 0, rest = 0;
    const soon = () => { frame ||= requestAnimationFrame(() => { frame = 0; look.current(); }); };
    const scrolled = () => {
      setMoving(true);
      clearTimeout(rest);
      rest = setTimeout(() => setMoving(false), restTime);
      soon();
    };
    const main = scroller();
    main.addEventListener('scroll', scrolled, { passive: true });
    const sized = new ResizeObserver(() => { size.current = main.clientHeight; soon(); });
    sized.observe(main);
    return () => {
      main.removeEventListener('scroll', scrolled);
      sized.disconnect();
      cancelAnimationFrame(frame);
      clearTimeout(rest);
    };
  }, []);
  useLayoutEffect(() => { // while it is scrolled, nothing is measured: that would lay out the page twice a frame
    if (moving) return;
    top.current = place(body.current, scroller());
    size.current = scroller().clientHeight;
    look.current();
  });
  useLayoutEffect(() => { // a row that now has another text does not keep the focus of the one before
    const now = /** @type {HTMLElement} */ (document.activeElement);
    if (body.current.contains(now) && now.dataset.id && now.dataset.id !== focused.current) now.blur();
  });

  // A row that is as it was is the same object: it costs nothing to draw again.
  const stop = Math.min(count, first + shown), list = [], before = drawn.current;
  drawn.current = new Map();
  for (let i = first; i < stop; i++) {
    const r = row(i), slot = (((i - added) % shown) + shown) % shown,
      top = i * height + (opened >= 0 && i > opened ? openHeight : 0);
    let had = before.get(slot);
    if (!had || had.i !== i || had.top !== top || had.cells !== r.cells || had.class !== r.class
      || had.tabindex !== r.tabindex) {
      had = { ...r, i, slot, top,
        node: html`<tr role="row" key=${slot} data-id=${r.id} class=${r.class} tabindex=${r.tabindex}
          aria-selected=${r.selected} aria-rowindex=${i + 2} style=${{ top: top + 'px' }}>${r.cells}</tr>` };
    }
    drawn.current.set(slot, had);
    list.push(had);
  }
  if (moving) list.sort((a, b) => a.slot - b.slot);
  const nodes = list.map((r) => r.node), at = list.findIndex((r) => r.i === opened);
  if (at >= 0) nodes.splice(at + 1, 0, html`<tr role="row" key="open" class="open"
      style=${{ top: list[at].top + height + 'px', height: openHeight + 'px' }}>${open(opened)}</tr>`);
  return html`<tbody role="rowgroup" ref=${body} class=${moving ? 'moving' : ''} onClick=${click} onFocusIn=${(e) => {
    focused.current = e.target.dataset.id || '';
  }}
    style=${{ height: count * height + (opened >= 0 ? openHeight : 0) + 'px' }}>${nodes}</tbody>`;
}

// place is where an element begins in what the scroller shows.
const place = (el, main) => el.getBoundingClientRect().top - main.getBoundingClientRect().top + main.scrollTop;

// reveal scrolls so that row i, and what is open below it, is seen. top is what covers
// the beginning of the list: its heads.
export function reveal(body, i, height, opened, openHeight, top = 32) {
  const main = scroller();
  if (!body || !main) return;
  const y = place(body, main) + i * height + (opened >= 0 && opened < i ? openHeight : 0);
  const bottom = y + height + (opened === i ? openHeight : 0);
  if (y - top < main.scrollTop) main.scrollTop = y - top;
  else if (bottom > main.scrollTop + main.clientHeight) main.scrollTop = Math.min(y - top, bottom - main.clientHeight);
}
