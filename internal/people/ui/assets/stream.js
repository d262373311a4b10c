// Stream: decisions, runs or events, newest first. One search line is the state; facets,
// the chart and links write words into it.
import { computed, html, signal, useEffect, useRef, useState } from './lib.js';
import { asks } from './asks.js';
import { Call, linesOf, useStory } from './call.js';
import { Axis, Bars } from './chart.js';
import { Fleet, fleet } from './fleet.js';
import { escape, keep, moved, useKeys } from './keys.js';
import { Refusal, ask, gaps, hear, missing, segment } from './net.js';
import { Bad, Clock, Empty, Icon, Late, Ran, State, Td, Took, What, Who, Why, copy, failed, resultOf, say, stateOf, take } from './parts.js';
import { Virtual, isNarrow, reveal, scroller, useNarrow } from './rows.js';
import { go, link, put, route } from './state.js';
import { visible } from './visible.js';
import { agentLabel, agentName, fits, has, hhmm, hhmmss, keys as keys_, number, outcomes, parse, plural, quoted, rare, set, short, span, stamp, toggle, tokens, when, whole } from './words.js';

const kinds = {
  decisions: { path: 'v1/decisions', list: 'decisions', page: 'after', id: 'event_id', record: 'verdict', word: 'decision' },
  runs: { path: 'v1/runs', list: 'runs', page: 'before', id: 'run_id', record: 'run', word: 'run' },
  events: { path: 'v1/accepted', list: 'events', page: 'before', id: 'event_id', record: 'event', word: 'event' },
};
const mostRows = 200000; // in memory; older ones are read again
const mostFollowed = 5000; // while what is new is followed
const mostHeld = 2000; // new ones that wait to be shown; beyond, the list is read again

// feed has the rows of one search. It changes many times a second; version changes at most
// once a frame, so that the rows are drawn once.
const feed = { kind: '', text: '', query: {}, rows: [], held: [], waiting: 0, next: 0, loading: false, err: null, whole: false, added: 0, place: 0, abort: null, fresh: new Set(), stale: false, behind: false, read: 0, gaps: new Set() };
const version = signal(0);
const paused = signal(false);
let frame = 0;
function show() { frame ||= requestAnimationFrame(() => { frame = 0; version.value++; }); }

// start reads a search from its newest row, or from the one with a number. The rows of
// the same search stay until the first answer: it may not come while hookd is away.
function start(kind, text, place = 0) {
  feed.abort?.abort();
  const { query, bad } = parse(text, kind);
  feed.stale = !bad && !place && !feed.place && kind === feed.kind && text === feed.text && feed.rows.length > 0;
  Object.assign(feed, { kind, text, query, rows: feed.stale ? feed.rows : [], held: [], waiting: 0, next: 0, err: bad ? new Error(bad) : null, whole: false, place, abort: new AbortController(), loading: false, behind: false, read: Date.now() });
  feed.fresh.clear();
  if (!feed.stale) feed.gaps.clear();
  if (bad) { feed.whole = true; show(); return; }
  if (place) feed.next = place + 1;
  older(100);
}

// older reads what comes after the last row. A long history is searched in parts: an
// answer may have no rows and still not be the last.
async function older(limit = 1000) {
  if (!feed.kind || feed.loading || feed.whole || !feed.stale && feed.rows.length >= mostRows) return;
  const k = kinds[feed.kind], { abort } = feed;
  feed.loading = true;
  try {
    for (let tries = 0, got = 0; got < limit / 2 && tries < 200; tries++) {
      const answer = await ask(k.path, { query: { ...feed.query, [k.page]: feed.next || '', limit }, signal: abort.signal });
      if (feed.stale) { Object.assign(feed, { rows: [], stale: false }); feed.gaps.clear(); }
      const known = tries || feed.rows.length ? new Set(feed.rows.slice(-50).map((r) => r.seq)) : new Set();
      const list = answer[k.list].filter((r) => !known.has(r.seq));
      for (const r of list) feed.rows.push(r);
      unhold(list);
      got += list.length;
      feed.next = answer.next || 0;
      if (answer.recent) feed.err = new Error('The history cannot be read now: these are the last of it, from memory.');
      if (!feed.next) { feed.whole = true; break; }
      weave();
      show();
    }
  } catch (err) {
    if (err.name === 'AbortError') return;
    if (!(err instanceof Refusal)) throw err;
    if (!feed.stale) feed.err = err;
  }
  feed.loading = false;
  weave();
  if (following && !paused.value) release(); // what came while it was read
  show();
}

// following: new rows are put on top as they arrive. Not while a person reads further down.
let following = true;
function follow() {
  following = true;
  paused.value = false;
  put({ open: '', at: '' });
  scroller().scrollTop = 0;
  if (feed.place || tooMany()) start(feed.kind, feed.text);
  else release();
}
// A row can be read and brought by the stream, in either order: it is shown and counted once.
const idOf = (r) => r[kinds[feed.kind].id];
const isShown = (r) => r.seq <= (feed.rows[0]?.seq || 0) && feed.rows.some((row) => idOf(row) === idOf(r));
function unhold(list) {
  if (!feed.held.length) return;
  const read = new Set(list.map(idOf)), left = feed.held.filter((r) => !read.has(idOf(r)));
  feed.waiting -= feed.held.length - left.length;
  feed.held = left;
}

// tooMany reports whether the held rows are not all that is new: then the list is read again.
const tooMany = () => feed.behind || feed.waiting > feed.held.length;
function release() {
  if (tooMany() && !feed.place) { start(feed.kind, feed.text); return; }
  if (!feed.held.length) return;
  const seen = new Set(feed.rows.slice(0, 3000).map(idOf)), news = feed.held.filter((r) => !seen.has(idOf(r)));
  feed.rows = news.concat(feed.rows);
  feed.added += news.length;
  if (news.length <= 20) for (const r of news) feed.fresh.add(idOf(r));
  if (feed.fresh.size > 200) feed.fresh.clear();
  feed.held = [];
  feed.waiting = 0;
  if (feed.rows.length > mostFollowed) { // the oldest are read again when they are scrolled to
    feed.rows.length = mostFollowed - 1000;
    feed.next = feed.rows[feed.rows.length - 1].seq;
    feed.whole = false;
    feed.gaps = new Set(feed.rows.filter((r) => r.type === 'gap').map((r) => r.seq));
  }
  moved();
  show();
}

// weave adds a row for each gap that the history does not fill, at its place by number.
function weave() {
  for (const g of gaps.value) {
    if (!g.lost || feed.gaps.has(g.to)) continue;
    let at = feed.rows.findIndex((r) => r.seq <= g.to);
    if (at < 0) { if (!feed.whole) continue; at = feed.rows.length; }
    const id = 'gap ' + g.to;
    feed.rows.splice(at, 0, { type: 'gap', seq: g.to, event_id: id, run_id: id, gap: g });
    feed.gaps.add(g.to);
  }
}

// arrived takes what is new from the stream.
function arrived(records) {
  if (!feed.kind) return;
  if (!records) { // something may be in the history that did not arrive
    if (following && !paused.value && !feed.place) start(feed.kind, feed.text);
    else if (!feed.place) { feed.behind = true; show(); }
    return;
  }
  const k = kinds[feed.kind];
  let n = 0;
  for (const r of records) {
    if (r.type !== k.record || !fits(r, feed.kind, feed.query) || isShown(r)) continue;
    n++;
    if (feed.held.length < mostHeld) feed.held.unshift(r); // beyond, they are only counted
  }
  if (n) {
    feed.waiting += n;
    if (following && !paused.value && !feed.loading) release();
    show();
  }
  for (const r of records) if (kindOf(r) === 'decisions' && r.call_id) ended.set(r.call_id, r);
  if (ended.size) ending ||= setTimeout(reread, 400);
  count(records);
}

// The end of a call comes as an event of its own, and hookd joins the two: rows that are shown are read again.
const ended = new Map();
let ending = 0;
const kindOf = (r) => (feed.kind === 'decisions' && r.type === 'event' && r.kind === 'tool.after' ? 'decisions' : '');
async function reread() {
  ending = 0;
  const calls = new Set(ended.keys());
  ended.clear();
  const stale = feed.rows.slice(0, 200).filter((d) => !d.ran && d.call_id && calls.has(d.call_id)).slice(0, 40), { abort } = feed;
  for (const d of stale) {
    try {
      const now = (await ask('v1/decisions', { query: { event_id: d.event_id, limit: 1 }, signal: abort?.signal })).decisions[0];
      const at = feed.rows.indexOf(d);
      if (at >= 0 && now) feed.rows[at] = { ...now, type: d.type };
    } catch (err) { if (!(err instanceof Refusal) && err.name !== 'AbortError') throw err; return; }
  }
  if (stale.length) show();
}

// counts are those of the search; live ones are added until they are asked for again.
const facets = signal(null), chart = signal(null);
let counting = null;

const ranges = { '15m': 900e3, '1h': 3600e3, '6h': 6 * 3600e3, '24h': 864e5, '7d': 7 * 864e5, '30d': 30 * 864e5 };
const steps = [1e3, 5e3, 15e3, 6e4, 3e5, 9e5, 36e5, 6 * 36e5, 864e5];

// extent is what the chart shows: the range, and all of what since: selects.
function extent(query, range, now = Date.now()) {
  let length = ranges[range] || ranges['1h'];
  let to = now;
  if (query.since) length = Math.max(length, (now - Date.parse(query.since)) * 1.02);
  const step = steps.find((s) => length / s <= 75) || 864e5 * Math.ceil(length / 864e5 / 75);
  to = Math.ceil(to / step) * step;
  return { from: to - Math.ceil(length / step) * step, to, step };
}

// sum reads counts in as many parts as they come, and adds them up.
async function sum(query, every, signal_, shown) {
  const total = { total: 0, tried: 0, decisions: {}, agents: {}, tools: {}, hooks: {}, buckets: new Map(), sessions: 0, rewrote: 0, done: false };
  let before = '';
  for (let part = 0; part < 60; part++) {
    const a = await ask('v1/decisions/counts', { query: { ...query, every, before }, signal: signal_ });
    total.total += a.total; total.tried += a.tried || 0; total.rewrote += a.rewrote; total.sessions = Math.max(total.sessions, a.sessions);
    for (const by of ['decisions', 'agents', 'tools', 'hooks']) {
      for (const c of a[by] || []) total[by][' ' + c.name] = (total[by][' ' + c.name] || 0) + c.count;
    }
    for (const b of a.buckets || []) {
      const had = total.buckets.get(+new Date(b.start));
      if (had) for (const p of ['deny', 'ask', 'allow', 'none']) had[p] += b[p];
      else total.buckets.set(+new Date(b.start), { ...b });
    }
    before = a.next;
    if (!before) { total.done = true; break; }
    if (shown) shown({ ...total });
  }
  return total;
}

async function recount(text, range) {
  counting?.abort();
  const abort = counting = new AbortController();
  const { query, bad } = parse(text, 'decisions');
  if (bad) return;
  const at = extent(query, range);
  const open = { ...query };
  delete open.since; delete open.until;
  try {
    const drawn = (c) => { chart.value = { ...at, counts: c }; }, first = !facets.value; // later ones are shown when they are whole
    await Promise.all([
      sum({ ...open, since: new Date(at.from).toISOString() }, at.step / 1000 + 's', abort.signal, first && drawn).then(drawn),
      sum(query, '', abort.signal, first && ((c) => { facets.value = c; })).then((c) => { facets.value = c; }),
    ]);
  } catch (err) { if (err.name !== 'AbortError' && !(err instanceof Refusal)) throw err; }
}

// count adds what arrives to what was counted.
function count(records) {
  if (feed.kind !== 'decisions' || !facets.value || !chart.value) return;
  const f = facets.value, c = chart.value;
  const add = (map, name) => { if (name) map[' ' + name] = (map[' ' + name] || 0) + 1; };
  const open = { ...feed.query, since: '', until: '' };
  let any = false;
  for (const r of records) {
    if (r.type !== 'verdict' || r.tried || !fits(r, 'decisions', open)) continue;
    any = true;
    const start = Math.floor(Date.parse(r.time) / c.step) * c.step;
    let b = c.counts.buckets.get(start);
    if (!b) c.counts.buckets.set(start, b = { start: new Date(start).toISOString(), deny: 0, ask: 0, allow: 0, none: 0 });
    b[r.decision]++;
    c.counts.total++;
    if (!fits(r, 'decisions', feed.query)) continue;
    f.total++;
    add(f.decisions, r.outcome || r.decision); add(f.agents, r.agent_name || r.dialect); add(f.tools, r.tool);
    for (const h of [...(r.decided_by || []), ...(r.shadow || []).map((s) => s.hook)]) add(f.hooks, h);
  }
  if (!any) return;
  const now = Date.now();
  if (now > c.to) { const by = Math.ceil((now - c.to) / c.step) * c.step; c.from += by; c.to += by; }
  drawSoon();
}
let drawing = 0;
function drawSoon() {
  drawing ||= setTimeout(() => {
    drawing = 0;
    if (facets.value) facets.value = { ...facets.value };
    if (chart.value) chart.value = { ...chart.value };
  }, 500);
}

// ofFleet is whether the decisions of all machines are listed, which fleet.js does.
const ofFleet = computed(() => route.value.p.kind === 'fleet' && fleet.value !== null);
const text = computed(() => route.value.p.q || '');
const kind = computed(() => (Object.hasOwn(kinds, route.value.p.kind || '') ? route.value.p.kind : 'decisions'));
const range = computed(() => (Object.hasOwn(ranges, route.value.p.range || '') ? route.value.p.range : '1h'));

export function Stream() {
  const search = useRef();
  useEffect(() => hear(arrived), []);
  useEffect(() => { weave(); show(); }, [gaps.value]);
  useEffect(() => {
    const at = +(route.value.p.at || 0);
    following = !at && !route.value.p.open;
    if (ofFleet.value) return undefined;
    start(kind.value, text.value);
    if (at) locate(at);
    facets.value = chart.value = null;
    recount(text.value, range.value);
    const again = setInterval(() => recount(text.value, range.value), 60000);
    return () => { clearInterval(again); counting?.abort(); feed.abort?.abort(); };
  }, [text.value, kind.value, range.value, ofFleet.value]);
  useKeys({
    '/': () => { search.current?.focus(); search.current?.select(); },
    f: follow,
    ' ': () => { paused.value = !paused.value; if (!paused.value && following) release(); },
  });
  useEffect(keep);
  return html`<section class="view" id="stream" aria-label="Stream">
    <h1 class="sr">Stream</h1>
    <div class="bar"><${Search} input=${search} />
      <span class="seg" role="group" aria-label="What is listed">${Object.keys(kinds).map((k) => html`<a href=${link('stream', { ...route.value.p, kind: k === 'decisions' ? '' : k, open: '', at: '' })}
        aria-current=${k === kind.value && !ofFleet.value ? 'true' : undefined}>${k[0].toUpperCase() + k.slice(1)}</a>`)}${fleet.value && html`<a href=${link('stream', { q: text.value, kind: 'fleet' })} aria-current=${ofFleet.value ? 'true' : undefined}>Fleet</a>`}</span>${!ofFleet.value && html`<${Filter} />`}
      ${!ofFleet.value && html`<${Saved} /><${Export} />`}
      ${!ofFleet.value && html`<button type="button" class="pause" aria-pressed=${paused.value} onClick=${() => { paused.value = !paused.value; if (!paused.value && following) release(); }}>${paused.value ? 'Go on' : 'Pause'} <kbd>Space</kbd></button>`}</div>
    ${ofFleet.value ? html`<${OfFleet} />` : html`<div class="split"><${Facets} /><div class="listing"><${Chart} /><${List} /></div></div>`}</section>`;
}

// Views that a person has named stay in this browser, under the address of their search.
const storeKey = 'hookd views';
const views_ = signal((() => { try { return JSON.parse(localStorage.getItem(storeKey)) || []; } catch { return []; } })());
function keepViews(list) {
  views_.value = list;
  try { localStorage.setItem(storeKey, JSON.stringify(list)); } catch { /* no room: they last as long as the tab */ }
}
function Saved() {
  const here = text.value, known = views_.value.some((v) => v.q === here && v.kind === kind.value);
  const open = (e) => {
    const v = views_.value[+e.target.value - 1];
    if (e.target.value === 'save') keepViews([...views_.value, { q: here, kind: kind.value }].slice(-20));
    else if (e.target.value === 'drop') keepViews(views_.value.filter((x) => x.q !== here || x.kind !== kind.value));
    else if (v) go('stream', { q: v.q, kind: v.kind === 'decisions' ? '' : v.kind });
    e.target.value = '';
  };
  return html`<select aria-label="Saved views" onChange=${open}><option value="">Views${views_.value.length ? ' · ' + views_.value.length : ''}</option>
    ${views_.value.map((v, i) => html`<option value=${i + 1}>${v.q || 'all'} (${v.kind})</option>`)}
    ${known ? html`<option value="drop">Forget this one</option>` : here && html`<option value="save">Save this search</option>`}</select>`;
}

// Export writes what fits the search, not only what is read already.
const mostExported = 50000;
const columns = ['time', 'agent_name', 'dialect', 'session_id', 'cwd', 'tool', 'subject', 'outcome', 'decision', 'reason', 'decided_by', 'duration_ms', 'event_id', 'run_id', 'hook', 'result', 'event'];
// A cell that a spreadsheet would take for a formula gets a ' before it.
const cell = (v) => { const t = visible(v === undefined ? '' : Array.isArray(v) ? v.join(' ') : String(v)); return '"' + (/^[=+\-@\t\r]/.test(t) && isNaN(t) ? "'" : '') + t.replace(/"/g, '""') + '"'; };
async function exported(as) {
  const k = kinds[kind.value], { query, bad } = parse(text.value, kind.value), rows = [];
  if (bad) return 0;
  for (let next = ''; rows.length < mostExported;) {
    const a = await ask(k.path, { query: { ...query, [k.page]: next, limit: 1000 } });
    rows.push(...a[k.list]);
    next = a.next;
    if (!next) break;
  }
  const used = columns.filter((c) => rows.some((r) => r[c] !== undefined));
  const body = as === 'json' ? JSON.stringify(rows, null, 1) : [used.join(','), ...rows.map((r) => used.map((c) => cell(r[c])).join(','))].join('\r\n');
  const a = document.createElement('a');
  a.href = URL.createObjectURL(new Blob([body], { type: as === 'json' ? 'application/json' : 'text/csv' }));
  a.download = `hookd-${kind.value}.${as}`;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60000);
  return rows.length;
}
function Export() {
  const pick = async (e) => {
    const as = e.target.value;
    e.target.value = '';
    try { say(plural(await exported(as), 'row') + ' written to a file', true); } catch (err) { if (!(err instanceof Refusal)) throw err; say(err.message, true); }
  };
  return html`<select aria-label="Export" onChange=${pick}><option value="">Export</option><option value="csv">CSV</option><option value="json">JSON</option></select>`;
}

// OfFleet lists what fits the search on all machines.
function OfFleet() {
  const { query, bad } = parse(text.value, 'fleet');
  return bad ? html`<${Bad} err=${new Error(bad)} />` : html`<${Fleet} query=${query} />`;
}

// locate reads from the place that the address names, when the newest rows do not reach it.
async function locate(seq) {
  for (let i = 0; i < 200 && feed.loading; i++) await new Promise((r) => setTimeout(r, 25));
  const lastSeq = feed.rows.length ? feed.rows[feed.rows.length - 1].seq : 0;
  if (!feed.whole && seq < lastSeq) { start(feed.kind, feed.text, seq + 200); feed.place = seq; }
}

function Search({ input }) {
  const [draft, write] = useState(text.value), back = useRef();
  const timer = useRef(0);
  useEffect(() => { if (document.activeElement !== input.current) write(text.value); }, [text.value]);
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
  const kept = ofFleet.value ? '' : kind.value !== 'decisions' ? plural(feed.rows.length, 'row') + (feed.whole ? '' : ' read')
    : f && number(f.total) + (text.value && c && c.counts.total > f.total ? ' of ' + number(c.counts.total) : '') + ' kept' + (f.tried ? `, ${number(f.tried)} tried` : '') + (f.done ? '' : ' so far');
  return html`<label class="search"><span class="t" aria-hidden="true">/</span><span class="typed">
    <span class="over" ref=${back} aria-hidden="true">${painted(draft)}</span>
    <input ref=${input} type="text" value=${draft} onInput=${type} onKeyDown=${enter} onScroll=${follow_} spellcheck="false" autocomplete="off" autocapitalize="off"
      aria-label="Search" placeholder=${'tool: outcome: agent: hook: cwd: took: -tool: or words'} list="words" /></span><datalist id="words">${complete(draft, f)}</datalist><span class="end">${kept || ' '}</span></label>`;
}

// complete offers the search with its last word completed: words of the search, and values that were counted.
function complete(draft, f) {
  const cut = Math.max(draft.lastIndexOf(' ') + 1, 0), head = draft.slice(0, cut), word = draft.slice(cut);
  const minus = word[0] === '-' ? '-' : '', part = word.slice(minus.length), colon = part.indexOf(':');
  if (!word || draft.length > 200) return '';
  const counted = new Map([['tool', 'tools'], ['agent', 'agents'], ['hook', 'hooks'], ['guard', 'hooks']]);
  const values = new Map(Object.entries({
    decision: outcomes, outcome: outcomes, took: ['>100ms', '>1s', '>10s'], rewrote: ['yes'], shadow: ['yes'],
    since: ['15m', '1h', '1d', '7d'],
  }));
  const key = part.slice(0, colon);
  const list = colon < 0 ? [...keys_[kind.value], 'outcome', 'guard', 'kind'].map((k) => k + ':')
    : (values.get(key) || (counted.has(key) && f ? sorted(f[counted.get(key)]).map(([name]) => name) : []))
      .map((v) => key + ':' + quoted(v));
  return list.filter((w) => w.startsWith(part) && w !== part).slice(0, 12).map((w) => html`<option value=${head + minus + w} />`);
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

// Facets say how many there are of what, and put it into the search.
function Facets() {
  version.value;
  const groups = kind.value === 'decisions' ? ofDecisions(facets.value) : ofRows();
  return html`<div class="facets" data-open=${filtering.value}><div class="groups">${groups.map((g) => html`<${Facet} key=${g.title} ...${g} />`)}</div></div>`;
}

// filtering shows the facets where there is no room beside the list.
const filtering = signal(false);
function Filter() {
  const chosen = tokens(text.value).filter((t) => t.key).length;
  return html`<button type="button" class="more" aria-expanded=${filtering.value} onClick=${() => { filtering.value = !filtering.value; }}>Filter${chosen ? ' · ' + chosen : ''}</button>`;
}

const sorted = (map) => Object.entries(map).map(([k, n]) => [k.slice(1), n]).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));

function ofDecisions(f) {
  const list = (by) => (f ? sorted(f[by]) : []);
  const d = f ? f.decisions : {};
  return [
    { title: 'Decision', key_: 'decision', list: outcomes.map((w) => [w, d[' ' + w] || 0]).filter(([w, n]) => n || !rare.has(w)) },
    { title: 'Agent', key_: 'agent', list: list('agents') },
    { title: 'Tool', key_: 'tool', list: list('tools') },
    { title: 'Decided by', key_: 'hook', list: list('hooks') },
  ];
}

// ofRows counts the rows that were read: runs and events are counted nowhere else.
function ofRows() {
  const by = { result: {}, hook: {}, event: {}, tool: {}, agent: {} };
  const add = (map, name) => { if (name) map[' ' + name] = (map[' ' + name] || 0) + 1; };
  for (const r of feed.rows.slice(0, 5000)) {
    add(by.result, r.result); add(by.hook, r.hook); add(by.event, r.event); add(by.tool, r.tool); add(by.agent, r.agent_name || r.dialect);
  }
  const of = kind.value === 'runs' ? [['Result', 'result'], ['Hook', 'hook'], ['Tool', 'tool']] : [['Event', 'event'], ['Agent', 'agent'], ['Tool', 'tool']];
  return of.map(([title, key_]) => ({ title, key_, list: sorted(by[key_]), single: true }));
}

function Facet({ title, key_, list, single }) {
  const [all, setAll] = useState(false);
  const shown = all || list.length <= 6 ? list : list.slice(0, 5);
  const rest = list.slice(shown.length);
  const pick = (name) => go('stream', { ...route.value.p, q: single ? set(text.value, key_, has(text.value, key_, name) ? '' : name) : toggle(text.value, key_, name), open: '', at: '' }); // Back returns from it
  if (!list.length) return '';
  return html`<section><h2>${title}</h2>${shown.map(([name, n]) => {
    const on = has(text.value, key_, name);
    const state = key_ === 'decision' ? stateOf({ decision: name }) : null;
    return html`<button type="button" key=${name} class=${'facet ' + (state && n ? state[2] : '') + (n ? '' : ' zero')} aria-pressed=${on} onClick=${() => pick(name)} disabled=${name === '(others)'}>
      ${state && html`<${Icon} name=${state[0]} />`}<span class="name" title=${name}>${key_ === 'agent' ? agentLabel(name) : name}</span><span class="n">${number(n)}</span></button>`;
  })}${rest.length > 0 && html`<button type="button" class="facet t" onClick=${() => setAll(true)}><span class="name">${rest.length} more</span><span class="n">${number(rest.reduce((s, r) => s + r[1], 0))}</span></button>`}</section>`;
}

function Chart() {
  const c = chart.value;
  const { query, bad } = parse(text.value, 'decisions');
  if (kind.value !== 'decisions' || bad) return '';
  if (!c) return html`<div class="chart"><div class="cap"><span> </span></div><div class="plot empty"></div><div class="axis"><span> </span></div></div>`;
  const brush = query.since || query.until ? [query.since ? Date.parse(query.since) : c.from, query.until ? Date.parse(query.until) : c.to] : null;
  const buckets = [...c.counts.buckets.values()].filter((b) => +new Date(b.start) >= c.from - c.step);
  const most = Math.max(0, ...buckets.map((b) => b.deny + b.ask + b.allow + b.none));
  const sums = ['deny', 'ask'].map((p) => buckets.reduce((s, b) => s + b[p], 0));
  const dragged = (a, b) => {
    const whole_ = c.step >= 6e4 ? 6e4 : 1e3, end = Math.ceil(b / whole_) * whole_;
    let q = set(text.value, 'since', stamp(Math.floor(a / whole_) * whole_));
    q = set(q, 'until', end >= Date.now() ? '' : stamp(end));
    put({ q, open: '', at: '' });
  };
  const clear = (e) => { e.preventDefault(); put({ q: set(set(text.value, 'since', ''), 'until', ''), open: '', at: '' }); };
  const unit = { 1e3: 'a second', 5e3: 'in 5 s', 15e3: 'in 15 s', 6e4: 'a minute', 3e5: 'in 5 min', 9e5: 'in 15 min', 36e5: 'an hour', 216e5: 'in 6 hours', 864e5: 'a day' }[c.step] || 'each';
  return html`<div class="chart"><div class="cap"><span>decisions ${unit}${most ? ', ' + number(most) + ' at most' : ''}</span>
      <span class="zoom" role="group" aria-label="How far back">${Object.keys(ranges).map((r) => html`<a href=${link('stream', { ...route.value.p, range: r === '1h' ? '' : r })} aria-current=${r === range.value ? 'true' : undefined}>${r}</a>`)}</span>
      ${brush ? html`<a class="link" href="#" onClick=${clear}>${when(brush[0], hhmm)} to ${query.until ? when(brush[1], hhmm) : 'now'} · clear</a>` : html`<span></span>`}</div>
    <${Bars} buckets=${buckets} from=${c.from} to=${c.to} width=${c.step} height=${82} marks=${true} brush=${brush} onBrush=${dragged}
      label=${`Decisions from ${when(c.from, hhmm)} to ${when(c.to, hhmm)}: ${number(c.counts.total)}, of them ${sums[0]} denied and ${sums[1]} asked`} />
    <${Axis} from=${c.from} to=${c.to} n=${6} /></div>`;
}

const heads = {
  decisions: ['Time', 'Who', 'What', 'Outcome', 'Result', 'Why', 'Waited'],
  runs: ['Time', 'Hook', 'What', 'Result', 'Why', 'Took'],
  events: ['Time', 'Who', 'What', 'Event', 'Session', 'Bytes'],
};

function List() {
  const table = useRef(), narrow = useNarrow(), said = useRef(0);
  version.value;
  const k = kinds[kind.value], here = feed.kind === kind.value, rows = here ? feed.rows : [], { p } = route.value; // rows of another kind are about to go
  const [lines, setLines] = useState({}); // that the open row has, by its id
  const height = narrow ? 84 : 32, openHeight = Math.max(narrow ? 320 : 128, 24 + 24 * (lines[p.open] || 0));
  const opened = p.open ? rows.findIndex((r) => r[k.id] === p.open) : -1;
  const chosen = p.sel ? rows.findIndex((r) => r[k.id] === p.sel) : -1;
  const body = () => table.current?.querySelector('tbody');
  const select = (i, open) => {
    if (!rows.length) return;
    const at = Math.max(0, Math.min(i, rows.length - 1)), id = rows[at][k.id];
    following = false;
    if (open && rows[at].type === 'gap') open = false;
    put({ sel: id, at: rows[at].seq, ...(open === undefined ? {} : { open: open ? id : '' }) });
    reveal(body(), at, height, open ? at : opened, openHeight);
    focusSoon.current = id;
  };
  const focusSoon = useRef('');
  useEffect(() => {
    if (!focusSoon.current) return;
    const row = table.current?.querySelector(`tr[data-id="${CSS.escape(focusSoon.current)}"]`);
    if (row) { row.focus({ preventScroll: true }); focusSoon.current = ''; }
  });
  const current = chosen >= 0 ? chosen : opened;
  // now is the row of the address: keys may be faster than what is drawn.
  const now = () => { const { p } = route.value, i = rows.findIndex((r) => r[k.id] === p.sel); return i >= 0 ? i : rows.findIndex((r) => r[k.id] === p.open); };
  useKeys({
    j: () => select(now() + 1), ArrowDown: () => select(now() + 1),
    k: () => select(now() - 1), ArrowUp: () => select(now() - 1),
    g: () => select(0), Home: () => select(0),
    G: () => select(rows.length - 1), End: () => select(rows.length - 1),
    Enter: () => { const i = now(); if (i >= 0) select(i, rows[i][k.id] !== route.value.p.open); else select(0); },
    Escape: () => { put({ at: route.value.p.open ? route.value.p.at : '' }); return escape(['open', 'sel', 'q']); },
    y: () => { const r = rows[now()], id = r?.type !== 'gap' && r?.[k.id]; return !!id && take(id); },
  });
  // Scrolling down to read holds what is new back; at the top it is followed again.
  useEffect(() => {
    const main = scroller();
    const f = () => {
      if (main.scrollTop > 160) following = false;
      else if (main.scrollTop === 0 && !route.value.p.open && !route.value.p.sel && !feed.place && !following && !tooMany()) { following = true; if (!paused.value) release(); }
    };
    main.addEventListener('scroll', f, { passive: true });
    return () => main.removeEventListener('scroll', f);
  }, []);
  useEffect(() => { if (opened >= 0 && !said.current) { said.current = 1; reveal(body(), opened, height, opened, openHeight, 200); } }, [opened >= 0]);

  // Cells that are as they were are the same objects: they cost nothing to draw again.
  const cells = { decisions: decisionRow, runs: runRow, events: eventRow }[kind.value], drawn = useRef(new Map());
  if (drawn.current.size > 2000) drawn.current.clear();
  const row = (i) => {
    const r = rows[i], id = r[k.id], on = i === current;
    let had = drawn.current.get(id);
    if (had?.r !== r) drawn.current.set(id, had = { r, cells: r.type === 'gap' ? gapRow(r.gap) : cells(r) });
    return {
      id, cells: had.cells, tabindex: i === Math.max(0, current) ? 0 : -1, selected: on,
      class: (on || i === opened ? 'sel' : '') + (i === opened ? ' opened' : '') + (feed.fresh.has(id) ? ' fresh' : '') + (loud[r.outcome] || ''),
    };
  };
  const click = (e) => {
    const id = !e.target.closest('a, button, .peek') && e.target.closest('tr[data-id]')?.dataset.id;
    const i = id ? rows.findIndex((r) => r[k.id] === id) : -1;
    if (i >= 0) select(i, i !== opened);
  };
  const open = (i) => html`<${Td} colspan=${6}><${Peek} r=${rows[i]} kind=${kind.value} lines=${(n) => setLines({ [rows[i][k.id]]: n })} /></${Td}>`;
  const missed = gaps.value.filter((g) => g.end >= feed.read).reduce((n, g) => n + missing(g), 0);
  const news = [feed.waiting && plural(feed.waiting, 'new', 'new'), feed.behind && (missed ? plural(missed, 'record') + ' missed' : 'more in the history')].filter(Boolean).join(', ');
  const bar = news && (!following || paused.value) ? html`${news} · ` : feed.place ? 'newer ones are not shown · ' : '';
  const none = here && !rows.length && !feed.loading;
  return html`<table ref=${table} role="table" class=${'fold stream ' + kind.value} aria-label=${'Newest ' + kind.value} aria-rowcount=${feed.whole ? rows.length + 1 : -1}>
    <thead role="rowgroup"><tr role="row">${heads[kind.value].map((h, i) => html`<th role="columnheader" scope="col" class=${(h === 'Result' ? 'f-result' : '') + (i === heads[kind.value].length - 1 ? ' num' : '')}>${h}</th>`)}</tr>
    ${asks.value.length > 0 && kind.value === 'decisions' && html`<tr role="row" class="new"><td role="cell" colspan="6"><a class="amber" href="#now"><${Icon} name="ask" />${plural(asks.value.length, 'call is', 'calls are')} held and ${asks.value.length === 1 ? 'waits' : 'wait'} for an answer</a></td></tr>`}
    ${bar && html`<tr role="row" class="new"><td role="cell" colspan="6"><button type="button" class="plain link" onClick=${follow}>${bar}follow <kbd>f</kbd></button></td></tr>`}</thead>
    <${Virtual} count=${rows.length} added=${feed.added} height=${height} opened=${opened} openHeight=${openHeight} row=${row} open=${open} end=${() => older()} click=${click} /></table>
    ${feed.err ? html`<${Bad} err=${feed.err} />` : none ? html`<${Nothing} />` : feed.loading && !rows.length ? html`<${Late} />` : ''}
    ${rows.length > 0 && feed.whole && !feed.err && html`<p class="rest t">That is all${text.value ? ' that fits' : ''}.</p>`}
    ${rows.length >= mostRows && html`<p class="rest t">${number(mostRows)} rows are shown. Narrow the search with since: and until: for older ones.</p>`}`;
}

function Nothing() {
  const list = tokens(text.value);
  if (!list.length) return html`<${Empty}><h2>Nothing yet</h2><p class="s">${kind.value === 'decisions' ? 'A guard makes a decision for each call that it looks at. No agent has made one yet.' : 'Nothing of this kind is in the history.'}</p></${Empty}>`;
  return html`<${Empty}><h2>Nothing matches <code>${text.value}</code></h2>
    <p class="s">Without ${list.map((t, i) => html`${i ? ' or ' : ''}<button type="button" class="plain link" onClick=${() => put({ q: list.filter((o) => o !== t).map((o) => o.text).join(' ') })}><code>${t.text}</code></button>`)} there may be more.</p></${Empty}>`;
}

// loud are the classes of rows that did not go as decided.
const loud = { disobeyed: ' disobeyed', 'not asked': ' unasked' };
// gapRow stands where records are missing.
const gapRow = (g) => html`<td role="cell" colspan="6" class="gap"><${Icon} name="fail" />${missing(g) ? plural(missing(g), 'record') + ' missed' : 'Records missed'}, ${hhmmss(g.begin)} to ${hhmmss(g.end)} <span class="t">the history has none of them</span></td>`;
const decisionRow = (d) => html`<td role="cell" class="when mono f-time">${Clock({ t: decidedAt(d), fine: true })}</td><td role="cell" class="f-who">${Who({ r: d })}</td><td role="cell" class="f-wide">${What({ r: d })}</td>
  <td role="cell" class="f-state">${State({ is: stateOf(d) })}</td><td role="cell" class="f-result f-hide">${Ran({ d })}</td><td role="cell" class="by f-why">${Why({ d: d })}</td><td role="cell" class="num f-hide">${Took({ ms: d.duration_ms })}</td>`;
const runRow = (r) => html`<td role="cell" class="when mono f-time">${Clock({ t: endedAt(r), fine: true })}</td><td role="cell" class="f-who" title=${r.hook}>${r.hook} <span class="t">${agentName(r)}</span></td><td role="cell" class="f-wide">${What({ r: r })}</td>
  <td role="cell" class="f-state">${State({ is: resultOf(r) })}</td><td role="cell" class="by f-why"><span>${r.reason || r.error || ''}</span>${!r.reason && !r.error ? html`<span class="t">${r.awaited ? 'no opinion' : 'observes'}</span>` : ''}</td><td role="cell" class="num f-hide">${Took({ ms: r.duration_ms })}</td>`;
const eventRow = (e) => html`<td role="cell" class="when mono f-time">${Clock({ t: e.time, fine: true })}</td><td role="cell" class="f-who">${Who({ r: e })}</td><td role="cell" class="f-wide">${What({ r: e })}</td>
  <td role="cell" class="f-state s" title=${e.event}>${e.event}</td><td role="cell" class="mono f-why">${e.session_id ? html`<a class="link" href=${link('session', { id: e.session_id, agent: e.dialect })}>${e.session_id.slice(0, 8)}</a>` : ''}</td><td role="cell" class="num f-hide">${number(e.bytes)}</td>`;

// The newest rows are first: decisions by when they were made, runs by when they ended.
const later = (t, ms) => new Date(Date.parse(t) + (ms || 0));
const decidedAt = (d) => later(d.time, d.duration_ms), endedAt = (r) => later(r.started, r.duration_ms);

// Peek is what an open row shows: the story of a call, or an event and the runs of its hooks. lines is
// told how many lines of 24 points it has.
export function Peek({ r, kind: of, lines }) {
  const id = r.event_id, story = useStory(id, of === 'decisions' || of === 'past');
  useEffect(() => { if (story) lines?.(linesOf(story)); }, [story]);
  if (story) return html`<${Call} s=${story} />`;
  return story === null ? html`<div class="peek"><${Late} /></div>` : html`<${Hooks} r=${r} kind=${of} lines=${lines} />`;
}

function Hooks({ r, kind: of, lines }) {
  const id = r.event_id, [data, setData] = useState(null);
  useEffect(() => {
    const abort = new AbortController();
    Promise.all([ask('v1/events/' + segment(id), { signal: abort.signal }).catch(quiet), ask('v1/runs', { query: { event_id: id, limit: 200 }, signal: abort.signal }).catch(quiet)])
      .then(([event, runs]) => setData({ event, runs: runs ? runs.runs : [] }), () => {});
    return () => abort.abort();
  }, [id]);
  const runs = (data?.runs || []).slice().sort((a, b) => (b.awaited ? 1 : 0) - (a.awaited ? 1 : 0) || Date.parse(a.started) - Date.parse(b.started));
  useEffect(() => { if (data) lines?.(runs.length + (isNarrow() ? 7 : 0)); }, [data]);
  const first = of === 'runs' ? r : runs[0];
  return html`<div class="peek"><div class="input"><pre tabindex="0" role="region" aria-label="input">${data ? input(data.event) : ' '}</pre>
    <div class="acts">${r.session_id && html`<a class="link" href=${link('session', { id: r.session_id, agent: r.dialect, at: id })}>Session at this point</a>`}
      ${first && html`<a class="link" href=${link('run', { id: first.run_id })}>Run</a><a class="link" href=${link('hooks', { hook: first.hook })}>Hook</a>`}
      <button type="button" class="plain t" onClick=${() => copy(id)} title=${id}>${short(id)} · copy <kbd>y</kbd></button></div></div>
    <div class="kv">${runs.map((x) => html`<a href=${link('run', { id: x.run_id })} title=${x.hook}>${x.hook}</a><${State} is=${x.awaited || x.result !== 'ok' ? resultOf(x) : ['none', 'observes', 'none']} /><span class="s" title=${x.reason || x.error || ''}>${failed(x) ? x.error || '' : x.reason || ''}</span><span class="num"><${Took} ms=${x.duration_ms} /></span>`)}</div></div>`;
}
const quiet = (err) => { if (err.name === 'AbortError') throw err; return null; };

// input is what the event was about, as text: the tool's input where there is one.
function input(e) {
  if (!e) return 'This event is not in the history any more.';
  if (!e.data && !e.preview) return e.bytes > 2 ? 'not kept (history.payload: none)' : e.subject || '';
  if (!e.data || !e.whole) return e.preview || '';
  const given = e.data.tool_input ?? e.data.prompt ?? e.data.params ?? e.data;
  if (typeof given === 'string') return given;
  for (const key of ['command', 'content', 'new_string', 'query', 'url', 'file_path']) if (typeof given[key] === 'string' && given[key]) return given[key];
  return JSON.stringify(given, null, 1);
}
export { input };
