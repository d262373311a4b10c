// A guard: how often it was asked, what it said and why, over time. hookd groups what it said; this draws it.
import { Times } from './chart.js';
import { changed, hooks, isShadow, stateOfHook, waiting } from './health.js';
import { keep, useKeys, useRows } from './keys.js';
import { html, useEffect, useState } from './lib.js';
import { about, ask, segment } from './net.js';
import { Act, Bad, Command, Empty, Late, State, Table, Td, stateOf, useData } from './parts.js';
import { go, link, put, route } from './state.js';
import { agentLabel, firstLine, hhmm, home, number, plural, tookText, when } from './words.js';

const day = 864e5, hour = 36e5;
const ranges = { '24h': ['24 hours', day, hour], '7d': ['7 days', 7 * day, day], '30d': ['30 days', 30 * day, day] };
const iso = (t) => new Date(t).toISOString();

// extent is the time that is shown: whole hours or days, in UTC as hookd counts them.
function extent(range) {
  const [, long, step] = ranges[range] || ranges['30d'];
  const to = Math.ceil(Date.now() / step) * step;
  return { from: to - long, to, step, by: step === day ? 'day' : 'hour' };
}

export function Guard() {
  const { p } = route.value, h = (hooks.value || []).find((x) => x.name === p.name);
  const at = extent(p.range), path = 'guards/' + segment(p.name || '');
  useEffect(keep);
  const [full] = useData((signal) => ask('v1/hooks/' + segment(p.name), { signal }), [p.name, h?.digest, h?.state]);
  const [spans] = useData((signal) => ask('v1/stats', {
    query: { by: at.by, hook: p.name, since: iso(at.from) }, signal,
  }), [p.name, at.from, at.by]);
  const all = { since: iso(at.from), by: at.by }, part = { since: p.since || all.since, until: p.until, by: at.by };
  const [whole, err] = useData((signal) => ask(path, { query: all, signal }), [p.name, at.from, at.by]);
  const [some] = useData((signal) => (p.since ? ask(path, { query: part, signal }) : Promise.resolve(null)),
    [p.name, p.since, p.until, at.by]);
  if (!p.name) return html`<section class="view" id="guard"><${Empty}>
    <a class="link" href="#hooks">All guards</a></${Empty}></section>`;
  if (err) return html`<section class="view" id="guard"><${Bad} err=${err} /></section>`;
  if (!whole || !spans || !hooks.value) return html`<section class="view" id="guard"><${Late} /></section>`;
  const shown = p.since ? some : whole;
  return html`<section class="view" id="guard" aria-label=${'Guard ' + p.name}>
    <${Head} h=${h} name=${p.name} g=${whole} />
    <${Multiples} at=${at} spans=${spans.groups || []} asked=${whole.asked} changes=${full?.changes || []} h=${h} />
    <div class="guard"><div><div class="said">
      <h2>What it said <small>${span(p)}, the same reason is one row</small></h2>
        ${p.since && html`<button type="button" class="plain link"
            onClick=${() => put({ since: '', until: '' })}>all days</button>`}
        <span class="seg" role="group" aria-label="How far back">${Object.keys(ranges).map((r) => html`<a
          href=${link('guard', { ...p, range: r === '30d' ? '' : r, since: '', until: '' })}
          aria-current=${r === (p.range || '30d') ? 'true' : undefined}>${r}</a>`)}</span></div>
      ${shown ? html`<${Said} g=${shown} h=${h} />` : html`<${Late} />`}</div>
    <${Beside} h=${h} name=${p.name} g=${whole} full=${full} /></div></section>`;
}

const span = (p) => (p.since ? `${when(p.since, hhmm)} to ${p.until ? when(p.until, hhmm) : 'now'}`
  : (ranges[p.range] || ranges['30d'])[0]);

function Head({ h, name, g }) {
  const facts = [h && stateOfHook(h)[1], g.rules && plural(g.rules, 'rule'), h?.matcher && h.matcher !== '*'
    && 'asked before ' + h.matcher.split('|').join(', '), g.layer !== 'user' && g.layer];
  useKeys({ e: () => g.edits && about.value.act && go('edit', { hook: name }), w: () => go('whatif', { hook: name }) });
  return html`<div class="head"><div><p class="crumb"><a href="#hooks">Guards</a>${h ? ' / ' + home(h.file) : ''}</p>
      <h1>${name} <small>${facts.filter(Boolean).join(' · ')}</small></h1>
        ${h?.description && html`<p>${h.description}</p>`}</div>
    <div class="row"><a class="link" href=${link('hooks', { hook: name })}>Try it</a>
      <a class="link" href=${link('stream', { q: 'hook:' + name })}>Calls</a>
      <a class="link" href=${link('whatif', { hook: name })}>What if <kbd>w</kbd></a>
      ${g.edits && about.value.act && html`<button type="button"
          onClick=${() => go('edit', { hook: name })}>Edit <kbd>e</kbd></button>`}</div></div>
    ${!h && html`<p class="nothing s">No hook of this name is there now. What it said is kept.</p>`}`;
}

// Multiples are five charts with one axis. What the pointer is over is read in all of them.
function Multiples({ at, spans, asked, changes, h }) {
  const [over, point] = useState(-1), { p } = route.value;
  const n = Math.round((at.to - at.from) / at.step), start = (i) => at.from + i * at.step;
  const place = (name) => Math.floor((Date.parse(name.length === 10 ? name + 'T00:00:00Z' : name) - at.from) / at.step);
  const series = (list, name, value) => {
    const out = Array.from({ length: n }, () => 0);
    for (const s of list) { const i = place(s[name]); if (i >= 0 && i < n) out[i] = value(s); }
    return out;
  };
  const of = (value) => series(spans, 'name', value), sum = (list) => list.reduce((a, b) => a + b, 0);
  const runs = of((s) => s.runs), denied = of((s) => s.denied), failed = of((s) => s.failures);
  const asks = series(asked, 'start', (a) => a.asked), yes = series(asked, 'start', (a) => a.yes);
  const p50 = of((s) => s.p50_ms), p99 = of((s) => s.p99_ms), unit = at.by === 'day' ? 'a day' : 'an hour';
  const mid = (list) => {
    const ran = list.filter((_, i) => runs[i]).sort((a, b) => a - b);
    return ran.length ? ran[Math.floor(ran.length / 2)] : undefined;
  };
  const versions = changes.filter((c) => c.to && c.change !== 'removed').map((c) => Date.parse(c.time))
    .filter((t) => t >= at.from);
  const read = (list) => (over < 0 ? '' : number(list[over]));
  const most = (list) => (Math.max(...list) ? `${number(Math.max(...list))} ${unit} at most` : '');
  const harm = failed.some(Boolean)
    ? (h?.failure === 'denies' ? 'failing denies' : h?.failure ? 'failing lets pass' : '') : '';
  const charts = [
    ['calls', `${number(sum(runs))} ${sum(runs) === 1 ? 'call' : 'calls'}`, read(runs) || most(runs),
      { bars: [[runs, '--bar-none']] }],
    ['denied', `${number(sum(denied))} denied`, read(denied) || most(denied), { bars: [[denied, '--bar-allow']] }],
    ['asked', `${number(sum(asks))} asked`, over < 0 ? sum(asks) && `${number(sum(yes))} yes`
      : `${number(asks[over])}, ${number(yes[over])} yes`,
      { bars: [[asks, '--bar-none'], [yes, '--bar-allow']] }],
    ['time', `${tookText(mid(p50))} p50`, over < 0 ? (mid(p99) === undefined ? '' : `${tookText(mid(p99))} p99`)
      : runs[over] ? `${tookText(p50[over])}, p99 ${tookText(p99[over])}` : 'no call',
        { lines: [[p99, '--ink'], [p50, '--ink-3']], ran: runs }],
    ['failed', `${number(sum(failed))} failed`, read(failed) || harm || most(failed),
      { bars: [[failed, '--deny']], red: sum(failed) > 0 }],
  ];
  const brush = p.since ? [Date.parse(p.since), p.until ? Date.parse(p.until) : at.to] : null;
  const onBrush = (from, to) => {
    const since = Math.floor((from - at.from) / at.step), until = Math.ceil((to - at.from) / at.step);
    go('guard', { ...p, since: iso(start(since)), until: until >= n ? '' : iso(start(until)) });
  };
  const text = (t) => when(t, hhmm).split(' ')
    .slice(0, at.by === 'day' && Date.now() - t > 6 * day ? 2 : undefined).join(' ');
  return html`<div class="multiples">${charts.map(([key, title, note, drawn]) => html`<figure key=${key}>
      <figcaption><b class=${drawn.red ? 'red' : ''}>${title}</b><span>${note}</span></figcaption>
      <${Times} n=${n} ...${drawn} from=${at.from} to=${at.to} marks=${versions} over=${over} onOver=${point}
        brush=${brush} onBrush=${onBrush}
        label=${`${title} from ${when(at.from, hhmm)} to now${note ? ', ' + note : ''}`} />
      <div class="axis"><span>${over < 0 ? text(at.from) : text(start(over))}</span>
          <span>${over < 0 ? 'now' : ''}</span></div></figure>`)}</div>
    <p class="note t">${versions.length ? 'Dashed: a new version, ' + versions.slice(0, 6).map((t) => when(t, hhmm))
      .join(', ') + '. ' : ''}${sum(asks) ? 'Asked: the stronger part was answered yes. ' : ''}Drag over a chart to
      choose ${at.by === 'day' ? 'days' : 'hours'}; the groups below follow.</p>`;
}

const shapes = { failed: ['fail', 'failed', 'state fail'] };
const shapeOf = (said) => shapes[said]
  || (said.startsWith('would ') ? ['shadow', said, 'none'] : stateOf({ decision: said }));
// reason is that of a group without the rule's name, where its place in a file stands beside it.
const reason = (x) => (x.rule?.where ? x.reason.split(' (rule ')[0] : x.reason) || 'no reason';
const who = (g) => g.who.slice(0, 3)
  .map((w) => agentLabel(w.name) + (g.who.length > 1 ? ' ' + w.count : '')).join(', ');
const idOf = (g) => g.said + ' ' + g.reason;
const answered = (g) => (g.yes && !g.no ? (g.yes === 1 ? 'yes' : `${number(g.yes)} × yes`)
  : g.yes || g.no ? `${number(g.yes)} yes, ${number(g.no)} no` : '–');

function Said({ g }) {
  const list = g.groups, { p } = route.value;
  const [at, select] = useRows(list, idOf, {
    enter: (i) => (i < 0 ? select(0) : select(i, route.value.p.open !== idOf(list[i]))),
      clear: ['open', 'sel', 'since'], y: (x) => x?.reason,
  });
  const row = (x, i, id) => html`<${Row} key=${id} x=${x} id=${id} open=${p.open === id}
    on=${p.open === id || p.sel === id} tab=${i === Math.max(0, at) ? 0 : -1}
    pick=${() => select(i, p.open !== id)} />`;
  if (!list.length) return html`<${Empty}>
    <p class="s">It denied nothing, asked about nothing and did not fail in that time.</p></${Empty}>`;
  return html`<${Table} label="What it said"
    cols=${['n-num', 'w-said', '', 'w-example', 'w-agent', 'w-yes', 'w-act']} class="groups"
      head=${['Times', 'Said', 'Reason', 'For example', 'Who', 'Answered', 'Act']}>
      ${list.map((x, i) => row(x, i, idOf(x)))}</${Table}>
    ${!g.whole && html`<p class="rest t">The newest of it are counted: there are more.</p>`}`;
}

function Row({ x, id, open, on, tab, pick }) {
  const c = x.commands[0];
  return html`<tr role="row" data-id=${id} tabindex=${tab} aria-selected=${on}
    class=${(on ? 'sel' : '') + (open ? ' opened' : '')} onClick=${pick}>
      <${Td} class="num f-time">${number(x.count)}</${Td}><${Td} class="f-state">
        <${State} is=${shapeOf(x.said)} /></${Td}>
      <${Td} class="f-wide" title=${x.reason}>${reason(x)} <span class="t">
        ${x.rule?.where || ''}</span></${Td}>
      <${Td} class="f-why"><code title=${c?.subject}>${c?.subject || ''}</code></${Td}>
      <${Td} class="s f-who">${who(x)}</${Td}><${Td} class="s f-hide">${answered(x)}</${Td}>
      <${Td} class="f-hide"><${RowAct} x=${x} /></${Td}></tr>
    ${open && html`<tr role="row" class="open"><${Td} colspan="7"><${Commands} x=${x} /></${Td}></tr>`}`;
}

// RowAct is what most likely mends a row: its example is a false alarm, or yes is always the answer, or why it failed.
function RowAct({ x }) {
  const c = x.commands[0];
  if (!c || x.said.startsWith('would ')) return '';
  if (c.run) return html`<a class="link" href=${link('run', { id: c.run })}>Run</a>`;
  if (x.yes > 1 && !x.no) return html`<a class="link" href="#learn">Learn</a>`;
  return about.value.act && stopped(x) ? html`<${Alarm} x=${x} c=${c} />` : '';
}
const stopped = (x) => x.said === 'deny' || x.said === 'ask';

// Alarm makes a call that was stopped in error a test of the guard, and opens the editor at the rule; the rule stays as
// it is.
function Alarm({ x, c }) {
  const [file, line] = (x.rule?.where || '').split(':');
  return html`<${Act} label="False alarm" plain=${true} key_="test" path=${'calls/' + segment(c.call) + '/test'}
    body=${{ expect: 'none' }} command=${'hookd guard test ' + c.call.slice(-8) + ' --expect none'}
    done=${() => go('edit', { hook: route.value.p.name, file, line })} />`;
}

// Commands are the calls of a group, the same ones together.
function Commands({ x }) {
  return html`<ul class="commands" aria-label="Calls">
    ${x.commands.map((c) => html`<li key=${c.call}><span class="num">${number(c.count)} ×</span>
      <span class="tool">${c.tool}</span><code title=${c.subject}>${c.subject}</code>
        <time class="t">${when(c.last, hhmm)}</time>
      <span class="acts"><a class="link"
        href=${c.run ? link('run', { id: c.run }) : link('call', { id: c.call })}>
        ${c.run ? 'Run' : 'Call'}</a>
        ${stopped(x) && html`<${Alarm} x=${x} c=${c} />`}</span></li>`)}
    ${x.more > 0 && html`<li class="t">${plural(x.more, 'other command')}</li>`}</ul>`;
}

// Beside has what is not about time: whether it is on, its grants, versions, tests and idle rules.
function Beside({ h, name, g, full }) {
  const [grants] = useData((signal) => ask('v1/grants', { signal }), [name]);
  const mine = (grants?.grants || []).filter((x) => x.hook === name), w = waiting.value.find((x) => x.hook === name);
  const versions = (full?.changes || []).filter((c) => c.to || c.change !== 'changed').slice(0, 12);
  return html`<aside class="beside" aria-label=${'About ' + name}>
    ${h && html`<h2>On or off</h2><div class="row">
      <span>${h.state === 'disabled' ? 'off' : isShadow(h) ? 'in the shadow' : 'on'}</span>
      <${Act} label="Snooze 1 h" key_="snooze" plain=${true} path=${'hooks/' + segment(name) + '/snooze'}
          body=${{ for: '1h' }} command=${'hookd snooze ' + name + ' 1h'} /></div>`}
    ${w && html`<h2>Waits for you</h2><div class="row"><span class="s">${w.new ? 'new' : changed(w)}</span>
      <a class="link" href=${link('hooks', { hook: name })}>Look</a></div>`}
    ${mine.length > 0 && html`<h2>Grants <span>${number(mine.length)}</span></h2>
      ${mine.map((x) => html`<${Grant} key=${x.id} x=${x} />`)}`}
    ${versions.length > 0 && html`<h2>Versions <span>the newest first</span></h2>
      <dl class="fact">${versions.map((c) => html`<dt>${when(c.time, hhmm)}</dt>
      <dd>${c.change}${c.by ? html` <span class="t" title=${c.by}>${c.by.startsWith('allowed') ? '' : 'by '}${
          c.by.split(' (')[0]}</span>` : ''}${c.to ? html` <code class="t">${c.to.slice(0, 8)}</code>` : ''}${c.why
          ? html` <span class="s">${firstLine(c.why)}</span>` : ''}</dd>`)}</dl>`}
    ${h?.tests > 0 && html`<h2>Tests <span>${plural(h.tests, 'test')}</span></h2><p>
      <a class="link" href=${link('hooks', { hook: name })}>Run them</a></p>`}
    ${g.never.length > 0 && html`<h2>Said nothing <span>in this time</span></h2><dl class="fact">
      ${g.never.map((r) => html`<dt><code>${r.where}</code></dt><dd title=${r.name}>${r.name}</dd>`)}</dl>`}
    ${h && !about.value.act && html`<h2>Change it</h2><p>
        <${Command} text=${'hookd hook edit ' + name} /></p>`}</aside>`;
}

export function Grant({ x, hook }) {
  const [gone, end] = useState(false), until = x.void ? 'void: ' + x.void
    : x.until ? 'until ' + when(x.until, hhmm) : x.scope;
  return html`<div class="grant"><span class="t" title=${x.until || ''}>${until}</span>
    <code title=${x.subject}>${x.like || x.subject}</code>
    <span class="s">${x.answer}${hook ? html`, asked by <a href=${link('guard', { name: x.hook })}>
      ${x.hook}</a>, ${agentLabel(x.dialect)} in ${home(x.cwd)}` : ''}${
      x.scope === 'session' ? ', in its session' : ''}${x.uses ? ', ' + plural(x.uses, 'use') : ''}</span>
    ${gone ? html`<span class="t">ended</span>`
      : html`<${Act} label="End" plain=${true} key_="revoke" method="DELETE" path=${'v1/grants/' + segment(x.id)}
        command=${'hookd ask grants revoke ' + x.id} done=${() => end(true)} />`}</div>`;
}
