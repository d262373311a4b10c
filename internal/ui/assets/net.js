// What the page asks, and the stream that it hears.
import { batch, signal } from './lib.js';

// A Refusal is an answer that is none: code says why for programs, message for people.
export class Refusal extends Error {
  constructor(status, error) {
    super(error.message || 'no answer');
    Object.assign(this, { status, code: error.code || '', hint: error.hint || '' });
  }
}

// ask sends a request to hookd by way of the page's server. query's members without a
// value are left out.
export async function ask(path, { query, method = 'GET', body, signal: abort } = {}) {
  const list = new URLSearchParams();
  for (const key of Object.keys(query || {})) if (query[key] || query[key] === 0) list.set(key, query[key]);
  const text = list.toString();
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
export const post = (path, body) => ask(path, { method: 'POST', body });

export const about = signal({});
export const status = signal(null);

// link: how hookd is reached. state: begin, on, off (hookd is away), gone (hookd ui is).
export const connection = signal({ state: 'begin', since: Date.now(), why: '' });
export const back = signal(null); // {records, at}: hookd is there again, for a moment
export const gaps = signal({ times: 0, records: 0 });
export const rate = signal(0); // records a second

const hearers = new Set();
// hear calls fn with lists of records as they arrive; null = read again what there is.
export function hear(fn) {
  hearers.add(fn);
  return () => hearers.delete(fn);
}
function tell(records) { batch(() => { for (const fn of hearers) fn(records); }); }

const askers = new Set();
// hearAsks calls fn with each record of the stream of asks.
export function hearAsks(fn) { askers.add(fn); }

let source, epoch = '', seq = null, fetched = -1;
const counted = []; // [time, records] of the last seconds

export function listen() {
  source?.close();
  const at = seq === null ? '' : '?since=' + seq + '&epoch=' + encodeURIComponent(epoch);
  source = new EventSource('live' + at);
  source.onmessage = (e) => heard(JSON.parse(e.data));
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

function heard(m) {
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
    fetched = 0;
    setTimeout(() => { back.value = { records: fetched, at: Date.now() }; fetched = -1; }, 400);
    setTimeout(() => { back.value = null; }, 5400);
    tell(null);
  }
  refresh();
}

function arrived(records) {
  const now = Date.now();
  counted.push([now, records.length]);
  if (fetched >= 0) fetched += records.length;
  let missed = 0;
  for (const r of records) {
    if (r.type === 'gap') { missed += r.to - r.from + 1; seq = r.to; } else if (r.seq) seq = r.seq;
  }
  if (missed) gaps.value = { times: gaps.value.times + 1, records: gaps.value.records + missed };
  tell(records);
  if (missed) tell(null); // the history has what the stream has not
}

const span = 5000; // over which the rate is counted
setInterval(() => {
  const from = Date.now() - span;
  while (counted.length && counted[0][0] < from) counted.shift();
  const n = counted.reduce((sum, c) => sum + c[1], 0) / (span / 1000);
  rate.value = n < 10 ? Math.round(n * 10) / 10 : Math.round(n);
}, 1000);

// refresh asks how hookd is.
export async function refresh() {
  try { status.value = await ask('v1/status'); } catch { /* the connection tells */ }
}
setInterval(refresh, 15000);

// follow keeps a signal up to date with load while a component shows it: at once, when
// a record arrives for which wants holds, and every so many ms. One question at a time.
export function follow(load, wants, every = 0) {
  let busy = false, again = false, timer = 0, stopped = false;
  const abort = new AbortController();
  const run = async () => {
    clearTimeout(timer);
    if (busy) { again = true; return; }
    busy = true;
    try { await load(abort.signal); } catch (err) { if (err.name !== 'AbortError' && !(err instanceof Refusal)) throw err; }
    busy = false;
    if (stopped) return;
    if (again) { again = false; timer = setTimeout(run, 250); } else if (every) timer = setTimeout(run, every);
  };
  const soon = () => { if (busy) again = true; else { clearTimeout(timer); timer = setTimeout(run, 250); } };
  const deaf = hear((records) => { if (!records || records.some(wants)) soon(); });
  run();
  return () => { stopped = true; clearTimeout(timer); abort.abort(); deaf(); };
}
