// Session: prompts, what the agent said, and its calls with outcome and result, in the order in which they
// happened; and whom the agent waited for. hookd tells the session; this draws it.
import { html, useEffect, useRef, useState } from './lib.js';
import { Axis } from './chart.js';
import { keep, useKeys, useRows } from './keys.js';
import { ask, follow } from './net.js';
import {
  Bad, Clock, Empty, Icon, Late, Ran, State, Table, Td, Took, Why, byPerson, outcomeOf, stateOf, useWidth,
} from './parts.js';
import { scroller } from './rows.js';
import { link, put, route } from './state.js';
import { Peek, loud } from './calls.js';
import {
  ago, agentName, firstLine, hhmm, home, number, plural, quoted, shortSession, span, tookText, toolName, when,
} from './words.js';

const mostShown = 600; // rows; earlier ones on request
const pause = 1000; // ms between two reads of a session that goes on

// useSession reads a session, and again when something of it arrives: [session, error].
function useSession(id, agent) {
  const [state, set] = useState([null, null]);
  useEffect(() => {
    set([null, null]);
    let now = null;
    const load = (signal) => ask('session', { query: { id, agent }, signal }).then(
      (s) => { now = s; set([s || { none: true }, null]); },
      (err) => { if (err.name !== 'AbortError') { if (!now) set([null, err]); throw err; } },
    );
    const wants = (r) => (now ? r.session_id === now.session_id : !id && !!r.session_id);
    return follow(load, wants, 6e4, pause); // one that sends nothing is quiet, then idle
  }, [id, agent]);
  return state;
}

const stands = (r) => !!r.call && (outcomeOf(r.call) !== 'none' || !!r.call.shadow);
const levels = {
  short: (r) => r.kind === 'prompt' || stands(r),
  calls: (r) => r.kind === 'prompt' || r.kind === 'call' || stands(r),
  all: () => true,
};

const View = ({ children }) => html`<section class="view" id="session">${children}</section>`;

export function Session() {
  const { p } = route.value, [data, err] = useSession(p.id, p.agent), [extra, setExtra] = useState(0);
  useEffect(keep);
  if (err) return html`<${View}><${Bad} err=${err} /></${View}>`;
  if (!data) return html`<${View}><${Late} /></${View}>`;
  if (data.none) {
    const why = p.id ? 'It may be older than what is kept (history.max_age).'
      : 'An agent that is connected begins one with its first event.';
    return html`<${View}><${Empty}><h1>${p.id ? 'This session is not in the history' : 'No session yet'}</h1>
      <p class="s">${why}</p></${Empty}></${View}>`;
  }
  return html`<${Story} s=${data} extra=${extra} more=${() => setExtra(extra + mostShown)} />`;
}

// counts says how many calls had which outcome, without those that nothing was said about.
function counts(rows) {
  const words = { deny: 'denied', ask: 'asked', contain: 'contained', rewrite: 'rewritten' };
  const sums = new Map();
  for (const r of rows) if (stands(r)) sums.set(outcomeOf(r.call), (sums.get(outcomeOf(r.call)) || 0) + 1);
  return [...sums].filter(([w]) => w !== 'none' && w !== 'allow').map(([w, n]) => number(n) + ' ' + (words[w] || w))
    .join(', ');
}

function Story({ s, extra, more }) {
  const { p } = route.value, level = Object.hasOwn(levels, p.show || '') ? p.show : s.words ? 'all' : 'calls';
  const fitting = s.rows.filter(levels[level]), from = Math.max(0, fitting.length - mostShown - extra);
  const rows = fitting.slice(from), prompts = s.rows.filter((r) => r.kind === 'prompt').length;
  const at = rows.findIndex((r) => r.id === p.at), opened = rows.findIndex((r) => r.id === p.open);
  useEnd(rows);
  const [, select] = useRows(rows, (r) => r.id, {
    sel: 'at', last: rows.length - 1, enter: (i) => i >= 0 && select(i, route.value.p.at !== route.value.p.open),
    clear: ['open', 'at'], y: () => s.session_id,
  });
  useKeys({ f: () => { put({ at: '', open: '' }); const main = scroller(); main.scrollTop = main.scrollHeight; } });
  const begin = +new Date(s.first), end = Math.max(+new Date(s.last), begin + 1000), said = counts(s.rows);
  const waited = `The agent waited ${tookText(s.wait_ms)} for hooks` +
    (s.person_ms ? ', ' + tookText(s.person_ms) + ' of it for a person.' : '.');
  return html`<${View}><div class="head"><div>
      <p class="crumb"><span title=${s.session_id}>Session ${shortSession(s.session_id)}</span> ·
        since ${when(s.first, hhmm)} · ${span(end - begin)}</p>
      <h1>${agentName(s)} in ${home(s.cwd) || 'no folder'} <${Now} s=${s} /></h1>
      <p>${s.cut ? 'Of the newest part: ' : ''}${plural(prompts, 'prompt')}, ${plural(s.calls, 'call')}${
        said ? ': ' + said : ''}. ${waited}</p></div>
    <span class="seg" role="group" aria-label="How much is shown">${Object.keys(levels).map((l) => html`<a
      href=${link('session', { ...p, show: l })} aria-current=${l === level ? 'true' : undefined}
      >${{ short: 'Short', calls: 'Calls', all: s.words ? 'All, and what it said' : 'All' }[l]}</a>`)}</span></div>
    <${Strip} rows=${s.rows} begin=${begin} end=${end} shown=${rows} /><${Waits} list=${s.waited} />
    ${s.cut && from === 0 && html`<p class="rest t">Earlier ones are in <a class="link"
      href=${link('stream', { q: 'session:' + quoted(s.session_id) })}>Calls</a>.</p>`}
    ${from > 0 && html`<p class="rest"><button type="button" class="plain link"
      onClick=${more}>${plural(from, 'earlier row')}</button></p>`}
    ${rows.length === 0 ? html`<${Empty}><p class="s">Nothing stood out in this session.${' '}
      <a class="link" href=${link('session', { ...p, show: 'calls' })}>Show its calls</a></p></${Empty}>` : html`
    <${Table} class="time" label="What happened in the session"
      cols=${['n-time', '', 'w-verdict', 'w-result', 'w-hooks', 'w-wait']}
      head=${['Time', 'What', 'Outcome', 'Result', 'Why', html`<span class="scale"><span>Agent waited</span>
        <span title="The bars are logarithmic">1 ms to 100 s</span></span>`]}>
      ${rows.map((r, i) => html`<${Row} key=${r.id} r=${r} on=${i === at || i === opened} opened=${i === opened}
        tab=${i === Math.max(0, at) ? 0 : -1} pick=${() => select(i, i !== opened)} />`)}</${Table}>`}</${View}>`;
}

// useEnd shows the row of the address, or else follows the end while it is seen.
function useEnd(rows) {
  const near = useRef(true);
  useEffect(() => {
    const { p } = route.value, main = scroller();
    const row = p.at && document.querySelector(`main tr[data-id="${CSS.escape(p.at)}"]`);
    if (row) row.scrollIntoView({ block: 'center' });
    else main.scrollTop = main.scrollHeight;
    const look = () => { near.current = main.scrollTop + main.clientHeight > main.scrollHeight - 60; };
    main.addEventListener('scroll', look, { passive: true });
    return () => main.removeEventListener('scroll', look);
  }, []);
  useEffect(() => {
    const main = scroller();
    if (near.current && !route.value.p.at) main.scrollTop = main.scrollHeight;
  }, [rows.length]);
}

// Now is the state of the session, in words.
function Now({ s }) {
  const { state } = s, waits = state === 'waiting';
  const icon = { waiting: 'ask', quiet: 'idle' }[state] || state, text = {
    working: 'working' + (s.tool ? `, ${s.tool} ${ago(s.last) === 'now' ? 'a moment' : ago(s.last)} ago` : ''),
    waiting: 'waiting for a person', idle: 'idle since ' + when(s.last, hhmm),
    quiet: 'quiet since ' + when(s.last, hhmm), ended: 'ended at ' + when(s.last, hhmm),
  }[state];
  return html`<small class=${waits ? 'state waits' : ''}><${Icon} name=${icon} />${text}</small>`;
}

// Waits are the guards and persons that the agent waited for, the longest first.
function Waits({ list }) {
  if (!list.length) return '';
  const one = (w) => {
    const name = w.person ? html`<b>${w.hook}</b>` : html`<a href=${link('guard', { name: w.hook })}>${w.hook}</a>`;
    return html`<li key=${w.hook + w.person}>
      ${name} ${tookText(w.ms)} <span class="t">in ${plural(w.calls, 'call')}</span></li>`;
  };
  return html`<ul class="waits" aria-label="Whom the agent waited for"><li class="t">Waited for</li>
    ${list.slice(0, 6).map(one)}${list.length > 6 ? html`<li class="t">${list.length - 6} more</li>` : ''}</ul>`;
}

function Row({ r, on, opened, tab, pick }) {
  const d = r.call, sel = on ? ' sel' : '';
  const attrs = { role: 'row', 'data-id': r.id, tabindex: tab, 'aria-selected': on, onClick: pick };
  const time = html`<${Td} class="when mono f-time"><${Clock} t=${r.time} /></${Td}>`;
  const below = opened && html`<tr role="row" class="open"><${Td} colspan="6"><${Peek}
    r=${{ ...d, event_id: r.id, ...(d ? { event_id: d.event_id } : {}) }}
      kind=${d ? 'decisions' : 'events'} /></${Td}></tr>`;
  if (r.kind === 'said') {
    const text = opened ? r.text : firstLine(r.text);
    return html`<tr ...${attrs} class=${'spoke' + sel}>${time}<${Td} colspan="5" class="f-wide">
      <span class="tool">said</span><span class=${opened ? 'whole' : ''} title=${r.text}>${text}</span></${Td}></tr>`;
  }
  if (r.kind === 'prompt' && !stands(r)) {
    return html`<tr ...${attrs} class=${'prompt' + sel}>${time}<${Td} colspan="5" class="f-wide" title=${r.text}>
      <span class="tool">prompt</span>${r.text || html`<span class="t">not kept</span>`}</${Td}></tr>${below}`;
  }
  const name = html`<span class="tool">
    ${r.kind === 'prompt' ? 'prompt' : toolName({ tool: r.tool, kind: r.kind })}</span>`;
  const what = html`${name}<code title=${r.text || ''}>${r.text || ''}</code>${
    d?.new_subject ? html` <span class="t">→ <code title=${d.new_subject}>${d.new_subject}</code></span>` : ''}`;
  const guards = (r.guards || []).length;
  return html`<tr ...${attrs} class=${(r.kind === 'prompt' ? 'prompt' : '') + sel + ((d && loud[d.outcome]) || '')}>
    ${time}<${Td} class="f-wide">${r.sub ? html`<span class="in1">${what}</span>` : what}</${Td}>
    <${Td} class="f-state">${d ? html`<${State} is=${stateOf(d)} />` : html`<span class="none"> </span>`}</${Td}>
    <${Td} class="f-hide f-result">
      ${d ? html`<${Ran} d=${d} />` : r.ran ? html`<span class="s">ran</span>` : ''}</${Td}>
    <${Td} class="by f-why">
      ${d ? html`<${Why} d=${d} />` : guards ? html`<span class="t">${plural(guards, 'hook')}</span>`
      : html`<span class="t">no guard is for it</span>`}</${Td}>
    <${Td} class="f-hide">${d && html`<${Wait} d=${d} guards=${r.guards} />`}</${Td}></tr>${below}`;
}

const log = (ms) => Math.max(1, Math.min(100, Math.log10(Math.max(1, ms)) * 20)); // 1 ms to 100 s

// Wait is how long the agent waited, as a bar; its title says for whom.
function Wait({ d, guards }) {
  const whom = (guards || []).map((g) => g.hook + ' ' + tookText(g.ms)).join(', ');
  return html`<div class="wait" title=${whom}><span class="tr"><i class=${byPerson(d) ? 'p' : ''}
      style=${{ width: log(d.duration_ms) + '%' }} /></span>
    <span class="num"><${Took} ms=${d.duration_ms} /></span></div>`;
}

// Strip is the whole session at a glance: prompts are tall, calls short, what was denied and asked are shapes,
// subagents below. What the table shows is marked.
function Strip({ rows, begin, end, shown }) {
  const [ref, width] = useWidth(), part = usePart(shown);
  const x = (t) => Math.round(Math.max(0, Math.min(1, (t - begin) / (end - begin))) * Math.max(0, width - 1)) + 0.5;
  const calls = { main: new Set(), sub: new Set() }, prompts = new Set(), marks = [];
  for (const r of rows) {
    const at = x(+new Date(r.time)), word = r.call && outcomeOf(r.call);
    if (r.kind === 'prompt') prompts.add(at);
    else if (r.call?.decision === 'deny' || word === 'disobeyed') marks.push(['deny', at, r.sub]);
    else if (r.call && (word === 'ask' || r.call.answered)) marks.push(['ask', at, r.sub]);
    else if (r.kind === 'call') calls[r.sub ? 'sub' : 'main'].add(at);
  }
  const lines = (set, y, h) => [...set].map((v) => `M${v} ${y}v${h}`).join('');
  const mark = ([m, v, sub]) => (m === 'deny'
    ? html`<rect class="deny" x=${v - 5} y=${sub ? 24 : 8} width="10" height="10" rx="1.5" />`
    : html`<path class="ask" stroke="none" d=${`M${v} ${(sub ? 29 : 13) - 7}l7 7-7 7-7-7z`} />`);
  const seen = part && html`<rect class="part" x=${x(part[0])} y="0" width=${Math.max(2, x(part[1]) - x(part[0]))}
    height="40" /><path class="ends" d=${`M${x(part[0])} 0v40M${x(part[1])} 0v40`} />`;
  return html`<div class="mini" aria-hidden="true">
    <div class="lanes">main<br />${rows.some((r) => r.sub) ? 'subagent' : ''}</div>
    <div ref=${ref}>${width > 0 && html`<svg viewBox=${`0 0 ${width} 40`} width=${width} height="40">${seen}
      <path d=${lines(calls.main, 8, 10)} /><path d=${lines(calls.sub, 25, 8)} />
        <path class="p" d=${lines(prompts, 3, 34)} />
      ${marks.map(mark)}</svg>`}</div><${Axis} from=${begin} to=${end} n=${5} /></div>`;
}

// usePart is the time between the first and the last row that are seen; null = none is.
function usePart(shown) {
  const [part, setPart] = useState(null);
  useEffect(() => {
    const main = scroller(), of = (r) => shown.find((s) => s.id === r?.dataset.id)?.time;
    let frame = 0;
    const look = () => {
      frame = 0;
      const list = [...document.querySelectorAll('#session tbody tr[data-id]')], box = main.getBoundingClientRect();
      const a = of(list.find((r) => r.getBoundingClientRect().bottom > box.top));
      const b = of(list.findLast((r) => r.getBoundingClientRect().top < box.bottom));
      const next = a && b ? [+new Date(a), +new Date(b)] : null;
      setPart((was) => (was && next && was[0] === next[0] && was[1] === next[1] ? was : next));
    };
    const soon = () => { frame ||= requestAnimationFrame(look); };
    main.addEventListener('scroll', soon, { passive: true });
    soon();
    return () => { main.removeEventListener('scroll', soon); cancelAnimationFrame(frame); };
  }, [shown.length]);
  return part;
}
