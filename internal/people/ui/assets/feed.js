// The rows of one search, newest first, with what is new: decisions, runs or events. hookd says which records fit; the
// live stream only says that there are new ones.
import { batch, signal } from './lib.js';
import { add as addTo, partOf } from './chart.js';
import { moved } from './keys.js';
import { Refusal, ask, gaps } from './net.js';
import { scroller } from './rows.js';
import { put } from './state.js';
import { parse } from './words.js';

export const kinds = {
  decisions: { path: 'v1/decisions', list: 'decisions', page: 'after', id: 'event_id', record: 'verdict',
    word: 'decision' },
  runs: { path: 'v1/runs', list: 'runs', page: 'before', id: 'run_id', record: 'run', word: 'run' },
  events: { path: 'v1/accepted', list: 'events', page: 'before', id: 'event_id', record: 'event', word: 'event' },
};
export const mostRows = 200000; // in memory; older ones are read again
const mostFollowed = 5000; // while what is new is followed
const mostHeld = 2000; // new ones that wait to be shown; beyond, the list is read again
const pause = 250; // ms between two reads of what is new
const settling = 15 * 60e3; // ms in which a decision may come after its event, and a result after both

// feed changes many times a second; version changes at most once a frame, so that the rows are drawn once.
export const feed = {
  kind: '', text: '', query: {}, rows: [], held: [], next: 0, loading: false, err: null, whole: false,
    added: 0, place: 0,
  abort: null, fresh: new Set(), stale: false, behind: false, read: 0, gaps: new Set(),
};
export const version = signal(0);
export const paused = signal(false);
let frame = 0;
export function show() { frame ||= requestAnimationFrame(() => { frame = 0; version.value++; }); }

// start reads a search from its newest row, or from the one with a number. The rows of
// the same search stay until the first answer: it may not come while hookd is away.
export function start(kind, text, place = 0) {
  feed.abort?.abort();
  const { query, bad } = parse(text, kind);
  feed.stale = !bad && !place && !feed.place && kind === feed.kind && text === feed.text && feed.rows.length > 0;
  Object.assign(feed, {
    kind, text, query, place, rows: feed.stale ? feed.rows : [], held: [], next: 0, whole: false, loading: false,
    behind: false, err: bad ? new Error(bad) : null, abort: new AbortController(), read: Date.now(),
  });
  feed.fresh.clear();
  if (!feed.stale) feed.gaps.clear();
  if (bad) { feed.whole = true; show(); return; }
  if (place) feed.next = place + 1;
  older(100);
}

// older reads what comes after the last row. A long history is searched in parts: an
// answer may have no rows and still not be the last.
export async function older(limit = 1000) {
  if (!feed.kind || feed.loading || feed.whole || !feed.stale && feed.rows.length >= mostRows) return;
  const k = kinds[feed.kind], { abort } = feed;
  feed.loading = true;
  try {
    for (let tries = 0, got = 0; got < limit / 2 && tries < 200; tries++) {
      const answer =
        await ask(k.path, { query: { ...feed.query, [k.page]: feed.next || '', limit }, signal: abort.signal });
      if (feed.stale) { Object.assign(feed, { rows: [], stale: false }); feed.gaps.clear(); }
      const known = tries || feed.rows.length ? new Set(feed.rows.slice(-50).map((r) => r.seq)) : new Set();
      const list = answer[k.list].filter((r) => !known.has(r.seq));
      for (const r of list) feed.rows.push(r);
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
export const isFollowing = () => following;
export function setFollowing(is) { following = is; }
export function follow() {
  following = true;
  paused.value = false;
  put({ open: '', at: '' });
  scroller().scrollTop = 0;
  if (feed.place || feed.behind) start(feed.kind, feed.text);
  else release();
}
export function pauseOrGo() {
  paused.value = !paused.value;
  if (!paused.value && following) release();
}
const idOf = (r) => r[kinds[feed.kind].id];

// release puts the rows that are held on top.
export function release() {
  if (feed.behind && !feed.place) { start(feed.kind, feed.text); return; }
  if (!feed.held.length) return;
  feed.rows = feed.held.concat(feed.rows);
  feed.added += feed.held.length;
  if (feed.held.length <= 20) for (const r of feed.held) feed.fresh.add(idOf(r));
  if (feed.fresh.size > 200) feed.fresh.clear();
  feed.held = [];
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
export function weave() {
  for (const g of gaps.value) {
    if (!g.lost || feed.gaps.has(g.to)) continue;
    let at = feed.rows.findIndex((r) => r.seq <= g.to);
    if (at < 0) { if (!feed.whole) continue; at = feed.rows.length; }
    const id = 'gap ' + g.to;
    feed.rows.splice(at, 0, { type: 'gap', seq: g.to, event_id: id, run_id: id, gap: g });
    feed.gaps.add(g.to);
  }
}

// arrived hears that there are new records.
export function arrived(records) {
  if (!feed.kind) return;
  if (!records) { // something may be in the history that did not arrive
    if (following && !paused.value && !feed.place) start(feed.kind, feed.text);
    else if (!feed.place) { feed.behind = true; show(); }
    return;
  }
  const ends = (r) => feed.kind === 'decisions' && r.type === 'event' && r.kind === 'tool.after';
  if (records.some((r) => r.type === kinds[feed.kind].record || ends(r))) soon();
}
let timer = 0, reading = false, again = false;
function soon() {
  if (reading) again = true;
  else timer ||= setTimeout(news, pause);
}

// news reads the newest rows that fit: those that were not there are held or put on top, others may have a result now.
async function news() {
  timer = 0;
  const { abort, kind } = feed, k = kinds[kind];
  if (!kind || feed.err || abort?.signal.aborted) return;
  if (feed.loading) { soon(); return; }
  reading = true;
  again = false;
  try {
    const before = feed.held[0] || feed.rows.find((r) => r.type !== 'gap'),
      since = new Date(Date.now() - settling).toISOString();
    const query = { ...feed.query, since: feed.query.since > since ? feed.query.since : since }, list = [];
    let next = '', whole = !before;
    for (let n = 0; list.length < mostHeld && n < 20; n++) {
      const a = await ask(k.path, { query: { ...query, [k.page]: next, limit: n ? 1000 : 200 }, signal: abort.signal });
      list.push(...a[k.list]);
      next = a.next;
      whole ||= !next || list.some((r) => r.seq <= before.seq);
      if (whole) break;
    }
    if (abort === feed.abort) batch(() => merge(list, whole));
  } catch (err) { if (err.name !== 'AbortError' && !(err instanceof Refusal)) { reading = false; throw err; } }
  reading = false;
  if (again) soon();
}

const shape = (r) => [r.outcome, r.ran?.event_id, r.answered?.answer, r.result].join();
function merge(list, whole) {
  const top = feed.rows.slice(0, 1000), at = new Map(top.map((r, i) => [idOf(r), i]));
  const held = new Set(feed.held.map(idOf)), news = [];
  for (const r of list) {
    const i = at.get(idOf(r));
    if (i === undefined) { if (!held.has(idOf(r)) && r.seq > (feed.rows[0]?.seq || 0)) news.push(r); continue; }
    if (shape(feed.rows[i]) !== shape(r)) feed.rows[i] = r;
  }
  if (!whole) feed.behind = true;
  else feed.held = news.concat(feed.held).slice(0, mostHeld);
  if (feed.held.length >= mostHeld) feed.behind = true;
  count(news);
  if (following && !paused.value && !feed.place) release();
  show();
}

// counts are those of the search; live ones are added until they are asked for again.
export const facets = signal(null), chart = signal(null);
let counting = null;

export const ranges =
  { '15m': 900e3, '1h': 3600e3, '6h': 6 * 3600e3, '24h': 864e5, '7d': 7 * 864e5, '30d': 30 * 864e5 };
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
export async function sum(query, every, signal_, shown) {
  const total = { total: 0, tried: 0, decisions: {}, agents: {}, tools: {}, hooks: {}, buckets: new Map(), sessions: 0,
    rewrote: 0, done: false };
  let before = '';
  for (let part = 0; part < 60; part++) {
    const a = await ask('v1/decisions/counts', { query: { ...query, every, before }, signal: signal_ });
    total.total += a.total;
    total.tried += a.tried || 0;
    total.rewrote += a.rewrote;
    total.sessions = Math.max(total.sessions, a.sessions);
    for (const by of ['decisions', 'agents', 'tools', 'hooks']) {
      for (const c of a[by] || []) total[by][' ' + c.name] = (total[by][' ' + c.name] || 0) + c.count;
    }
    for (const b of a.buckets || []) {
      const had = total.buckets.get(+new Date(b.start));
      if (had) addTo(had, b);
      else total.buckets.set(+new Date(b.start), { ...b });
    }
    before = a.next;
    if (!before) { total.done = true; break; }
    if (shown) shown({ ...total });
  }
  return total;
}

export async function recount(text, range) {
  counting?.abort();
  const abort = counting = new AbortController();
  const { query, bad } = parse(text, 'decisions');
  if (bad) return;
  const at = extent(query, range);
  const open = { ...query };
  delete open.since; delete open.until;
  try {
    // later ones are shown when they are whole
    const drawn = (c) => { chart.value = { ...at, counts: c }; }, first = !facets.value;
    await Promise.all([
      sum({ ...open, since: new Date(at.from).toISOString() }, at.step / 1000 + 's', abort.signal,
        first && drawn).then(drawn),
      sum(query, '', abort.signal, first && ((c) => { facets.value = c; })).then((c) => { facets.value = c; }),
    ]);
  } catch (err) { if (err.name !== 'AbortError' && !(err instanceof Refusal)) throw err; }
}

// count adds new rows to the counts, until these are asked for again.
function count(rows) {
  if (feed.kind !== 'decisions' || !facets.value || !chart.value) return;
  const f = facets.value, c = chart.value;
  const add = (map, name) => { if (name) map[' ' + name] = (map[' ' + name] || 0) + 1; };
  for (const r of rows) {
    if (r.tried) continue;
    const start = Math.floor(Date.parse(r.time) / c.step) * c.step;
    let b = c.counts.buckets.get(start);
    if (!b) c.counts.buckets.set(start,
      b = { start: new Date(start).toISOString() });
    addTo(b, { [partOf(r)]: 1, disobeyed: +(r.outcome === 'disobeyed') });
    c.counts.total++;
    f.total++;
    add(f.decisions, r.outcome || r.decision); add(f.decisions, r.outcome === 'disobeyed' && r.decision);
    add(f.agents, r.agent_name || r.dialect); add(f.tools, r.tool);
    for (const h of [...(r.decided_by || []), ...(r.shadow || []).map((s) => s.hook)]) add(f.hooks, h);
  }
  if (!rows.length) return;
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

// leave ends all reading of a search.
export function leave() { counting?.abort(); feed.abort?.abort(); }

// locate reads from the place that the address names, when the newest rows do not reach it.
export async function locate(seq) {
  for (let i = 0; i < 200 && feed.loading; i++) await new Promise((r) => setTimeout(r, 25));
  const lastSeq = feed.rows.length ? feed.rows[feed.rows.length - 1].seq : 0;
  if (!feed.whole && seq < lastSeq) { start(feed.kind, feed.text, seq + 200); feed.place = seq; }
}
