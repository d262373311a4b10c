// The hooks that need a person: those that fail, wait to be allowed, or gave up. Now and Hooks
// show them, and the bar counts them.
import { computed, signal } from './lib.js';
import { ask, follow } from './net.js';
import { failed } from './parts.js';

const day = 864e5;
export const hooks = signal(null); // null = not read yet
export const problems = signal([]); // of files that are no hook
export const stats = signal({}); // of the last 24 h, by ' ' + name
export const earlier = signal({}); // of the 24 h before
export const heads = signal({}); // the newest runs of hooks that failed lately, by ' ' + name
export const dead = signal([]);
export const waiting = signal([]);
export const would = signal({}); // how often a hook in the shadow would have said something, by ' ' + name

const byName = (list) => Object.fromEntries(list.map((s) => [' ' + s.hook, s]));

// watch reads all of it when a run fails, when a hook changes, and every 20 s.
export const watch = () => follow(async (abort) => {
  const now = Date.now(), iso = (t) => new Date(t).toISOString();
  const [h, s, b, d, w] = await Promise.all([
    ask('v1/hooks', { signal: abort }), ask('v1/stats', { query: { since: iso(now - day) }, signal: abort }),
    ask('v1/stats', { query: { since: iso(now - 2 * day), until: iso(now - day) }, signal: abort }),
    ask('v1/dead', { query: { limit: 200 }, signal: abort }), ask('waiting', { signal: abort }),
  ]);
  const watches = h.hooks.some(isShadow)
    ? (await ask('v1/decisions/counts', { query: { shadow: 1, since: iso(now - day) }, signal: abort })).hooks || []
    : [];
  const shaky = s.hooks.filter((x) => x.failures > 0 && h.hooks.some((k) => k.name === x.hook)).slice(0, 20);
  const runs =
    await Promise.all(shaky.map((x) => ask('v1/runs', { query: { hook: x.hook, limit: 50 }, signal: abort })));
  heads.value = Object.fromEntries(shaky.map((x, i) => [' ' + x.hook, runs[i].runs]));
  would.value = Object.fromEntries(watches.map((c) => [' ' + c.name, c.count]));
  stats.value = byName(s.hooks); earlier.value = byName(b.hooks); dead.value = d.dead;
  waiting.value = w.waiting.filter((v) => v.gone || h.hooks.some((k) => k.name === v.hook && k.state === 'waiting'));
  problems.value = h.problems.filter((p) => !p.warning); hooks.value = h.hooks;
}, (r) => (r.type === 'run' && failed(r)) || (r.type === 'event' && (r.event || '').startsWith('hookd:')), 20000);

// inForce says in words what runs while a changed hook waits: the version that was allowed, unless
// one of its programs is another. A program's change is "/path differs".
export const inForce = (w) => (w.changes.some((c) => c[0] === '/')
  ? 'Its program has changed: until you allow it, its runs are refused, and a guard denies.'
  : 'The version that you have allowed stays in force until then.');
// inFolder is a text with the paths in a hook's folder as they are there.
export const inFolder = (w, text) => text.replace(w.file.slice(0, w.file.lastIndexOf('/') + 1), '');
export const changed = (w) => w.changes.map((c) => inFolder(w, c)).join(', ');

// failing describes the newest runs of a hook that all failed: {runs, all, since, why, last,
// often}; null = its newest run did not fail. often: each run that was read failed.
export function failing(name) {
  const list = heads.value[' ' + name] || [];
  let n = 0;
  while (n < list.length && failed(list[n])) n++;
  if (!n) return null;
  return { runs: n, all: n === list.length ? n : list.length, since: list[n - 1].started, why: cause(list[0]),
    last: list[0], often: n >= list.length };
}

// cause is why a run failed; older records have it with its exit code.
export const cause = (r) => r.cause || r.error || r.reason || r.result;

const broken = { rejected: 1, refused: 1, degraded: 1 };
// stateOfHook returns how the state of a hook is shown: [shape, word, class, group]; group '' =
// it needs nothing.
export function stateOfHook(h) {
  if (h.state === 'waiting') return ['waits', 'waits', 'state waits', 'needs'];
  if (h.state === 'rejected' || h.state === 'refused') return ['fail', h.state, 'state fail', 'needs'];
  if (h.state === 'disabled') return ['idle', 'off', 'state q', ''];
  const f = failing(h.name);
  const given = dead.value.filter((d) => d.hook === h.name).length;
  if (f && f.runs > 1 && (f.last.awaited || !given)) return ['fail', 'failing', 'state fail', 'needs'];
  if (given) return ['dead', given + ' gave up', 'state q', 'needs'];
  if (h.state === 'degraded') return ['fail', 'degraded', 'state fail', 'needs'];
  if (isShadow(h)) return ['shadow', 'shadow', 'state q', 'shadow'];
  return ['ok', 'on', 'state q', ''];
}
export const isShadow = (h) => h.shadow === true;

// problemOf is the first error of a hook's file, or else the first warning.
export const problemOf = (h) => (h.problems || []).find((p) => !p.warning) || (h.problems || [])[0];

// hookNeeds are the things that wait for a person, without the asks: {kind, name, …}.
export const hookNeeds = computed(() => {
  const list = [];
  for (const h of hooks.value || []) {
    const f = failing(h.name);
    if (broken[h.state]
      && h.state !== 'degraded') list.push({ kind: 'broken', name: h.name, hook: h, why: problemOf(h) });
    else if (h.state !== 'disabled' && f && f.runs > 1 && (f.last.awaited
      || !dead.value.some((d) => d.hook === h.name))) list.push({ kind: 'failing', name: h.name, hook: h, failing: f });
    else if (h.state === 'degraded') list.push({ kind: 'degraded', name: h.name, hook: h, why: problemOf(h) });
  }
  for (const w of waiting.value) list.push({ kind: 'waits', name: w.hook, waiting: w });
  const given = new Map();
  for (const d of dead.value) { if (!given.has(d.hook)) given.set(d.hook, []); given.get(d.hook).push(d); }
  for (const [name, letters] of given) list.push({ kind: 'gave up', name, letters });
  return list;
});
