// What if: what a hook would have decided of the past, as it is now, as it waits to be
// allowed, or as it is edited here. It runs the hook, so it is one of the acts.
import { html, useEffect, useRef, useState } from './lib.js';
import { hooks } from './health.js';
import { keep, useKeys, useRows } from './keys.js';
import { Refusal, about, ask, connection, post, segment } from './net.js';
import { Bad, Clock, Command, Empty, Icon, State, Table, Td, What, Who, say, stateOf, useData } from './parts.js';
import { link, put, route } from './state.js';
import { Peek } from './calls.js';
import { firstLine, number, outcomes, plural, tookText, toolName } from './words.js';

const words = outcomes.filter((w) => !['disobeyed', 'not asked', 'context'].includes(w)); // what a hook can decide
export const stops = (w) => w === 'deny' || w === 'ask';
const ranges = { '24h': 'last 24 hours', '7d': 'last 7 days', '30d': 'last 30 days', '365d': 'all that is kept' };
const limits = [1000, 10000, 100000];
const mostRows = 100; // of a group; more on request

// groups of changes, what a person must not miss first: [title, what of it, fits].
const groups = [
  ['Would pass', 'were denied or asked', (c) => stops(c.then) && !stops(c.now)],
  ['Would be asked', 'were denied', (c) => c.then === 'deny' && c.now === 'ask'],
  ['Would be denied', 'passed or were asked', (c) => c.now === 'deny'],
  ['Would be asked', 'passed', (c) => c.now === 'ask' && c.then !== 'deny'],
  ['Would be changed in another way', '', (c) => !stops(c.then) && !stops(c.now)],
];

const shape = (w) => stateOf({ decision: w });
export const quiet = (w) => [shape(w)[0], w, w === 'none' ? 'none' : 'state q'];
export const now = (c) => {
  const [icon, word, cls] = shape(c.now);
  return [icon, word, stops(c.then) && !stops(c.now) ? 'state loose' : cls];
};

// begin is the first words of a call, by which changes are counted together.
export const begin = (c) => toolName(c) + ' ' +
  firstLine(c.subject).split(/\s+/).slice(0, c.tool === 'Bash' ? 2 : 1).join(' ');

// Edits that were not asked about yet are kept in the tab, and never in the address: an
// address does not bring a text along that would be run.
const draftKey = (hook) => 'whatif ' + hook;
const drafts = (hook) => { try {
  return JSON.parse(sessionStorage.getItem(draftKey(hook))) || {};
} catch { return {}; } };

export function WhatIf() {
  const { p } = route.value, [got, setGot] = useState(null), [err, setErr] = useState(null),
    [edits, setEdits] = useState(drafts(p.hook));
  const input = useRef();
  useEffect(keep);
  useEffect(() => { setEdits(drafts(p.hook)); }, [p.hook]);
  useEffect(() => { // the answer so far, until it is whole
    setGot(null); setErr(null);
    if (!p.job) return undefined;
    let timer = 0;
    const abort = new AbortController();
    const look = () => ask('whatif/' + segment(p.job), { signal: abort.signal }).then((a) => {
      setGot(a);
      setEdits((mine) => (Object.keys(mine).length ? mine : a.question.texts || {}));
      if (a.running) timer = setTimeout(look, 400);
      else if (timer) say(sentence(a), true);
    }, (e) => { if (e instanceof Refusal) setErr(e); });
    look();
    return () => { abort.abort(); clearTimeout(timer); };
  }, [p.job]);
  const edit = (texts) => {
    setEdits(texts);
    try { sessionStorage.setItem(draftKey(p.hook), JSON.stringify(texts)); } catch { /* no room: it is not kept */ }
  };
  const start = async () => {
    const { p } = route.value;
    if (!p.hook || got?.running) return;
    try {
      const a = await post('whatif', { hook: p.hook, texts: edits, since: p.since || '7d',
        limit: +(p.limit || limits[0]), tool: p.tool, agent: p.agent });
      put({ job: a.id, open: '', sel: '', only: '' });
    } catch (e) { if (!(e instanceof Refusal)) throw e; setErr(e); }
  };
  useKeys({ '/': () => input.current?.focus() });
  const command = ['hookd guard what-if', p.hook || 'HOOK', '--since', p.since || '7d', p.limit ? '--limit ' + p.limit
    : '', p.tool ? '--tool ' + p.tool : '', p.agent ? '--agent ' + p.agent : ''].filter(Boolean).join(' ');
  const edited = Object.keys(edits).length, can = about.value.act && connection.value.state === 'on';
  return html`<section class="view" id="whatif">
    <div class="bar" role="search" onKeyDown=${(e) => { if (e.key === 'Enter' && e.target.matches('input, select')) {
    e.preventDefault();
    start();
  } }}>
      <label class="search"><span class="t">hook</span><input ref=${input} type="text" list="hooks-there"
        value=${p.hook || ''} placeholder="its name, or its folder as a whole path"
        onInput=${(e) => put({ hook: e.target.value.trim(), job: '', file: '' })} spellcheck="false" autocomplete="off"
        aria-label="Hook" />
        <datalist id="hooks-there">
          ${(hooks.value || []).filter((h) => h.decides).map((h) => html`<option value=${h.name} />`)}</datalist>
          ${versionOf(p.hook, edited)}</label>
      <select aria-label="Since" value=${p.since || '7d'} onChange=${(e) => put({ since: e.target.value })}>
        ${Object.keys(ranges).map((r) => html`<option value=${r}>${ranges[r]}</option>`)}</select>
      <select aria-label="Events at most" value=${p.limit || limits[0]}
        onChange=${(e) => put({ limit: +e.target.value === limits[0] ? '' : e.target.value })}>
        ${limits.map((n) => html`<option value=${n}>${number(n)} at most</option>`)}</select>
      <label class="search word"><span class="t">tool</span><input type="text" value=${p.tool || ''} placeholder="any"
        aria-label="Tool" onInput=${(e) => put({ tool: e.target.value.trim() })} spellcheck="false" /></label>
      <label class="search word"><span class="t">agent</span><input type="text" value=${p.agent || ''} placeholder="any"
        aria-label="Agent" onInput=${(e) => put({ agent: e.target.value.trim() })} spellcheck="false" /></label>
      ${about.value.act && html`<button type="button" class="plain" aria-expanded=${!!p.edit} disabled=${!p.hook}
          onClick=${() => put({ edit: p.edit ? '' : '1' })}>Edit a copy</button>
      ${got?.running ? html`<button type="button" data-act="stop"
          onClick=${() => post('whatif/' + segment(p.job) + '/stop')}>Stop</button>`
          : html`<button type="button" data-act="ask" disabled=${!can || !p.hook} onClick=${start}>
          ${got ? 'Ask again' : 'Ask'} <kbd>Enter</kbd></button>`}`}</div>
    ${!about.value.act && html`<p class="nothing s">This page only shows, and What if runs the hook.
      Type <${Command} text=${command} /></p>`}
    ${about.value.act && p.edit && p.hook && html`<${Box} key=${p.hook} hook=${p.hook} edits=${edits} edit=${edit} />`}
    ${err && html`<${Bad} err=${err} />`}${got && html`<${Answer} got=${got} />`}
    ${!got && !err && !p.job && html`<${Empty}><h1>What would another version have decided?</h1><p class="s">Past calls
        are given to a hook, as it is now or as you edit it here, and what it would decide is compared with what was
        decided. No agent hears of it, and nothing of it is in the history.</p></${Empty}>`}</section>`;
}

// versionOf says which version of a hook is asked.
function versionOf(name, edited) {
  const h = (hooks.value || []).find((x) => x.name === name);
  const text = edited ? 'with what you edited' : h?.state === 'waiting' ? 'version that waits' : h ? 'as it is now'
    : name?.startsWith('/') || name?.startsWith('~') ? 'on disk' : '';
  return text && html`<span class="end">${text}</span>`;
}

// Box edits one file of a copy of the hook.
function Box({ hook, edits, edit }) {
  const [data, err] = useData((signal) => ask('texts', { query: { hook }, signal }), [hook]), { p } = route.value;
  if (err) return html`<${Bad} err=${err} />`;
  if (!data) return '';
  const files = Object.keys(data.texts), file = files.includes(p.file) ? p.file
    : files.find((f) => f !== 'HOOK.yaml') || files[0];
  if (!file) return html`<p class="nothing s">This hook has no folder of its own with files to edit.</p>`;
  const was = data.texts[file], text = Object.hasOwn(edits, file) ? edits[file] : was;
  const type = (value) => {
    const { [file]: _, ...rest } = edits;
    edit(value === was ? rest : { ...rest, [file]: value });
  };
  return html`<div class="edit"><div class="row"><span class="seg" role="group" aria-label="File">
    ${files.map((f) => html`<a href=${link('whatif', { ...p, file: f })}
      aria-current=${f === file ? 'true' : undefined}>${f}${Object.hasOwn(edits, f) ? ' ·' : ''}</a>`)}</span>
      ${text !== was && html`<button type="button" class="plain" onClick=${() => type(was)}>As it was</button>`}
        <span class="t">A copy: the hook itself stays as it is.</span></div>
    <textarea aria-label=${file} rows=${Math.max(6, Math.min(18, text.split('\n').length + 1))} value=${text}
      onInput=${(e) => type(e.target.value)} spellcheck="false" /></div>`;
}

const judged = (s) => s.asked;
const changes = (s) => s.changes.length + (s.left_out || 0);
function sentence({ sum, running }) {
  if (!sum) return running ? 'Asking…' : 'Nothing was asked';
  return `${number(changes(sum))} of ${plural(judged(sum), 'decision')} would change`;
}

function Answer({ got }) {
  const { sum: s, running, error, question } = got, { p } = route.value, [all, setAll] = useState({});
  const list = (s?.changes || [])
    .filter((c) => (!p.only || begin(c) === p.only) && (!p.pair || p.pair === c.then + '>' + c.now));
  const shown = groups.map(([title, note, fits], i) => {
    const of = list.filter(fits);
    return { i, title, note, of, rows: all[i] ? of : of.slice(0, mostRows) };
  }).filter((g) => g.of.length);
  const rows = shown.flatMap((g) => g.rows);
  const [at, select] = useRows(rows, (c) => c.event_id, {
    enter: (i) => i >= 0 && select(i, route.value.p.open !== route.value.p.sel), clear: ['open', 'sel', 'only', 'pair'],
      y: (c) => c?.event_id,
  });
  if (!s) return html`<p class="nothing ${error ? 'red' : 't'}" role=${error ? 'alert' : 'status'}>
    ${error || (running ? 'Asking…' : 'Nothing was asked.')}</p>`;
  const looked = s.asked + s.cut + s.redacted, n = (f) => words.reduce((sum, a) => sum +
    words.reduce((m, b) => m + (a !== b && f(a, b) ? s.counts[a]?.[b] || 0 : 0), 0), 0);
  const told = [[n((a, b) => !stops(a) && b === 'deny' || a === 'ask' && b === 'deny'),
    'that passed or were asked would be denied'],
    [n((a, b) => stops(a) && !stops(b)), 'that were denied or asked would pass']].filter((t) => t[0])
    .map((t) => number(t[0]) + ' ' + t[1]).join(', ');
  const most = Object.entries((s.changes || []).reduce((m, c) => {
    m[' ' + begin(c)] = (m[' ' + begin(c)] || 0) + 1;
    return m;
  }, {})).map(([k, v]) => [k.slice(1), v]).sort((a, b) => b[1] - a[1]).slice(0, 4);
  const edited = Object.keys(question.texts || {});
  return html`<div class="head top-aligned"><div><h1>${sentence(got)}</h1>
      <p role="status">${running ? html`<span class="amber">
        <${Icon} name="working" />Asking: ${number(looked)} of at most ${number(question.limit)} so far. </span>`
        : s.stopped ? 'Stopped; this is what was asked until then. ' : ''}${told && told + '. '}${s.cut + s.redacted
        ? `${plural(s.cut + s.redacted, 'event')} could not be judged: ${[s.cut && number(s.cut) +
          ' without all of their data', s.redacted && number(s.redacted) + ' without their secrets'].filter(Boolean)
          .join(', ')}. ` : ''}${question.hook}${edited.length ? ' with another ' + edited.join(', ') : ''} ran
        for ${number(s.ran)} in ${tookText(s.took_ms)}; nothing of it is in the history.</p>
      ${s.failed ? html`<p class="red" role="alert">
        <${Icon} name="fail" />It failed for ${plural(s.failed, 'event')}: <code>${s.error}</code></p>`
        : ''}${error ? html`<p class="red" role="alert"><${Icon} name="fail" />${error}</p>` : ''}
      ${!looked && !running ? html`<p class="s">No event of that time is one that this hook is for.</p>` : ''}
      ${most.length > 1 || p.only ? html`<p>Most of it: ${most.map(([k, v], i) => html`${i ? ', ' : ''}
          <a class="link" href=${link('whatif', { ...p, only: p.only === k ? '' : k })}
          aria-current=${p.only === k ? 'true' : undefined}>${k}</a> ${number(v)}`)}${p.only || p.pair
          ? html` · <a class="link" href=${link('whatif', { ...p, only: '', pair: '' })}>all</a>` : ''}</p>` : ''}</div>
    <${Matrix} counts=${s.counts} /></div>
    ${rows.length > 0 && html`<${Table} label="Decisions that would change" groups
        cols=${['n-time', 'w-who', '', 'w-state', 'w-state', 'w-why']}
        head=${['Time', 'Who', 'What', 'Then', 'Now', 'Why now']}>
      ${shown.map((g) => html`<tbody role="rowgroup" key=${g.i}><tr role="row" class="grp">
          <${Td} colspan="6" class="f-wide">${g.title}${' '}
          <small>${number(g.of.length)}${g.note ? ' that ' + g.note : ''}</small></${Td}></tr>${g.rows.map((c) =>
          html`<${Row} key=${c.event_id} c=${c} on=${c.event_id === p.sel} opened=${c.event_id === p.open}
          tab=${c === rows[Math.max(0, at)] ? 0 : -1} pick=${() => select(rows.indexOf(c), c.event_id !== p.open)} />`)}
        ${g.rows.length < g.of.length && html`<tr role="row" class="new"><td role="cell" colspan="6">
            <button type="button" class="plain link" onClick=${() => setAll({ ...all, [g.i]: true })}>
            ${number(g.of.length - g.rows.length)} more</button></td></tr>`}</tbody>`)}</${Table}>`}
    ${s.left_out ? html`<p class="rest t">
      ${plural(s.left_out, 'older change')} ${s.left_out === 1 ? 'is' : 'are'} counted and not listed.${' '}
      <code>hookd guard what-if ${question.hook} -o json</code> prints all.</p>` : ''}`;
}

function Row({ c, on, opened, tab, pick }) {
  return html`<tr role="row" data-id=${c.event_id} tabindex=${tab} aria-selected=${on}
    class=${on || opened ? 'sel' : ''} onClick=${pick}><${Td} class="when mono f-time"><${Clock} t=${c.time} /></${Td}>
    <${Td} class="f-hide"><${Who} r=${c} /></${Td}><${Td} class="f-wide"><${What} r=${c} /></${Td}>
    <${Td} class="f-state"><${State} is=${quiet(c.then)} /></${Td}><${Td} class="f-who">
      <${State} is=${now(c)} /></${Td}><${Td} class="s f-why" title=${c.reason || ''}>
      ${firstLine(c.reason) || (c.was ? html`<span class="t">then: ${firstLine(c.was)}</span>` : '')}</${Td}></tr>
    ${opened && html`<tr role="row" class="open"><${Td} colspan="6"><${Peek} r=${c} kind="past" /></${Td}></tr>`}`;
}

// Matrix is then by now: the diagonal is quiet, tighter is red, looser is blue.
export function Matrix({ counts, p = route.value.p }) {
  const used = words.filter((w) => counts[w] || words.some((v) => counts[v]?.[w]));
  if (!used.length) return '';
  const order = used.slice().reverse();
  const cell = (then, to) => {
    const n = counts[then]?.[to] || 0;
    if (!n || then === to) return html`<td role="cell" class=${n ? 'same' : 'z'}>${number(n)}</td>`;
    const pair = then + '>' + to;
    return html`<td role="cell" class=${words.indexOf(to) < words.indexOf(then) ? 'up' : 'down'}>
      <a href=${link('whatif', { ...p, pair: p.pair === pair ? '' : pair })}
      aria-current=${p.pair === pair ? 'true' : undefined}>${number(n)}</a></td>`;
  };
  return html`<table role="table" class="matrix" aria-label="Decisions then and now"><thead role="rowgroup">
    <tr role="row"><th role="columnheader" scope="col">Then, now</th>
    ${order.map((w) => html`<th role="columnheader" scope="col">${w}</th>`)}</tr></thead>
    <tbody role="rowgroup">${order.map((w) => html`<tr role="row">
        <th role="rowheader" scope="row">${w}</th>${order.map((v) => cell(w, v))}</tr>`)}</tbody></table>`;
}
