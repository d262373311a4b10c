// Now: what waits for a person, what agents do, what stood out.
import { computed, html, signal, useEffect, useState } from './lib.js';
import { Axis, Bars } from './chart.js';
import { AskBox, Ended, Left, asks, ended } from './asks.js';
import { sum } from './feed.js';
import { fleet } from './fleet.js';
import { changed, hookNeeds, hooks, inForce } from './health.js';
import { keep, useRows } from './keys.js';
import { Refusal, about, ask, connection, follow, post, status } from './net.js';
import { Clock, Command, Icon, Late, State, Table, Td, Took, What, Why, folder, say, stateOf } from './parts.js';
import { go, link, put, route } from './state.js';
import { loud } from './calls.js';
import { useMore } from './rows.js';
import { ago, agentLabel, agentName, home, last, number, plural, when, hhmm } from './words.js';

export const needs = computed(() => [...asks.value, ...hookNeeds.value]);

const elsewhere = signal([]); // sessions of other machines
const sessions = signal(null), hour = signal(null), stood = signal(null);
const width = 6e4; // of a bar

// odd are the outcomes that a person looks at: first those against hookd, or without it.
const odd = 'disobeyed,not asked,deny,ask,contain,rewrite';
// said are the words for how many had an outcome.
const said = { deny: 'denied', ask: 'asked', contain: 'contained', rewrite: 'rewritten', 'not asked': 'not asked',
  disobeyed: 'disobeyed' };

const watch = () => follow(async (abort) => {
  const now = Date.now(), to = Math.ceil(now / width) * width, from = to - 60 * width,
    since = new Date(from).toISOString();
  const [s, c, asked, newest] = await Promise.all([
    ask('v1/sessions', { query: { limit: 1000, since: new Date(now - 864e5).toISOString() }, signal: abort }),
    sum({ since }, '60s', abort),
    ask('v1/decisions', { query: { since, decision: odd, limit: 20 }, signal: abort }),
    ask('v1/decisions', { query: { since, limit: 500 }, signal: abort }),
  ]);
  const seen = new Set(),
    list = [...asked.decisions, ...newest.decisions.filter((d) => d.answered)].filter((d) => !d.tried
    && !seen.has(d.event_id) && seen.add(d.event_id));
  list.sort((a, b) => b.seq - a.seq);
  stood.value = list.slice(0, 20);
  const own = fleet.value?.machine; // null = it is in no fleet
  if (own) elsewhere.value = await ask('v1/fleet/sessions',
    { query: { limit: 50, since: new Date(now - 864e5).toISOString() }, signal: abort }).then((a) =>
    a.sessions.filter((x) => x.machine !== own).map((x) => ({ ...x.session, machine: x.machine })), (err) => {
    if (err.name === 'AbortError') throw err;
    return [];
  });
  hour.value = { ...c, from, to };
  sessions.value = s.sessions;
}, () => true, 10000);

export function Now() {
  useEffect(watch, []);
  useEffect(keep);
  const list = needs.value, h = hour.value, s = sessions.value;
  if (!s || !h || !hooks.value) return html`<section class="view" id="now"><${Late} /></section>`;
  if (!s.length && !h.total && !list.length && !fleet.value) return html`<${First} />`;
  const open = s.filter((x) => x.state !== 'ended'), works = open.filter((x) => x.state === 'working').length;
  const n = (w) => h.decisions[' ' + w] || 0;
  const parts = Object.entries(said).filter(([is]) => n(is)).map(([is, word]) => number(n(is)) + ' ' + word).join(', ');
  return html`<section class="view" id="now"><div class="lead"><div>
    <h1>${list.length ? plural(list.length, 'thing waits', 'things wait') + ' for you' : 'Nothing waits for you'}</h1>
      <p>${open.length ? `${works} of ${plural(open.length, 'open session')} ${works === 1 ? 'works' : 'work'}.`
        : 'No session is open.'} In the last
        hour ${plural(h.total, 'decision')}${parts ? ': ' + parts : ''}.</p></div>
    <div class="spark"><${Bars} buckets=${[...h.buckets.values()]} from=${h.from} to=${h.to} width=${width} height=${40}
      label=${`Decisions a minute, last hour: ${number(h.total)}, of them ${n('deny')} denied and ${n('ask')} asked`} />
      <${Axis} from=${h.from} to=${h.to} middle="decisions a minute" /></div></div>
    ${(list.length > 0 || ended.value.length > 0) && html`<section class="inbox" aria-label="Waits for you">
      <${Asks} />${hookNeeds.value.map((x) => html`<${Item} key=${x.kind + ' ' + x.name} ...${x} />`)}</section>`}
    <${Unguarded} />
      <${Sessions} list=${s} />${fleet.value && html`<${Elsewhere} list=${elsewhere.value} />`}
      <${Stood} total=${h.total} /></section>`;
}

// Unguarded names the agents that did not obey in the last day, made calls unasked, or do not call hookd.
function Unguarded() {
  const list = status.value?.unguarded?.filter((u) => u.disobeyed || u.not_asked || u.gone) || [];
  const line = (u, is, text, what) => html`<div class="item" key=${u.agent + is}>
    <${State} is=${is === 'not asked' ? ['unasked', is, 'state'] : ['out', is, 'state deny']} />
    <b>${agentLabel(u.agent)}</b>
    <span class="s" >${text}</span><span></span>
    <span class="act">${what && html`<a class="link"
        href=${link('stream', { q: `agent:${u.agent} decision:"${what}" since:24h` })}>Show them</a>`}</span></div>`;
  return list.length > 0 && html`<section class="inbox" aria-label="Unguarded">${list.map((u) => html`
    ${u.disobeyed > 0
      && line(u, 'disobeyed', `it did not obey ${plural(u.disobeyed, 'answer')} in the last day`, 'disobeyed')}
    ${u.not_asked > 0
      && line(u, 'not asked', `it made ${plural(u.not_asked, 'call')} without asking in the last day`, 'not asked')}
    ${u.gone && line(u, 'not guarded', html`${u.gone}; type <code>${u.do}</code>`)}`)}</section>`;
}

// Asks: the oldest is open, the others are rows below it; the next one opens when it is
// answered, or when it is chosen.
function Asks() {
  const list = asks.value, at = Math.max(0, list.findIndex((a) => a.id === route.value.p.ask));
  if (!list.length) return html`<${Ended} />`;
  return html`<${Ended} /><${AskBox} key=${list[at].id} a=${list[at]} />${list.length > 1 && list.map((a, i) => i !== at
      && html`<div class="item" key=${a.id}><span class="state ask"><${Icon} name="ask" />ask</span>
    <b title=${a.hook}>${agentLabel(a.agent)} <span class="t">${last(a.cwd)}</span></b><span class="s">
        <code title=${a.subject}>${a.subject}</code></span><span class="t num"><${Left} until=${a.until} /></span>
        <span class="act">
        <button type="button" class="plain link" onClick=${() => put({ ask: a.id })}>Answer</button></span></div>`)}`;
}

// Item is one line of the inbox: what, the cause, and one link.
function Item({ kind, name, hook, failing, why, waiting, letters }) {
  const line = (is, text, since, act) => html`<div class="item"><${State} is=${is} /><b title=${name}>${name}</b>
    <span class="s">${text}</span><span class="t num">${since ? ago(since) : ''}</span>
    <span class="act">${act}</span></div>`;
  const more = (text) => html`<a class="link" href=${link('hooks', { hook: name })}>${text}</a>`;
  switch (kind) {
    case 'failing':
      return line(['fail', 'failing', 'state fail'],
        html`${failing.often ? `${failing.runs} of ${failing.all} runs since ${when(failing.since, hhmm)}`
          : `the last ${failing.runs} runs, since ${when(failing.since, hhmm)}`}: <code title=${failing.why}>
        ${failing.why}</code>
        ${{ denies: '. What it guards is denied.', passes: '. What it guards passes.' }[failing.last.failure] || ''}`,
        failing.since, html`<a class="link" href=${link('run', { id: failing.last.run_id })}>Last run</a>`);
    case 'broken':
      return line(['fail', hook.state, 'state fail'], html`${why ? why.message : 'its file cannot be read'}${
          why?.hint ? html` <span class="t">${why.hint}</span>` : ''}`, null, more('See the file'));
    case 'degraded':
      return line(['fail', 'degraded', 'state fail'], why ? why.message : 'the last good version runs', null,
        more('See why'));
    case 'waits':
      return line(['waits', 'waits', 'state waits'],
        waiting.gone ? html`It was allowed, and now ${changed(waiting)}.` : waiting.new
        ? 'New. It does not run until you allow it.' : html`${changed(waiting)}. ${inForce(waiting)}`, null,
        waiting.gone ? html`<${Command} text=${'hookd allow --gone ' + name} />` : more('See difference'));
  }
  const n = letters.length, newest = letters[0];
  return line(['dead', 'gave up', 'state q'], html`${plural(n, 'event')}${newest.attempts
      ? ` after ${plural(newest.attempts, 'try', 'tries')}${n > 1 ? ' each' : ''}` : ''}: <code title=${newest.reason}>
    ${newest.reason}</code>`, newest.time,
    about.value.act ? html`<${Retry} letters=${letters} />`
      : html`<${Command} text=${'hookd dev dead retry ' + newest.id} />`);
}

// Retry asks once more before it does what cannot be taken back.
function Retry({ letters }) {
  const [sure, setSure] = useState(false), [busy, setBusy] = useState(false), [bad, setBad] = useState('');
  const all = async () => {
    setBusy(true); setBad('');
    for (const l of letters) {
      try { await post('v1/dead/' + l.id + '/retry'); } catch (err) {
        if (!(err instanceof Refusal)) throw err;
        setBad(err.message);
        say(err.message, true);
        break;
      }
    }
    setBusy(false); setSure(false);
  };
  const count = letters.length > 1 ? ' ' + letters.length : '', off = connection.value.state !== 'on';
  return html`${bad && html`<span class="red" role="alert" title=${bad}>${bad}</span> `}${sure ? html`<button
      type="button" class="plain link" disabled=${off || busy} onClick=${all}>Yes${count && ', all' + count}
      </button> <button type="button" class="plain link" disabled=${busy} onClick=${() => setSure(false)}>No</button>`
    : html`<button type="button" class="plain link" disabled=${off} onClick=${() => setSure(true)}>${
        'Try again' + count}…</button>`}`;
}

const newer = (a, b) => (new Date(a) > new Date(b) ? a : b);

const order = { waiting: 0, working: 1, quiet: 2, idle: 3, ended: 4 };
function Sessions({ list }) {
  list = list.map((s) => {
    const held = asks.value.filter((a) => a.session_id && a.session_id === s.session_id
      && (!a.dialect || a.dialect === s.dialect)), a = held[held.length - 1];
    return a ? { ...s, state: 'waiting', tool: a.tool || s.tool, subject: a.subject || s.subject,
      asks: s.asks + held.length, last: newer(s.last, a.since) } : s;
  });
  const rows = list.slice().sort((a, b) => order[a.state] - order[b.state] || +new Date(b.last) - +new Date(a.last));
  const open = list.filter((s) => s.state !== 'ended').length, gone = list.length - open;
  const enter = (i) => go('session', { id: rows[i].session_id, agent: rows[i].dialect });
  const [at] = useRows(rows, key, { enter: (i) => (i >= 0 ? enter(i) : false) });
  const [most, end] = useMore(rows.length, at);
  return html`<h2>Sessions <small>${open} open${gone ? `, ${gone} ended today` : ''}</small></h2>
    ${rows.length === 0 ? html`<p class="nothing s">No agent has been at work in the last 24 hours.</p>`
      : html`<${List} label="Sessions" where="Folder" rows=${rows.slice(0, most)} at=${at} enter=${enter} />`}
    ${rows.length > most && html`<p class="rest" ref=${end}>${number(rows.length - most)} more…</p>`}`;
}

// List is a table of sessions, of this machine or of the others.
const List = ({ label, where, rows, at, enter }) => html`<${Table} label=${label} class="sessions"
  cols=${['w-lead', 'w-agent', 'w-dir', '', 'n-num n-wide', 'n-num', 'n-num', 'n-num n-wide', 'n-num n-wide']}
  head=${['State', 'Agent', where, 'Last', 'Calls', 'Denied', 'Asked', 'Since', 'Last seen']}>${rows.map((s, i) => html`
  <tr role="row" key=${(s.machine || '') + key(s)} data-id=${enter ? key(s) : undefined}
    tabindex=${!enter ? undefined : i === Math.max(0, at) ? 0 : -1} class=${i === at ? 'sel' : ''}
    onClick=${() => enter?.(i)}><${Td} class="f-state"><${State} is=${s.state === 'waiting'
    ? ['ask', 'waiting', 'state ask'] : [s.state === 'quiet' ? 'idle' : s.state, s.state, 'state q']} /></${Td}>
    <${Td} class="f-who">${enter
      ? html`<a href=${link('session', { id: s.session_id, agent: s.dialect })}>${agentName(s)}</a>` : agentName(s)}
      <span class="t nx"> ${s.machine || last(s.cwd)}</span></${Td}>
      <${Td} class="s f-hide" title=${s.cwd}>${s.machine || home(s.cwd)}</${Td}><${Td} class="f-why"><span class="tool">
      ${s.tool || (s.subject ? 'prompt' : '')}</span><code title=${s.subject || ''}>${s.subject || ''}</code></${Td}>
    <${Td} class="f-hide num">${number(s.tools)}</${Td}><${Td} class=${'f-hide num ' + (s.denials ? 'red' : 'z')}>
        ${number(s.denials)}</${Td}><${Td} class=${'f-hide num ' + (s.asks ? 'amber' : 'z')}>${number(s.asks)}</${Td}>
        <${Td} class="num s f-hide">${since(s.first)}</${Td}>
        <${Td} class="num s f-time">${ago(s.last)}</${Td}></tr>`)}</${Table}>`;
// since is when a session began: the time of day, of a week ago the date alone.
const since = (t) => (Date.now() - Date.parse(t) < 6 * 864e5 ? when(t, hhmm)
  : when(t).split(' ').slice(0, 2).join(' '));
const key = (s) => s.session_id + '·' + (s.dialect || '');

// Elsewhere are the sessions of the other machines of the fleet; what they did in detail is there.
function Elsewhere({ list }) {
  const rows = list.slice()
    .sort((a, b) => order[a.state] - order[b.state] || +new Date(b.last) - +new Date(a.last)).slice(0, 20);
  return html`<h2>On other machines <small>
    ${plural(fleet.value.machines.filter((m) => m.machine !== fleet.value.machine && !m.away).length, 'machine')} in
    touch · <a class="link" href=${link('stream', { kind: 'fleet' })}>decisions of all</a></small></h2>
    ${rows.length === 0 ? html`<p class="nothing s">No agent has been at work there in the last 24 hours.</p>`
      : html`<${List} label="Sessions on other machines" where="Machine" rows=${rows} />`}`;
}

function Stood({ total }) {
  const list = stood.value || [];
  const all = link('stream', { q: `outcome:"${odd}" since:1h` });
  return html`<h2>Stood out <small>not as it was wanted, in the last hour${
    list.length ? `, ${list.length} of ${number(total)}` : ''} · <a class="link" href=${all}>all</a></small></h2>
    ${list.length === 0 ? html`<p class="nothing s">Nothing was denied, asked, contained or rewritten, and each answer
      was obeyed.</p>` : html`
    <${Table} label="What stood out" cols=${['w-lead', 'w-agent', 'w-dir', '', 'w-state', 'w-reason', 'n-num']}
      head=${['Time', 'Agent', 'Folder', 'What', 'Decision', 'Why', 'Took']}>${list.map((d) => html`
    <tr role="row" key=${d.event_id} class=${loud[d.outcome] || ''}
      onClick=${() => go('stream', { open: d.event_id, at: d.seq, sel: d.event_id })}>
      <${Td} class="when mono f-time"><${Clock} t=${d.time} /></${Td}>
      <${Td} class="f-who">${agentName(d)}<span class="t nx"> ${last(d.cwd)}</span></${Td}>
        <${Td} class="s f-hide">${folder(d)}</${Td}>
      <${Td} class="f-wide"><a href=${link('stream', { open: d.event_id, at: d.seq, sel: d.event_id })}>
          <${What} r=${d} /></a></${Td}><${Td} class="f-state"><${State} is=${stateOf(d)} /></${Td}>
          <${Td} class="by f-why"><${Why} d=${d} /></${Td}><${Td} class="num f-hide">
          <${Took} ms=${d.duration_ms} /></${Td}></tr>`)}</${Table}>`}`;
}

// First is shown before anything has happened: what is true, and what to type.
function First() {
  const none = !(hooks.value || []).length;
  return html`<section class="view" id="now"><div class="lead"><div><h1>Nothing has happened yet</h1>
    <p>hookd runs and listens on ${home(about.value.socket)}. No agent has sent it an event in the last
    day${none ? ', and no hook is there to decide one' : ''}.</p></div></div>
    <ol class="steps-first"><li><${Command} text="hookd connect --all" />
      <span class="s">Agents of yours send their events here.</span></li>
      ${none && html`<li><${Command} text="hookd add gallery/command-guard" /><span class="s">A guard that denies
        commands that destroy, and asks before those that are hard to take back.</span></li>`}
      <li><${Command} text="hookd emit agent:start" />
        <span class="s">Or send one event by hand and see it arrive.</span></li></ol></section>`;
}
