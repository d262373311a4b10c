// The line of the search: its words, completed while typing; views that were saved; and what it finds as a file.
import { html, signal, useEffect, useRef, useState } from './lib.js';
import { chart, facets, feed, kinds, version } from './feed.js';
import { Refusal, ask } from './net.js';
import { say } from './parts.js';
import { go, put } from './state.js';
import { visible } from './visible.js';
import { keys as keys_, number, outcomes, parse, plural, quoted, tokens } from './words.js';

// Views that a person has named stay in this browser, under the address of their search.
const storeKey = 'hookd views';
const views_ = signal((() => { try {
  return JSON.parse(localStorage.getItem(storeKey)) || [];
} catch { return []; } })());
function keepViews(list) {
  views_.value = list;
  try { localStorage.setItem(storeKey, JSON.stringify(list)); } catch { /* no room: they last as long as the tab */ }
}
export function Saved({ text: here, kind }) {
  const known = views_.value.some((v) => v.q === here && v.kind === kind);
  const open = (e) => {
    const v = views_.value[+e.target.value - 1];
    if (e.target.value === 'save') keepViews([...views_.value, { q: here, kind: kind }].slice(-20));
    else if (e.target.value === 'drop') keepViews(views_.value.filter((x) => x.q !== here || x.kind !== kind));
    else if (v) go('stream', { q: v.q, kind: v.kind === 'decisions' ? '' : v.kind });
    e.target.value = '';
  };
  return html`<select aria-label="Saved views" onChange=${open}>
    <option value="">Views${views_.value.length ? ' · ' + views_.value.length : ''}</option>
    ${views_.value.map((v, i) => html`<option value=${i + 1}>${v.q || 'all'} (${v.kind})</option>`)}
    ${known ? html`<option value="drop">Forget this one</option>`
      : here && html`<option value="save">Save this search</option>`}</select>`;
}

// Export writes what fits the search, not only what is read already.
const mostExported = 50000;
const columns = ['time', 'agent_name', 'dialect', 'session_id', 'cwd', 'tool', 'subject', 'outcome', 'decision',
  'reason', 'decided_by',
  'duration_ms', 'event_id', 'run_id', 'hook', 'result', 'event'];
// A cell that a spreadsheet would take for a formula gets a ' before it.
const cell = (v) => {
  const t = visible(v === undefined ? '' : Array.isArray(v) ? v.join(' ') : String(v));
  return '"' + (/^[=+\-@\t\r]/.test(t) && isNaN(t) ? "'" : '') + t.replace(/"/g, '""') + '"';
};
async function exported(as, text, kind) {
  const k = kinds[kind], { query, bad } = parse(text, kind), rows = [];
  if (bad) return 0;
  for (let next = ''; rows.length < mostExported;) {
    const a = await ask(k.path, { query: { ...query, [k.page]: next, limit: 1000 } });
    rows.push(...a[k.list]);
    next = a.next;
    if (!next) break;
  }
  const used = columns.filter((c) => rows.some((r) => r[c] !== undefined));
  const body = as === 'json' ? JSON.stringify(rows, null, 1)
    : [used.join(','), ...rows.map((r) => used.map((c) => cell(r[c])).join(','))].join('\r\n');
  const a = document.createElement('a');
  a.href = URL.createObjectURL(new Blob([body], { type: as === 'json' ? 'application/json' : 'text/csv' }));
  a.download = `hookd-${kind}.${as}`;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60000);
  return rows.length;
}
export function Export({ text, kind }) {
  const pick = async (e) => {
    const as = e.target.value;
    e.target.value = '';
    try {
      say(plural(await exported(as, text, kind), 'row') + ' written to a file', true);
    } catch (err) { if (!(err instanceof Refusal)) throw err; say(err.message, true); }
  };
  return html`<select aria-label="Export" onChange=${pick}><option value="">Export</option>
    <option value="csv">CSV</option><option value="json">JSON</option></select>`;
}

export function Search({ input, text, kind, ofFleet }) {
  const [draft, write] = useState(text), back = useRef();
  const timer = useRef(0);
  useEffect(() => { if (document.activeElement !== input.current) write(text); }, [text]);
  const type = (e) => {
    const value = e.target.value;
    write(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => put({ q: value.trim(), open: '', at: '' }), 200);
  };
  const enter = (e) => {
    if (e.key !== 'Enter') return;
    clearTimeout(timer.current);
    put({ q: e.target.value.trim(), open: '', at: '' });
    input.current.blur();
  };
  const follow_ = () => { if (back.current) back.current.scrollLeft = input.current.scrollLeft; };
  const f = facets.value, c = chart.value;
  version.value; // so that the count of rows is that of now
  const kept = ofFleet ? '' : kind !== 'decisions' ? plural(feed.rows.length, 'row') + (feed.whole ? '' : ' read')
    : f && number(f.total) + (text && c && c.counts.total > f.total ? ' of ' + number(c.counts.total) : '') + ' kept' +
      (f.tried ? `, ${number(f.tried)} tried` : '') + (f.done ? '' : ' so far');
  return html`<label class="search"><span class="t" aria-hidden="true">/</span><span class="typed">
    <span class="over" ref=${back} aria-hidden="true">${painted(draft)}</span>
    <input ref=${input} type="text" value=${draft} onInput=${type} onKeyDown=${enter} onScroll=${follow_}
      spellcheck="false" autocomplete="off" autocapitalize="off"
      aria-label="Search" placeholder=${'outcome: tool: agent: guard: result: took:>1s undo:yes path: host: -word'}
        list="words" /></span>
    <datalist id="words">${complete(draft, kind, f)}</datalist><span class="end">${kept || ' '}</span></label>`;
}

export const sorted = (map) => Object.entries(map).map(([k, n]) => [k.slice(1), n])
  .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
const kindWords = ['tool.before', 'tool.after', 'prompt.submit', 'permission.request', 'turn.stop', 'subagent.stop'];

// complete offers the search with its last word completed: words of the search, and values that were counted.
function complete(draft, kind, f) {
  const cut = Math.max(draft.lastIndexOf(' ') + 1, 0), head = draft.slice(0, cut), word = draft.slice(cut);
  const minus = word[0] === '-' ? '-' : '', part = word.slice(minus.length), colon = part.indexOf(':');
  if (!word || draft.length > 200) return '';
  const counted = new Map([['tool', 'tools'], ['agent', 'agents'], ['hook', 'hooks'], ['guard', 'hooks']]);
  const values = new Map(Object.entries({
    decision: outcomes, outcome: outcomes, took: ['>100ms', '>1s', '>10s'], rewrote: ['yes'], shadow: ['yes'],
      undo: ['yes', 'no'], result: ['ran', 'failed', 'none'], kind: kindWords,
    since: ['15m', '1h', '1d', '7d'],
  }));
  const key = part.slice(0, colon);
  const list = colon < 0 ? [...keys_[kind], 'outcome', 'guard', 'kind'].map((k) => k + ':')
    : (values.get(key) || (counted.has(key) && f ? sorted(f[counted.get(key)]).map(([name]) => name) : []))
      .map((v) => key + ':' + quoted(v));
  return list.filter((w) => w.startsWith(part) && w !== part).slice(0, 12)
    .map((w) => html`<option value=${head + minus + w} />`);
}

// painted marks the search words in the text, each letter in its place.
function painted(value) {
  const out = [];
  let at = 0;
  for (const t of tokens(value)) {
    if (!t.key) continue;
    if (t.at > at) out.push(value.slice(at, t.at));
    const cut = t.text.indexOf(':') + 1;
    out.push(html`<span class="tok"><i>${t.text.slice(0, cut)}</i>${t.text.slice(cut)}</span>`);
    at = t.at + t.text.length;
  }
  out.push(value.slice(at));
  return out;
}

