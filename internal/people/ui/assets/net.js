// Requests to hookd, and the live stream from it.
import { batch, signal } from './lib.js';

// A Refusal is the error of a request that hookd or the page's server refused, or that got no
// answer: code is for programs, message for people.
export class Refusal extends Error {
  constructor(status, error) {
    super(error.message || 'no answer');
    this.status = status;
    this.code = error.code || '';
    this.hint = error.hint || '';
  }
}

// ask sends a request to hookd through the page's server and returns the answer, or throws a
// Refusal. Members of query without a value are left out.
/** @param {string} path @param {Asking} [asking] @returns {Promise<any>} */
export async function ask(path, { query, method = 'GET', body, signal: abort } = {}) {
  const list = new URLSearchParams();
  for (const key of Object.keys(query || {})) {
    if (Array.isArray(query[key])) for (const value of query[key]) list.append(key, value);
    else if (query[key] || query[key] === 0) list.set(key, query[key]);
  }
  const text = list.toString();
  /** @type {RequestInit} */
  const options = { method, signal: abort, cache: 'no-store' };
  if (method !== 'GET') {
    options.headers = { 'Content-Type': 'application/json' };
    options.body = JSON.stringify(body ?? {});
  }
  let response, answer;
  try {
    response = await fetch(path + (text ? '?' + text : ''), options);
    answer = await response.json();
  } catch (err) {
    if (err.name === 'AbortError') throw err;
    throw new Refusal(0, { code: 'gone', message: 'hookd ui has ended' });
  }
  if (!response.ok) throw new Refusal(response.status, answer.error || {});
  return answer;
}

export const segment = encodeURIComponent;
/** @type {(path: string, body?: any) => Promise<any>} */
export const post = (path, body) => ask(path, { method: 'POST', body });

export const about = signal({});
export const status = signal(null);

// connection is whether hookd can be reached. state: begin (not known yet), on, off (hookd does
// not answer), gone (hookd ui has ended); since when, in milliseconds.
export const connection = signal({ state: 'begin', since: Date.now(), why: '' });
export const back = signal(null); // {records, missed}: hookd is there again, for a moment; missed are gaps
// gaps are the records that the stream missed, the newest first: {from, to, begin, end, lost}.
// from and to are the numbers of the first and the last, from 0 = not known how many; begin
// and end the times between which they were; lost: the history has none of them either,
// null = not asked yet.
export const gaps = signal([]);
const mostGaps = 50;
export const rate = signal(0); // records a second

const hearers = new Set();
// hear calls fn with lists of records as they arrive, until the function that it returns is
// called. null instead of a list = records may be missing, read the history again.
export function hear(fn) {
  hearers.add(fn);
  return () => hearers.delete(fn);
}
function publish(records) { batch(() => { for (const fn of hearers) fn(records); }); }

const askers = new Set();
// hearAsks calls fn with each record of the stream of asks.
export function hearAsks(fn) { askers.add(fn); }

let source, epoch = '', seq = null, fetched = -1;
const counted = []; // [time, records] of the last seconds

export function listen() {
  source?.close();
  const at = seq === null ? '' : '?since=' + seq + '&epoch=' + encodeURIComponent(epoch);
  source = new EventSource('live' + at);
  source.onmessage = (e) => received(JSON.parse(e.data));
  source.onerror = () => {
    source.close();
    off('gone', 'hookd ui has ended');
    setTimeout(listen, 2000);
  };
}

function off(state, why) {
  const was = connection.value;
  if (was.state === state) return;
  const since = was.state === 'off' || was.state === 'gone' ? was.since : Date.now();
  connection.value = { state, since, why };
}

function received(m) {
  if (m.connected === false) off('off', m.why || '');
  if (m.connected) connected(m);
  if (m.records) arrived(m.records);
  if (m.ask) batch(() => { for (const fn of askers) fn(m.ask); });
}

function connected(m) {
  const was = connection.value.state;
  const another = epoch !== '' && epoch !== m.epoch;
  connection.value = { state: 'on', since: Date.now(), why: '' };
  if (seq === null || another) { seq = m.seq; epoch = m.epoch; }
  if (was === 'off' || was === 'gone') {
    const since = Date.now();
    fetched = 0;
    setTimeout(() => {
      back.value = { records: fetched, missed: gaps.value.filter((g) => g.end >= since) };
      fetched = -1;
    }, 400);
    setTimeout(() => { back.value = null; }, 5400);
    publish(null);
  }
  refresh();
}

function arrived(records) {
  const now = Date.now();
  counted.push([now, records.length]);
  if (fetched >= 0) fetched += records.length;
  let missed = false;
  for (const r of records) {
    if (r.type === 'gap') { missed = true; gap(r); seq = r.to; } else if (r.seq) { seq = r.seq; lastSeen = now; }
  }
  publish(records);
  if (missed) publish(null); // the history may have what the stream has not
}

let lastSeen = Date.now(); // when the last record came
const settle = 1000; // ms after which the history has what it will have

function gap({ from, to }) {
  const g = { from: from || 0, to, begin: lastSeen, end: Date.now(), lost: null };
  gaps.value = [g, ...gaps.value].slice(0, mostGaps);
  setTimeout(() => check(g), settle);
}

// check asks whether the history has something of a gap.
async function check(g) {
  const newest = (path, list, page) => ask(path, { query: { [page]: g.to + 1, limit: 1 } })
    .then((a) => a[list][0]?.seq || 0);
  let list;
  try {
    list = await Promise.all([newest('v1/decisions', 'decisions', 'after'), newest('v1/runs', 'runs', 'before'),
      newest('v1/accepted', 'events', 'before')]);
  } catch (err) {
    if (!(err instanceof Refusal)) throw err;
    setTimeout(() => check(g), 5000); // hookd is away
    return;
  }
  const lost = g.from === 0 || Math.max(...list) < g.from;
  gaps.value = gaps.value.map((x) => (x === g ? { ...g, lost } : x));
  if (!lost) publish(null); // what was written meanwhile
}
export const missing = (g) => (g.from ? g.to - g.from + 1 : 0);

const span = 5000; // over which the rate is counted
setInterval(() => {
  const from = Date.now() - span;
  while (counted.length && counted[0][0] < from) counted.shift();
  const n = counted.reduce((sum, c) => sum + c[1], 0) / (span / 1000);
  rate.value = n < 10 ? Math.round(n * 10) / 10 : Math.round(n);
}, 1000);

// refresh reads the status of hookd.
export async function refresh() {
  try { status.value = await ask('v1/status'); } catch { /* the connection shows it */ }
}
setInterval(refresh, 15000);

// follow calls load now, when a record arrives for which wants returns true, and every so many
// milliseconds (0 = never), until the function that it returns is called. One load runs at a time, and pause
// milliseconds are between two.
export function follow(load, wants, every = 0, pause = 250) {
  let busy = false, again = false, timer = 0, stopped = false, ended = 0, rest = pause;
  const abort = new AbortController();
  const run = async () => {
    clearTimeout(timer);
    if (busy) { again = true; return; }
    busy = true;
    const begun = Date.now();
    try { await load(abort.signal); } catch (err) {
      if (err.name !== 'AbortError' && !(err instanceof Refusal)) throw err;
    }
    busy = false;
    ended = Date.now();
    rest = Math.max(pause, Math.min(5000, 20 * (ended - begun))); // what takes long is read less often
    if (stopped) return;
    if (again) { again = false; timer = setTimeout(run, rest); } else if (every) timer = setTimeout(run, every);
  };
  const soon = () => {
    if (busy) again = true;
    else { clearTimeout(timer); timer = setTimeout(run, Math.max(0, Math.max(250, ended + rest - Date.now()))); }
  };
  const stopHearing = hear((records) => { if (!records || records.some(wants)) soon(); });
  run();
  return () => { stopped = true; clearTimeout(timer); abort.abort(); stopHearing(); };
}
