// Session: prompt, tool, hooks, verdict, result, in the order in which they happened; and
// how long the agent waited.
import { html, useEffect, useMemo, useRef, useState } from './lib.js';
import { Axis } from './chart.js';
import { keep, useKeys, useRows } from './keys.js';
import { Refusal, ask, hear } from './net.js';
import { Bad, Became, Clock, Empty, Icon, Late, State, Table, Td, Took, Why, byPerson, byWay, failed, outcomeOf, resultOf, stateOf, toldTo, useWidth } from './parts.js';
import { scroller } from './rows.js';
import { link, put, route } from './state.js';
import { ago, agentName, firstLine, hhmm, home, number, plural, quoted, shortSession, span, tookText, toolName, when } from './words.js';

const mostRead = 5000; // events of a session, decisions and runs
const spare = 1000; // so many more before the oldest are dropped
const mostShown = 600; // rows; earlier ones on request

// read returns what the history has of a session: {session, events, decisions, runs, cut}, at
// most mostRead of each; cut = there is more. null = no such session.
async function read(id, agent, abort) {
  const sessions = (await ask('v1/sessions', { query: id ? { session: id, limit: 20 } : { limit: 1 }, signal: abort })).sessions;
  const session = sessions.find((s) => !agent || s.dialect === agent) || sessions[0];
  if (!session) return null;
  let cut = false; // there is more than is read
  const all = async (path, list, page) => {
    const out = [];
    let next = '';
    for (let i = 0; out.length < mostRead && i < 100; i++) {
      const a = await ask(path, { query: { session: session.session_id, limit: 1000, [page]: next }, signal: abort });
      out.push(...a[list]);
      if (!(next = a.next)) break;
    }
    cut ||= !!next;
    return out.filter((r) => !session.dialect || !r.dialect || r.dialect === session.dialect);
  };
  const [events, decisions, runs] = await Promise.all([all('v1/accepted', 'events', 'before'), all('v1/decisions', 'decisions', 'after'), all('v1/runs', 'runs', 'before')]);
  return { session, events, decisions, runs, cut };
}

// story puts events, decisions and runs together: rows in the order of time.
function story({ events, decisions, runs, session }) {
  const decided = new Map(decisions.map((d) => [d.event_id, d]));
  const ran = new Map();
  for (const r of runs) { if (!ran.has(r.event_id)) ran.set(r.event_id, []); ran.get(r.event_id).push(r); }
  const known = new Map(events.map((e) => [e.event_id, e]));
  for (const d of decisions) if (!known.has(d.event_id)) known.set(d.event_id, { ...d, seq: d.event_seq }); // the event itself was pruned
  const list = [...known.values()].sort((a, b) => Date.parse(a.time) - Date.parse(b.time) || a.seq - b.seq);
  const main = list[0]?.agent_id || '';
  const rows = [], calls = new Map(); // by call_id
  for (const e of list) {
    const row = { e, id: e.event_id, t: +new Date(e.time), d: decided.get(e.event_id), runs: ran.get(e.event_id) || [], sub: !!e.agent_id && e.agent_id !== main && e.kind !== 'tool.transform', kind: e.kind, more: [] };
    const call = e.call_id && calls.get(e.call_id);
    if (call) { // the same call: asked about again, its result, or hookd's own event about that
      Object.assign(row, { of: call, sub: call.sub });
      call.more.push(row);
      if (e.kind === 'tool.after') call.after = row;
    } else if (e.call_id) calls.set(e.call_id, row);
    rows.push(row);
  }
  for (let i = 0; i < rows.length; i++) { // what a subagent did belongs to the call that began it
    if (!rows[i].sub || rows[i - 1]?.sub) continue;
    let n = 0, j = i, parent = i - 1;
    for (; j < rows.length && (rows[j].sub || rows[j].kind === 'tool.after'); j++) if (rows[j].sub && rows[j].kind === 'tool.before' && !rows[j].of) n++;
    while (parent >= 0 && rows[parent].kind !== 'tool.before') parent--;
    if (parent >= 0 && n) rows[parent].subCalls = n;
  }
  return rows;
}

const stands = (r) => (r.d && (outcomeOf(r.d) !== 'none' || r.d.shadow)) || r.runs.some(failed);
const levels = {
  short: (r) => r.kind === 'prompt.submit' || !r.of && (stands(r) || r.more.some(stands)),
  calls: (r) => !r.of && (['prompt.submit', 'tool.before', 'tool.after', 'turn.stop', 'subagent.stop', 'permission.request'].includes(r.kind) || !!r.d),
  all: () => true,
};

// lists has for each type of record the list of the session that it belongs to and the name of
// its id.
const lists = { event: ['events', 'event_id'], verdict: ['decisions', 'event_id'], run: ['runs', 'run_id'] };

// add puts records that have arrived into a session. It returns whether one was of it and
// not there yet.
function add(c, records) {
  let any = false;
  for (const r of records) {
    if (r.session_id !== c.session.session_id || !Object.hasOwn(lists, r.type)) continue;
    if (c.session.dialect && r.dialect && r.dialect !== c.session.dialect) continue;
    const [list, id] = lists[r.type];
    if (c.known.has(r.type + r[id])) continue;
    c.known.add(r.type + r[id]);
    c[list].push(r);
    any = true;
    if (r.type === 'event') c.session = after(c.session, r);
  }
  bound(c);
  return any;
}

// after returns a session as it is after one more event.
function after(session, e) {
  const state = { 'session.end': 'ended', 'turn.stop': 'idle', 'file.changed': session.state }[e.kind] || 'working';
  return { ...session, last: e.time, events: session.events + 1, state, ...(e.subject ? { tool: e.tool, subject: e.subject } : {}) };
}

// bound drops the oldest events, decisions and runs of a long session: mostRead of each stay.
function bound(c) {
  for (const [list, id] of Object.values(lists)) {
    if (c[list].length <= mostRead + spare) continue;
    c[list].sort((a, b) => a.seq - b.seq);
    const type = Object.keys(lists).find((t) => lists[t][0] === list);
    for (const r of c[list].splice(0, c[list].length - mostRead)) c.known.delete(type + r[id]);
    c.cut = true;
  }
}

// useSession returns a session and its new records as they arrive: [data, error]. Records that
// arrive while it is read are added when it was read. One read runs at a time.
function useSession(id, agent) {
  const [data, setData] = useState(null), [err, setErr] = useState(null);
  useEffect(() => {
    const abort = new AbortController();
    let now = null, early = [], reading = false, again = false, timer = 0;
    setData(null); setErr(null);
    const load = async () => {
      if (reading) { again = true; return; }
      reading = true; early = [];
      try {
        const found = await read(id, agent, abort.signal);
        if (found) {
          found.known = new Set(Object.keys(lists).flatMap((t) => found[lists[t][0]].map((r) => t + r[lists[t][1]])));
          add(found, early);
        }
        now = found;
        setErr(null); setData(found ? { ...found } : { none: true });
      } catch (e) {
        if (e.name === 'AbortError') return;
        if (!(e instanceof Refusal)) throw e;
        if (!now) setErr(e); // else what was read stays
      }
      reading = false; early = [];
      if (again) { again = false; load(); }
    };
    load();
    const draw = () => { timer ||= setTimeout(() => { timer = 0; setData({ ...now }); }, 250); };
    const stop = hear((records) => {
      if (!records) { load(); return; }
      if (reading) { for (const r of records) if (r.session_id && early.length < mostRead) early.push(r); }
      if (now) { if (add(now, records)) draw(); } else if (!reading && !id && records.some((r) => r.session_id)) load();
    });
    return () => { abort.abort(); stop(); clearTimeout(timer); };
  }, [id, agent]);
  return [data, err];
}

export function Session() {
  const { p } = route.value, [data, err] = useSession(p.id, p.agent), [extra, setExtra] = useState(0);
  useEffect(keep);
  if (err) return html`<section class="view" id="session"><${Bad} err=${err} /></section>`;
  if (!data) return html`<section class="view" id="session"><${Late} /></section>`;
  if (data.none) return html`<section class="view" id="session"><${Empty}><h1>${p.id ? 'This session is not in the history' : 'No session yet'}</h1><p class="s">${p.id ? 'It may be older than what is kept (history.max_age).' : 'An agent that is connected begins one with its first event.'}</p></${Empty}></section>`;
  return html`<${Story} data=${data} extra=${extra} more=${() => setExtra(extra + mostShown)} />`;
}

function Story({ data, extra, more }) {
  const { p } = route.value, { session } = data, level = Object.hasOwn(levels, p.show || '') ? p.show : 'calls';
  const all = useMemo(() => story(data), [data]);
  const fitting = useMemo(() => all.filter(levels[level]), [all, level]);
  const from = Math.max(0, fitting.length - mostShown - extra), rows = fitting.slice(from);
  const waited = data.decisions.reduce((s, d) => s + (d.duration_ms || 0), 0);
  const forPerson = data.decisions.reduce((s, d) => s + (byPerson(d) ? d.duration_ms : 0), 0);
  const n = (f) => data.decisions.filter(f).length;
  const counts = [[n((d) => d.decision === 'deny'), 'denied'], [n((d) => d.decision === 'ask' || d.answered), 'asked'], [n((d) => outcomeOf(d) === 'rewrite'), 'rewritten']].filter((c) => c[0]).map((c) => number(c[0]) + ' ' + c[1]).join(', ');
  const prompts = all.filter((r) => r.kind === 'prompt.submit').length;
  const at = rows.findIndex((r) => r.id === p.at), opened = rows.findIndex((r) => r.id === p.open);
  useEffect(() => {
    const row = p.at && document.querySelector(`main tr[data-id="${CSS.escape(p.at)}"]`), main = scroller();
    if (row) row.scrollIntoView({ block: 'center' });
    else main.scrollTop = main.scrollHeight;
  }, []);
  // The end is followed while it is seen.
  const near = useRef(true);
  useEffect(() => {
    const main = scroller(), f = () => { near.current = main.scrollTop + main.clientHeight > main.scrollHeight - 60; };
    main.addEventListener('scroll', f, { passive: true });
    return () => main.removeEventListener('scroll', f);
  }, []);
  useEffect(() => { const main = scroller(); if (near.current && !route.value.p.at) main.scrollTop = main.scrollHeight; }, [rows.length]);
  const [, select] = useRows(rows, (r) => r.id, {
    sel: 'at', last: rows.length - 1, enter: (i) => i >= 0 && select(i, route.value.p.at !== route.value.p.open), clear: ['open', 'at'], y: () => session.session_id,
  });
  useKeys({ f: () => { put({ at: '', open: '' }); const main = scroller(); main.scrollTop = main.scrollHeight; } });
  const begin = +new Date(session.first), end = Math.max(+new Date(session.last), begin + 1000);
  const lastRow = all[all.length - 1];
  const state = { working: 'working' + (session.tool && lastRow && lastRow.kind === 'tool.before' ? ', in ' + session.tool + ' for ' + ago(session.last).replace('now', 'a moment') : ''), waiting: 'waiting for a person', idle: 'idle since ' + hhmm(session.last), ended: 'ended at ' + when(session.last, hhmm) }[session.state];
  return html`<section class="view" id="session"><div class="head"><div><p class="crumb"><span title=${session.session_id}>Session ${shortSession(session.session_id)}</span> · since ${when(session.first, hhmm)} · ${span(end - begin)}</p>
      <h1>${agentName(session)} in ${home(session.cwd) || 'no folder'}<small class=${session.state === 'waiting' ? 'state waits' : ''}><${Icon} name=${session.state === 'waiting' ? 'ask' : session.state} />${state}</small></h1>
      <p>${data.cut ? html`Of the newest ${number(mostRead)} events: ` : ''}${plural(prompts, 'prompt')}, ${plural(data.decisions.length, 'decision')}${counts ? ': ' + counts : ''}. The agent waited ${tookText(waited)} for hooks${forPerson ? ', ' + tookText(forPerson) + ' of it for you' : ''}.</p></div>
    <span class="seg" role="group" aria-label="How much is shown">${['short', 'calls', 'all'].map((l) => html`<a href=${link('session', { ...p, show: l === 'calls' ? '' : l })} aria-current=${l === level ? 'true' : undefined}>${l[0].toUpperCase() + l.slice(1)}</a>`)}</span></div>
    <${Strip} rows=${all} begin=${begin} end=${end} shown=${rows} />
    ${data.cut && from === 0 && html`<p class="rest t">Earlier ones are in <a class="link" href=${link('stream', { kind: 'events', q: 'session:' + quoted(session.session_id) })}>Stream</a>.</p>`}
    ${from > 0 && html`<p class="rest"><button type="button" class="plain link" onClick=${more}>${plural(from, 'earlier row')}</button></p>`}
    ${rows.length === 0 ? html`<${Empty}><p class="s">Nothing stood out in this session. <a class="link" href=${link('session', { ...p, show: '' })}>Show its calls</a></p></${Empty}>` : html`
    <${Table} class="time" label="What happened in the session" cols=${['n-time', '', 'w-verdict', 'w-hooks', 'w-result', 'w-wait']} head=${['Time', 'Prompt or tool', 'Verdict', 'Hooks and why', 'Result', html`<span class="scale"><span>Agent waited</span><span title="The bars are logarithmic">1 ms to 100 s</span></span>`]}>
      ${rows.map((r, i) => html`<${Row} key=${r.id} r=${r} on=${i === at || i === opened} opened=${i === opened} tab=${i === Math.max(0, at) ? 0 : -1} pick=${() => select(i, i !== opened)} last=${r === lastRow} working=${session.state === 'working'} />`)}</${Table}>`}</section>`;
}

function Row({ r, on, opened, tab, pick, last, working }) {
  const { e, d } = r;
  const attrs = { role: 'row', 'data-id': r.id, tabindex: tab, 'aria-selected': on, onClick: pick };
  if (r.kind === 'prompt.submit') {
    return html`<tr ...${attrs} class=${'prompt' + (on ? ' sel' : '')}><${Td} class="when mono f-time"><${Clock} t=${e.time} /></${Td}><${Td} colspan=${d && stands(r) ? 1 : 5} class="f-wide" title=${e.subject}><span class="tool">Prompt</span>${e.subject || html`<span class="t">not kept</span>`}</${Td}>
      ${d && stands(r) ? html`<${Td} class="f-state"><${State} is=${stateOf(d)} /></${Td}><${Td} class="by f-why" colspan="3"><${Why} d=${d} /></${Td}>` : ''}</tr>${opened && [r, ...r.more.filter((m) => m.d || m.runs.length)].map((x) => html`<${Runs} key=${x.id} r=${x} />`)}`;
  }
  const what = html`<span class="tool">${toolName(e)}</span>${e.tool || !e.subject ? html`<code title=${e.subject || ''}>${e.subject || ''}</code>` : html`<span title=${e.subject}>“${firstLine(e.subject)}”</span>`}`;
  const hooks = r.runs.filter((x) => x.awaited).length;
  return html`<tr ...${attrs} class=${on ? 'sel' : ''}><${Td} class="when mono f-time"><${Clock} t=${e.time} /></${Td}><${Td} class="f-wide">${r.sub ? html`<span class="in1">${what}</span>` : what}</${Td}>
    <${Td} class="f-state">${d ? html`<${State} is=${stateOf(d)} />` : html`<span class="none"> </span>`}</${Td}>
    <${Td} class="by f-why">${d && stands(r) ? html`<${Why} d=${d} />` : html`<span class="t">${hooks ? plural(hooks, 'hook') : r.runs.length ? plural(r.runs.length, 'observer') : ''}</span>`}</${Td}>
    <${Td} class="f-hide s">${result(r, last && working)}</${Td}><${Td} class="f-hide">${d && html`<div class="wait"><span class="tr"><i class=${byPerson(d) ? 'p' : ''} style=${{ width: log(d.duration_ms) + '%' }} /></span><span class="num"><${Took} ms=${d.duration_ms} /></span></div>`}</${Td}></tr>
    ${opened && [r, ...r.more.filter((m) => m.d || m.runs.length)].map((x) => html`<${Runs} key=${x.id} r=${x} />`)}`;
}

const log = (ms) => Math.max(1, Math.min(100, Math.log10(Math.max(1, ms)) * 20)); // 1 ms to 100 s

// result is the outcome of a call, in words.
function result(r, running) {
  if (r.kind === 'turn.stop' || r.kind === 'subagent.stop') return r.d?.decision === 'deny' ? 'keeps working' : r.sub ? 'to the main agent' : 'ended turn';
  if (r.kind !== 'tool.before') return '';
  if (r.d?.decision === 'deny') return html`<span class="t">not run</span>`;
  const stood = r.more.find((m) => m.d && stands(m));
  if (stood) return html`<${State} is=${stateOf(stood.d)} /> <span class="t">${stood === r.after ? 'of its result' : toolName({ ...stood.e, tool: '' })}</span>`;
  if (!r.after) return running ? 'running' : html`<span class="t">–</span>`;
  const t = r.after.t - r.t, time = t < 60000 ? (t / 1000).toFixed(1) + ' s' : span(t);
  if (r.subCalls) return `${plural(r.subCalls, 'call')}, ${time}`;
  return /fail/i.test(r.after.e.event) ? html`failed <span class="t">${time}</span>` : html`ok <span class="t">${time}</span>`;
}

// Runs are the hooks of one event, as they ran beside each other.
function Runs({ r }) {
  const { d } = r, begin = r.t;
  const length = Math.max(d?.duration_ms || 0, ...r.runs.filter((x) => x.awaited).map((x) => +new Date(x.started) - begin + x.duration_ms), 1);
  const bar = (at, ms, cls) => html`<span class="tr"><i class=${cls} style=${{ left: Math.max(0, Math.min(99, 100 * at / length)) + '%', width: Math.max(0.5, Math.min(100 - 100 * at / length, 100 * ms / length)) + '%' }} /></span>`;
  const runs = r.runs.slice().sort((a, b) => (b.awaited ? 1 : 0) - (a.awaited ? 1 : 0) || a.seq - b.seq);
  const person = d && byPerson(d);
  return html`<tr role="row" class="open"><${Td} colspan="6"><div class="wf">${runs.map((x) => html`
      <a href=${link('run', { id: x.run_id })} title=${x.hook}>${x.hook}</a><${State} is=${x.awaited || failed(x) ? resultOf(x) : ['none', 'observes', 'none']} /><span class="s" title=${x.reason || x.error || ''}>${firstLine(x.reason || x.error)}</span>
      ${x.awaited ? bar(Math.max(0, +new Date(x.started) - begin), x.duration_ms, '') : html`<span class="tr"></span>`}<span class="num t"><${Took} ms=${x.duration_ms} /></span>`)}
    ${(d?.shadow || []).map((s) => html`<span>${s.hook}</span><${State} is=${['shadow', s.decision, 'none']} /><span class="t">shadow, has no part in the verdict: ${s.reason || ''}</span><span></span><span></span>`)}
    ${person && html`<span>${d.answered.from?.user || 'a person'}</span><${State} is=${stateOf({ decision: d.decision })} /><span class="s">${byWay(d.answered).replace(/^,? /, '')}${d.answered.message ? ': “' + d.answered.message + '”' : ''}</span>${bar(0, d.duration_ms, 'p')}<span class="num"><${Took} ms=${d.duration_ms} /></span>`}
    ${d && html`<b>verdict</b><${State} is=${stateOf(d)} /><span class="s" title=${d.reason || ''}>${firstLine(toldTo(d)) || 'nothing was said against it'}<${Became} d=${d} /></span><span></span><span class="num"><${Took} ms=${d.duration_ms} /></span>`}
    ${!d && !runs.length && html`<span class="t">no hook ran</span>`}</div></${Td}></tr>`;
}

// Strip is the whole session at a glance: prompts are tall, calls short, what was denied
// and asked are shapes, subagents below. What the table shows is marked.
function Strip({ rows, begin, end, shown }) {
  const [ref, width] = useWidth(), [part, setPart] = useState(null);
  useEffect(() => {
    const main = scroller();
    let frame = 0;
    const f = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        const list = [...document.querySelectorAll('#session tbody tr[data-id]')];
        if (!list.length) { setPart(null); return; }
        const box = main.getBoundingClientRect();
        const a = list.find((r) => r.getBoundingClientRect().bottom > box.top), b = list.findLast((r) => r.getBoundingClientRect().top < box.bottom);
        const of = (r) => shown.find((s) => s.id === r?.dataset.id)?.t;
        const next = a && b ? [of(a), of(b)] : null;
        setPart((was) => (was && next && was[0] === next[0] && was[1] === next[1] ? was : next));
      });
    };
    main.addEventListener('scroll', f, { passive: true });
    f();
    return () => { main.removeEventListener('scroll', f); cancelAnimationFrame(frame); };
  }, [shown]);
  const x = (t) => Math.round(Math.max(0, Math.min(1, (t - begin) / (end - begin))) * Math.max(0, width - 1)) + 0.5;
  const calls = { main: new Set(), sub: new Set() }, prompts = new Set(), marks = [];
  for (const r of rows) {
    if (r.kind === 'prompt.submit') prompts.add(x(r.t));
    else if (r.d?.decision === 'deny') marks.push(['deny', x(r.t), r.sub]);
    else if (r.d && (r.d.decision === 'ask' || r.d.answered)) marks.push(['ask', x(r.t), r.sub]);
    else if (r.kind === 'tool.before' || r.d) calls[r.sub ? 'sub' : 'main'].add(x(r.t));
  }
  const lines = (set, y, h) => [...set].map((v) => `M${v} ${y}v${h}`).join('');
  const subs = rows.some((r) => r.sub);
  return html`<div class="mini" aria-hidden="true"><div class="lanes">main<br />${subs ? 'subagent' : ''}</div><div ref=${ref}>${width > 0 && html`<svg viewBox=${`0 0 ${width} 40`} width=${width} height="40">
      ${part && part[0] && html`<rect class="part" x=${x(part[0])} y="0" width=${Math.max(2, x(part[1]) - x(part[0]))} height="40" /><path class="ends" d=${`M${x(part[0])} 0v40M${x(part[1])} 0v40`} />`}
      <path d=${lines(calls.main, 8, 10)} /><path d=${lines(calls.sub, 25, 8)} /><path class="p" d=${lines(prompts, 3, 34)} />
      ${marks.map(([m, v, sub]) => (m === 'deny' ? html`<rect class="deny" x=${v - 5} y=${sub ? 24 : 8} width="10" height="10" rx="1.5" />` : html`<path class="ask" stroke="none" d=${`M${v} ${(sub ? 29 : 13) - 7}l7 7-7 7-7-7z`} />`))}</svg>`}</div><${Axis} from=${begin} to=${end} n=${5} /></div>`;
}
