// Calls: decisions, runs or events, newest first. One search line is the state; facets, the chart and links write
// words into it.
import { computed, html, useEffect, useRef, useState } from './lib.js';
import { asks } from './asks.js';
import { Call, useStory } from './call.js';
import { Axis, Bars, sum } from './chart.js';
import { Facets, Filter } from './facets.js';
import {
  arrived, chart, facets, feed, follow, isFollowing, kinds, leave, locate, mostRows, older, pauseOrGo, paused,
    ranges, recount,
  release, setFollowing, show, start, version, weave,
} from './feed.js';
import { Fleet, fleet } from './fleet.js';
import { escape, keep, useKeys } from './keys.js';
import { ask, gaps, hear, missing, segment } from './net.js';
import {
  Bad, Clock, Empty, Icon, Late, Ran, State, Td, Took, What, Who, Why, copy, failed, resultOf, stateOf, take,
} from './parts.js';
import { Virtual, isNarrow, reveal, scroller, useNarrow } from './rows.js';
import { Export, Saved, Search } from './search.js';
import { go, link, put, route } from './state.js';
import { agentName, hhmm, hhmmss, number, parse, plural, set, short, stamp, tokens, when } from './words.js';

// ofFleet is whether the decisions of all machines are listed, which fleet.js does.
const ofFleet = computed(() => route.value.p.kind === 'fleet' && fleet.value !== null);
const text = computed(() => route.value.p.q || '');
const kind = computed(() => (Object.hasOwn(kinds, route.value.p.kind || '') ? route.value.p.kind : 'decisions'));
const range = computed(() => (Object.hasOwn(ranges, route.value.p.range || '') ? route.value.p.range : '1h'));

export function Calls() {
  const search = useRef();
  useEffect(() => hear(arrived), []);
  useEffect(() => { weave(); show(); }, [gaps.value]);
  useEffect(() => {
    const at = +(route.value.p.at || 0);
    setFollowing(!at && !route.value.p.open);
    if (ofFleet.value) return undefined;
    start(kind.value, text.value);
    if (at) locate(at);
    facets.value = chart.value = null;
    recount(text.value, range.value);
    const again = setInterval(() => recount(text.value, range.value), 60000);
    return () => { clearInterval(again); leave(); };
  }, [text.value, kind.value, range.value, ofFleet.value]);
  useKeys({
    '/': () => { search.current?.focus(); search.current?.select(); },
    f: follow,
    ' ': pauseOrGo,
  });
  useEffect(keep);
  return html`<section class="view" id="stream" aria-label="Calls">
    <h1 class="sr">Calls</h1>
    <div class="bar"><${Search} input=${search} text=${text.value} kind=${kind.value} ofFleet=${ofFleet.value} />
      <span class="seg" role="group" aria-label="What is listed">${Object.keys(kinds).map((k) =>
        html`<a href=${link('stream', { ...route.value.p, kind: k === 'decisions' ? '' : k, open: '', at: '' })}
        aria-current=${k === kind.value && !ofFleet.value ? 'true' : undefined}>
            ${{ decisions: 'Calls', runs: 'Runs', events: 'Events' }[k]}</a>`)}${
        fleet.value && html`<a href=${link('stream', { q: text.value, kind: 'fleet' })}
          aria-current=${ofFleet.value ? 'true' : undefined}>Fleet</a>`
      }</span>${!ofFleet.value && html`<${Filter} text=${text.value} />`}
      ${!ofFleet.value && html`<${Saved} text=${text.value} kind=${kind.value} />
        <${Export} text=${text.value} kind=${kind.value} />`}
      ${!ofFleet.value && html`<button type="button" class="pause" aria-pressed=${paused.value} onClick=${pauseOrGo}>
        ${paused.value ? 'Go on' : 'Pause'} <kbd>Space</kbd></button>`}</div>
    ${ofFleet.value ? html`<${OfFleet} />` : html`<div class="split"><${Facets} text=${text.value} kind=${kind.value} />
        <div class="listing"><${Chart} /><${List} /></div></div>`}</section>`;
}

// OfFleet lists what fits the search on all machines.
function OfFleet() {
  const { query, bad } = parse(text.value, 'fleet');
  return bad ? html`<${Bad} err=${new Error(bad)} />` : html`<${Fleet} query=${query} />`;
}

function Chart() {
  const c = chart.value;
  const { query, bad } = parse(text.value, 'decisions');
  if (kind.value !== 'decisions' || bad) return '';
  if (!c) return html`<div class="chart"><div class="cap"><span> </span></div><div class="plot empty"></div>
    <div class="axis"><span> </span></div></div>`;
  const brush = query.since || query.until
    ? [query.since ? Date.parse(query.since) : c.from, query.until ? Date.parse(query.until) : c.to] : null;
  const buckets = [...c.counts.buckets.values()].filter((b) => +new Date(b.start) >= c.from - c.step);
  const most = Math.max(0, ...buckets.map(sum));
  const sums = ['deny', 'ask'].map((p) => buckets.reduce((s, b) => s + (b[p] || 0), 0));
  const dragged = (a, b) => {
    const whole_ = c.step >= 6e4 ? 6e4 : 1e3, end = Math.ceil(b / whole_) * whole_;
    let q = set(text.value, 'since', stamp(Math.floor(a / whole_) * whole_));
    q = set(q, 'until', end >= Date.now() ? '' : stamp(end));
    go('stream', { ...route.value.p, q, open: '', at: '' }); // Back returns from it
  };
  const clear = (e) => {
    e.preventDefault();
    put({ q: set(set(text.value, 'since', ''), 'until', ''), open: '', at: '' });
  };
  const unit = { 1e3: 'a second', 5e3: 'in 5 s', 15e3: 'in 15 s', 6e4: 'a minute', 3e5: 'in 5 min', 9e5: 'in 15 min',
    36e5: 'an hour', 216e5: 'in 6 hours', 864e5: 'a day' }[c.step] || 'each';
  return html`<div class="chart"><div class="cap">
    <span>calls ${unit}${most ? ', ' + number(most) + ' at most' : ''}</span>
      <span class="zoom" role="group" aria-label="How far back">${Object.keys(ranges)
        .map((r) => html`<a href=${link('stream', { ...route.value.p, range: r === '1h' ? '' : r })}
          aria-current=${r === range.value ? 'true' : undefined}>${r}</a>`)}</span>
      ${brush ? html`<a class="link" href="#" onClick=${clear}>
        ${when(brush[0], hhmm)} to ${query.until ? when(brush[1], hhmm) : 'now'} · clear</a>`
        : html`<span></span>`}</div>
    <${Bars} buckets=${buckets} from=${c.from} to=${c.to} width=${c.step} height=${82} marks=${true} brush=${brush}
      onBrush=${dragged}
      label=${`Decisions from ${when(c.from, hhmm)} to ${when(c.to, hhmm)}: ${number(c.counts.total)}, of them ${
          sums[0]} denied and ${sums[1]} asked`} />
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
  // rows of another kind are about to go
  const k = kinds[kind.value], here = feed.kind === kind.value, rows = here ? feed.rows : [], { p } = route.value;
  const [talls, setTall] = useState({}); // points that the open row needs, by its id
  const height = narrow ? 84 : 32, openHeight = Math.max(narrow ? 320 : 128, talls[p.open] || 0);
  const opened = p.open ? rows.findIndex((r) => r[k.id] === p.open) : -1;
  const chosen = p.sel ? rows.findIndex((r) => r[k.id] === p.sel) : -1;
  const body = () => table.current?.querySelector('tbody');
  const select = (i, open) => {
    if (!rows.length) return;
    const at = Math.max(0, Math.min(i, rows.length - 1)), id = rows[at][k.id];
    setFollowing(false);
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
  const now = () => {
    const { p } = route.value, i = rows.findIndex((r) => r[k.id] === p.sel);
    return i >= 0 ? i : rows.findIndex((r) => r[k.id] === p.open);
  };
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
      if (main.scrollTop > 160) setFollowing(false);
      else if (main.scrollTop === 0 && !route.value.p.open && !route.value.p.sel && !feed.place && !isFollowing()
        && !feed.behind) {
        setFollowing(true);
        if (!paused.value) release();
      }
    };
    main.addEventListener('scroll', f, { passive: true });
    return () => main.removeEventListener('scroll', f);
  }, []);
  useEffect(() => { if (opened >= 0 && !said.current) {
    said.current = 1;
    reveal(body(), opened, height, opened, openHeight, 200);
  } }, [opened >= 0]);

  // Cells that are as they were are the same objects: they cost nothing to draw again.
  const cells = { decisions: decisionRow, runs: runRow, events: eventRow }[kind.value], drawn = useRef(new Map());
  if (drawn.current.size > 2000) drawn.current.clear();
  const row = (i) => {
    const r = rows[i], id = r[k.id], on = i === current;
    let had = drawn.current.get(id);
    if (had?.r !== r) drawn.current.set(id, had = { r, cells: r.type === 'gap' ? gapRow(r.gap) : cells(r) });
    return {
      id, cells: had.cells, tabindex: i === Math.max(0, current) ? 0 : -1, selected: on,
      class: (on || i === opened ? 'sel' : '') + (i === opened ? ' opened' : '') +
        (feed.fresh.has(id) ? ' fresh' : '') + (loud[r.outcome] || ''),
    };
  };
  const click = (e) => {
    const id = !e.target.closest('a, button, .peek') && e.target.closest('tr[data-id]')?.dataset.id;
    const i = id ? rows.findIndex((r) => r[k.id] === id) : -1;
    if (i >= 0) select(i, i !== opened);
  };
  const open = (i) => html`<${Td} colspan=${6}>
    <${Peek} r=${rows[i]} kind=${kind.value} tall=${(n) => setTall({ [rows[i][k.id]]: n })} /></${Td}>`;
  const missed = gaps.value.filter((g) => g.end >= feed.read).reduce((n, g) => n + missing(g), 0);
  const news = [feed.held.length && plural(feed.held.length, 'new', 'new'),
    feed.behind && (missed ? plural(missed, 'record') + ' missed' : 'more in the history')].filter(Boolean).join(', ');
  const bar = news && (!isFollowing() || paused.value) ? html`${news} · `
    : feed.place ? 'newer ones are not shown · ' : '';
  const none = here && !rows.length && !feed.loading;
  return html`<table ref=${table} role="table" class=${'fold stream ' + kind.value} aria-label=${'Newest ' + kind.value}
    aria-rowcount=${feed.whole ? rows.length + 1 : -1}>
    <thead role="rowgroup"><tr role="row">${heads[kind.value].map((h, i) => html`<th role="columnheader" scope="col"
        class=${(h === 'Result' ? 'f-result' : '') + (i === heads[kind.value].length - 1 ? ' num' : '')}>${h}</th>`)}
      </tr>
    ${asks.value.length > 0 && kind.value === 'decisions' && html`<tr role="row" class="new">
      <td role="cell" colspan="6"><a class="amber" href="#now">
      <${Icon} name="ask" />${plural(asks.value.length, 'call is', 'calls are')} held
      and ${asks.value.length === 1 ? 'waits' : 'wait'} for an answer</a></td></tr>`}
    ${bar && html`<tr role="row" class="new"><td role="cell" colspan="6">
      <button type="button" class="plain link" onClick=${follow}>${bar}follow <kbd>f</kbd></button></td></tr>`}</thead>
    <${Virtual} count=${rows.length} added=${feed.added} height=${height} opened=${opened} openHeight=${openHeight}
      row=${row} open=${open} end=${() => older()} click=${click} /></table>
    ${feed.err ? html`<${Bad} err=${feed.err} />` : none ? html`<${Nothing} />`
      : feed.loading && !rows.length ? html`<${Late} />` : ''}
    ${rows.length > 0 && feed.whole && !feed.err
      && html`<p class="rest t">That is all${text.value ? ' that fits' : ''}.</p>`}
    ${rows.length >= mostRows && html`<p class="rest t">
        ${number(mostRows)} rows are shown. Narrow the search with since: and until: for older ones.</p>`}`;
}

function Nothing() {
  const list = tokens(text.value);
  if (!list.length) return html`<${Empty}><h2>Nothing yet</h2><p class="s">
    ${kind.value === 'decisions' ? 'A guard makes a decision for each call that it looks at. No agent has made one yet.'
    : 'Nothing of this kind is in the history.'}</p></${Empty}>`;
  return html`<${Empty}><h2>Nothing matches <code>${text.value}</code></h2>
    <p class="s">Without ${list.map((t, i) => html`${i ? ' or ' : ''}<button type="button" class="plain link"
        onClick=${() => put({ q: list.filter((o) => o !== t).map((o) => o.text).join(' ') })}>
        <code>${t.text}</code></button>`)} there may be more.</p></${Empty}>`;
}

// loud are the classes of rows that did not go as decided.
export const loud = { disobeyed: ' disobeyed', 'not asked': ' unasked' };
// gapRow stands where records are missing.
const gapRow = (g) => html`<td role="cell" colspan="6" class="gap">
  <${Icon} name="fail" />${missing(g) ? plural(missing(g), 'record') + ' missed'
  : 'Records missed'}, ${hhmmss(g.begin)} to ${hhmmss(g.end)} <span class="t">the history has none of them</span></td>`;
const decisionRow = (d) => html`<td role="cell" class="when mono f-time">${Clock({ t: decidedAt(d), fine: true })}</td>
  <td role="cell" class="f-who">${Who({ r: d })}</td><td role="cell" class="f-wide">${What({ r: d })}</td>
  <td role="cell" class="f-state">${State({ is: stateOf(d) })}</td>
    <td role="cell" class="f-result f-hide">${Ran({ d })}</td><td role="cell" class="by f-why">${Why({ d: d })}</td>
    <td role="cell" class="num f-hide">${Took({ ms: d.duration_ms })}</td>`;
const runRow = (r) => html`<td role="cell" class="when mono f-time">${Clock({ t: endedAt(r), fine: true })}</td>
  <td role="cell" class="f-who" title=${r.hook}>${r.hook} <span class="t">${agentName(r)}</span></td>
  <td role="cell" class="f-wide">${What({ r: r })}</td>
  <td role="cell" class="f-state">${State({ is: resultOf(r) })}</td><td role="cell" class="by f-why">
    <span>${r.reason || r.error || ''}</span>
    ${!r.reason && !r.error ? html`<span class="t">${r.awaited ? 'no opinion' : 'observes'}</span>` : ''}</td>
    <td role="cell" class="num f-hide">${Took({ ms: r.duration_ms })}</td>`;
const eventRow = (e) => html`<td role="cell" class="when mono f-time">${Clock({ t: e.time, fine: true })}</td>
  <td role="cell" class="f-who">${Who({ r: e })}</td><td role="cell" class="f-wide">${What({ r: e })}</td>
  <td role="cell" class="f-state s" title=${e.event}>${e.event}</td><td role="cell" class="mono f-why">
    ${e.session_id ? html`<a class="link" href=${link('session', { id: e.session_id, agent: e.dialect })}>
      ${e.session_id.slice(0, 8)}</a>` : ''}</td><td role="cell" class="num f-hide">${number(e.bytes)}</td>`;

// The newest rows are first: decisions by when they were made, runs by when they ended.
const later = (t, ms) => new Date(Date.parse(t) + (ms || 0));
const decidedAt = (d) => later(d.time, d.duration_ms), endedAt = (r) => later(r.started, r.duration_ms);

// Peek is what an open row shows: the story of a call, or an event and the runs of its hooks. tall is
// told how many points high it is.
export function Peek({ r, kind: of, tall }) {
  const id = r.event_id, story = useStory(id, of === 'decisions' || of === 'past');
  if (story) return html`<${Call} s=${story} tall=${tall} />`;
  return story === null ? html`<div class="peek"><${Late} /></div>` : html`<${Hooks} r=${r} kind=${of} tall=${tall} />`;
}

function Hooks({ r, kind: of, tall }) {
  const id = r.event_id, [data, setData] = useState(null);
  useEffect(() => {
    const abort = new AbortController();
    Promise.all([ask('v1/events/' + segment(id), { signal: abort.signal }).catch(quiet),
      ask('v1/runs', { query: { event_id: id, limit: 200 }, signal: abort.signal }).catch(quiet)])
      .then(([event, runs]) => setData({ event, runs: runs ? runs.runs : [] }), () => {});
    return () => abort.abort();
  }, [id]);
  const runs = (data?.runs || []).slice()
    .sort((a, b) => (b.awaited ? 1 : 0) - (a.awaited ? 1 : 0) || Date.parse(a.started) - Date.parse(b.started));
  useEffect(() => { if (data) tall?.(24 + 24 * (runs.length + (isNarrow() ? 7 : 0))); }, [data]);
  const first = of === 'runs' ? r : runs[0];
  return html`<div class="peek"><div class="input">
    <pre tabindex="0" role="region" aria-label="input">${data ? input(data.event) : ' '}</pre>
    <div class="acts">${r.session_id && html`<a class="link"
        href=${link('session', { id: r.session_id, agent: r.dialect, at: id })}>Session at this point</a>`}
      ${first && html`<a class="link" href=${link('run', { id: first.run_id })}>Run</a>
        <a class="link" href=${link('hooks', { hook: first.hook })}>Hook</a>`}
      <button type="button" class="plain t" onClick=${() => copy(id)} title=${id}>
        ${short(id)} · copy <kbd>y</kbd></button></div></div>
    <div class="kv">${runs.map((x) => html`<a href=${link('run', { id: x.run_id })} title=${x.hook}>${x.hook}</a>
        <${State} is=${x.awaited || x.result !== 'ok' ? resultOf(x) : ['none', 'observes', 'none']} />
        <span class="s" title=${x.reason || x.error || ''}>${failed(x) ? x.error || '' : x.reason || ''}</span>
        <span class="num"><${Took} ms=${x.duration_ms} /></span>`)}</div></div>`;
}
const quiet = (err) => { if (err.name === 'AbortError') throw err; return null; };

// input is what the event was about, as text: the tool's input where there is one.
function input(e) {
  if (!e) return 'This event is not in the history any more.';
  if (!e.data && !e.preview) return e.bytes > 2 ? 'not kept (history.payload: none)' : e.subject || '';
  if (!e.data || !e.whole) return e.preview || '';
  const given = e.data.tool_input ?? e.data.prompt ?? e.data.params ?? e.data;
  if (typeof given === 'string') return given;
  for (const key of ['command', 'content', 'new_string', 'query', 'url',
    'file_path']) if (typeof given[key] === 'string' && given[key]) return given[key];
  return JSON.stringify(given, null, 1);
}
export { input };
