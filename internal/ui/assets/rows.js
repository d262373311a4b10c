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

const over = 12; // rows beyond each edge

export const scroller = () => document.getElementById('main');

// Virtual renders the body of a table. height(open) of a row, the place of the open one
// or -1, row(i), open(i); end is called when the last rows are near.
export function Virtual({ count, height, opened, openHeight, row, open, end, click, cols }) {
  const body = useRef(), [first, setFirst] = useState(0), [shown, setShown] = useState(30);
  const look = useRef();
  look.current = () => {
    const main = scroller(), el = body.current;
    if (!el || !main) return;
    const above = main.scrollTop - place(el, main);
    const at = Math.max(0, Math.floor((opened >= 0 && above > (opened + 1) * height ? above - openHeight : above) / height));
    const n = Math.ceil(main.clientHeight / height) + 1;
    setFirst(Math.max(0, Math.min(at - over, count - 1)) & ~3);
    setShown(n + 2 * over + 4);
    if (end && at + 2 * n + 200 > count) end();
  };
  useEffect(() => {
    let frame = 0;
    const soon = () => { frame ||= requestAnimationFrame(() => { frame = 0; look.current(); }); };
    const main = scroller();
    main.addEventListener('scroll', soon, { passive: true });
    addEventListener('resize', soon);
    return () => { main.removeEventListener('scroll', soon); removeEventListener('resize', soon); cancelAnimationFrame(frame); };
  }, []);
  useLayoutEffect(() => { look.current(); }, [count, opened, height]);

  const stop = Math.min(count, first + shown);
  const before = first * height + (opened >= 0 && opened < first ? openHeight : 0);
  const after = (count - stop) * height + (opened >= stop ? openHeight : 0);
  const list = [];
  for (let i = first; i < stop; i++) {
    list.push(row(i));
    if (i === opened) list.push(open(i));
  }
  return html`<tbody role="rowgroup" ref=${body} onClick=${click}>
    <tr class="pad" aria-hidden="true" key="before" style=${{ height: before + 'px' }}><td colspan=${cols} /></tr>
    ${list}
    <tr class="pad" aria-hidden="true" key="after" style=${{ height: after + 'px' }}><td colspan=${cols} /></tr></tbody>`;
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
