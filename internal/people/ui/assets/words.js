// How things are said: times, durations, names, states. And the words of the search.
import { about } from './net.js';

const two = (n) => String(n).padStart(2, '0');
const date = (t) => (t instanceof Date ? t : new Date(t));

export const hhmm = (t) => { const d = date(t); return two(d.getHours()) + ':' + two(d.getMinutes()); };
export const hhmmss = (t) => hhmm(t) + ':' + two(date(t).getSeconds());
export const exact = (t) => hhmmss(t) + '.' + String(date(t).getMilliseconds()).padStart(3, '0');
const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const sameDay = (a, b) => a.toDateString() === b.toDateString();

// when is a time of day, with the weekday or the date when it is not of today.
export function when(t, day = hhmmss) {
  const d = date(t), now = new Date();
  if (sameDay(d, now)) return day(d);
  if (Math.abs(+now - +d) < 6 * 86400e3) return days[d.getDay()] + ' ' + hhmm(d);
  return d.getDate() + ' ' + months[d.getMonth()] +
    (d.getFullYear() === now.getFullYear() ? ' ' + hhmm(d) : ' ' + d.getFullYear());
}

// whole is a time with all that there is to say, for a title.
// made once: that takes longer than a row
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
export const whole = (t) => full.format(date(t));

// ago is how long ago, for people: now, 9 s, 13 min, 2 h, 3 days.
export function ago(t, now = Date.now()) {
  const s = Math.max(0, (now - +date(t)) / 1000);
  return s < 5 ? 'now' : span(s * 1000);
}

// span is a length of time in one unit.
export function span(ms) {
  const s = ms / 1000;
  if (s < 1) return Math.round(ms) + ' ms';
  if (s < 60) return Math.round(s) + ' s';
  if (s < 3600) return Math.round(s / 60) + ' min';
  if (s < 86400) return Math.round(s / 3600) + ' h';
  const d = Math.round(s / 86400);
  return d + (d === 1 ? ' day' : ' days');
}

// took is a duration as [number, unit]: µs where it is no tenth of a ms, ms under a second, then one decimal.
export function took(ms) {
  if (ms === undefined || ms === null) return ['–', ''];
  if (ms < 0.095) return [String(Math.round(ms * 1000)), ms ? 'µs' : 'ms'];
  if (ms < 0.95) return [ms.toFixed(1), 'ms'];
  if (ms < 999.5) return [String(Math.round(ms)), 'ms'];
  if (ms < 99950) return [(ms / 1000).toFixed(1), 's'];
  return [String(Math.round(ms / 1000)), 's'];
}
export const tookText = (ms) => took(ms).join(' ').trim();

export const number = (n) => (n ?? 0).toLocaleString('en-US');
export const plural = (n, one, many = one + 's') => number(n) + ' ' + (n === 1 ? one : many);
export const bytes = (n) => n < 1024 ? plural(n, 'byte') : n < 1048576 ? (n / 1024).toFixed(1) + ' KiB'
  : (n / 1048576).toFixed(1) + ' MiB';

const named = (word) => (Object.hasOwn(about.value.agents || {}, word) ? about.value.agents[word] : word);

// agentName is what a person calls the agent of a record.
export const agentName = (r) => (r.tried ? '(tried)'
  : named(r.agent_name || r.dialect || '') || r.agent_id || r.sender || 'unknown');
export const agentLabel = (name) => named(name);

// home writes a path as a person would.
export function home(path) {
  const h = about.value.home;
  return path && h && (path === h || path.startsWith(h + '/')) ? '~' + path.slice(h.length) : path || '';
}
export const last = (path) => (path || '').replace(/\/+$/, '').split('/').pop();
export const short = (id) => (id || '').slice(-8);
export const shortSession = (id) => (id || '').slice(0, 8);
export const firstLine = (text) => {
  const t = (text || '').trim();
  const i = t.indexOf('\n');
  return i < 0 ? t : t.slice(0, i) + ' …';
};

const toolWords = {
  'prompt.submit': 'prompt', task: 'task', 'turn.stop': 'Stop', 'subagent.stop': 'Stop', 'subagent.start': 'Subagent',
    'session.start': 'start', 'session.end': 'end',
  'permission.request': 'permission', notification: 'notice', 'compact.before': 'compact',
};
// toolName is what stands in the slot of the tool.
export const toolName = (r) => r.tool || (Object.hasOwn(toolWords, r.kind) ? toolWords[r.kind] : r.event);

// The words of a search: tool:Bash decision:deny,ask "rm -rf".
export const keys = {
  decisions: ['decision', 'tool', 'agent', 'hook', 'session', 'cwd', 'event', 'took', 'rewrote', 'result',
    'undo', 'path', 'host',
    'shadow', 'since', 'until'],
  runs: ['result', 'hook', 'tool', 'agent', 'session', 'event', 'since', 'until'],
  events: ['event', 'tool', 'agent', 'session', 'cwd', 'since', 'until'],
  fleet: ['machine', 'decision', 'tool', 'agent', 'hook', 'session', 'cwd', 'event', 'shadow', 'since', 'until'],
};

const same = { outcome: 'decision', guard: 'hook', kind: 'event' }; // other words for a key

// part_ is a word with its value, or a word that has none yet; each perhaps after a -.
const valued = /(-(?=[a-z_]+:|"))?(?:([a-z_]+):)?("(?:[^"\\]|\\.)*"?|[^\s"]+)/;
const part_ = new RegExp(valued.source + /|(-(?=[a-z_]+:))?([a-z_]+):(?=\s|$)|"/.source, 'g');

// tokens cuts a search into its parts: {text, key, value, not}; key is '' for free text, not is a - before it.
export function tokens(text) {
  const list = [];
  for (const m of text.matchAll(part_)) {
    const [part, minus, key, value, minus2, open] = m;
    const word = key || open || '';
    list.push({ text: part, at: m.index, key: Object.hasOwn(same, word) ? same[word] : word, value: plain(value || ''),
      not: !!(minus || minus2) });
  }
  return list;
}
const plain = (v) => (v[0] === '"' ? v.slice(1).replace(/"$/, '').replace(/\\(.)/g, '$1') : v);
export const quoted = (v) => (/[\s"]/.test(v) || v === '' ? '"' + v.replace(/[\\"]/g, '\\$&') + '"' : v);

// outcomes are the words that a decision is searched for by, the strictest first.
export const outcomes = ['disobeyed', 'not asked', 'deny', 'ask', 'contain', 'rewrite', 'allow', 'context', 'none'];
// rare ones are listed only where there are any.
export const rare = new Set(['disobeyed', 'not asked', 'contain', 'context']);

const single = new Set(['took', 'rewrote', 'undo', 'shadow', 'since', 'until']); // have no list of values

// parse reads a search: {query, bad}; query is what the route takes.
export function parse(text, kind) {
  const query = Object.create(null), free = [];
  let bad = '';
  for (const t of tokens(text || '')) {
    if (t.not && kind !== 'decisions') { bad = bad || `${t.text}: a - leaves out calls alone`; continue; }
    if (!t.key || /^https?$/.test(t.key)) {
      const words_ = t.key ? t.text : t.value;
      if (t.not && words_) query.without = [...(query.without || []), t.key ? t.text.slice(1) : words_];
      else if (words_) free.push(words_);
      continue;
    }
    if (!keys[kind].includes(t.key)) { bad = bad || unknown(t.key, kind); continue; }
    if (t.value === '') continue; // still being typed
    if (t.not && single.has(t.key)) { bad = bad || `${t.text}: ${t.key}: cannot be left out with -`; continue; }
    if (t.key === 'took') {
      if (/^[<>]\d+(\.\d+)?(ms|s|m|h)$/.test(t.value)) query.took = [...(query.took || []), t.value];
      else bad = bad || `${t.text}: give how long hookd and people took as >1s or <20ms`;
    } else if (t.key === 'since' || t.key === 'until') {
      const at = moment(t.value);
      if (!at) bad = bad || `${t.text}: give a time as 14:00 or 2026-01-31, or how long ago as 30m, 2h or 7d`;
      else query[t.key] = at.toISOString();
    } else if (t.key === 'shadow') query.shadow = '1';
    else if (t.key === 'rewrote' || t.key === 'undo') query[t.key] = t.value;
    else {
      const values = t.not ? t.value.split(',').map((v) => '-' + v).join(',') : t.value;
      query[t.key] = query[t.key] ? query[t.key] + ',' + values : values;
    }
  }
  for (const d of (query.decision || '').split(',')
    .map((w) => w.replace(/^-/, ''))) if (d && !outcomes.includes(d)) bad = bad
    || `decision:${d}: it is ${outcomes.slice(0, -1).join(', ')} or ${outcomes.at(-1)}`;
  if (free.length) query.q = free.join(' ');
  return { query, bad };
}

function unknown(key, kind) {
  const near = keys[kind].find((k) => k.startsWith(key.slice(0, 2))) || keys[kind].find((k) => k[0] === key[0]);
  return `There is no word ${key}:` + (near ? `; did you mean ${near}:?` : `; there are ${keys[kind].join(', ')}`);
}

// moment reads a time of the search; null = it is none.
export function moment(text, now = Date.now()) {
  let m = /^(\d+)(s|m|min|h|d)$/.exec(text);
  if (m) return new Date(now - +m[1] * { s: 1e3, m: 6e4, min: 6e4, h: 36e5, d: 864e5 }[m[2]]);
  m = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text);
  if (m) {
    const d = new Date(now);
    d.setHours(+m[1], +m[2], +(m[3] || 0), 0);
    return +d > now ? new Date(+d - 864e5) : d;
  }
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) text += 'T00:00';
  const d = new Date(text);
  return /^\d{4}-/.test(text) && !isNaN(+d) ? d : null;
}

// stamp writes a time so that moment reads it.
export function stamp(t) {
  const d = date(t);
  if (sameDay(d, new Date())) return d.getSeconds() ? hhmmss(d) : hhmm(d);
  return d.getFullYear() + '-' + two(d.getMonth() + 1) + '-' + two(d.getDate()) + 'T' + hhmm(d) +
    (d.getSeconds() ? ':' + two(d.getSeconds()) : '');
}

// has reports whether a search has a word with a value.
export const has = (text, key, value) => tokens(text)
  .some((t) => t.key === key && !t.not && t.value.split(',').includes(value));

// toggle puts a word into a search, or takes it out. Of decisions, tools and the like
// several values fit together.
export function toggle(text, key, value) {
  const list = tokens(text);
  const found = list.find((t) => t.key === key && !t.not);
  const values = found ? found.value.split(',').filter(Boolean) : [];
  const next = values.includes(value) ? values.filter((v) => v !== value) : [...values, value];
  return set(text, key, next.join(','));
}

// set gives a word one value; '' takes it out.
export function set(text, key, value) {
  const rest = tokens(text).filter((t) => t.key !== key || t.not).map((t) => t.text);
  if (value) rest.push(key + ':' + quoted(value));
  return rest.join(' ');
}
