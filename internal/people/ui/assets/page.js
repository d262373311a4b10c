// The page: the bar on top, the view, the foot.
import { computed, effect, html, render, signal, useEffect } from './lib.js';
import { Edit } from './edit.js';
import { Notices } from './asks.js';
import { Why } from './call.js';
import { watch } from './health.js';
import { watchFleet } from './fleet.js';
import { Guard } from './guard.js';
import { Hooks } from './hooks.js';
import { Sheet, sheet, kept } from './keys.js';
import { about, ask, back, connection, gaps, listen, missing, rate, status } from './net.js';
import { Now, needs } from './now.js';
import { Icon, Late, said, say } from './parts.js';
import { Learn } from './looks.js';
import { Run } from './run.js';
import { Session } from './session.js';
import { link, route, tabs } from './state.js';
import { Calls } from './calls.js';
import { Grants, Undo } from './undo.js';
import { WhatIf } from './whatif.js';
import { hhmm, hhmmss, plural, when } from './words.js';

const parts = {
  now: ['Now', Now], stream: ['Calls', Calls], session: ['Session', Session], hooks: ['Guards', Hooks],
    run: ['Run', Run], call: ['Call', Why],
  whatif: ['What if', WhatIf], guard: ['Guard', Guard],
  edit: ['Edit', Edit], undo: ['Undo', Undo], grants: ['Grants', Grants], learn: ['Learn', Learn],
};

// owner is the tab that a view without one is reached from.
const owner = { guard: 'hooks', edit: 'hooks', grants: 'hooks', run: 'stream', call: 'stream', whatif: 'hooks' };

const waits = computed(() => needs.value.length);
effect(() => { document.title = (waits.value ? '(' + waits.value + ') ' : '') + 'hookd'; });

function Top() {
  const here = route.value.view, c = connection.value.state;
  return html`<header class="top"><span class="brand">hookd</span>
    <nav class="tabs" aria-label="Views">${tabs.map((v) => html`<a href=${link(v, v === here ? route.value.p : kept(v))}
        aria-current=${v === (owner[here] || here) ? 'page' : undefined}>${parts[v][0]}${
      v === 'now' && waits.value ? html` <span class="n hot">${waits.value}<span class="sr"> waiting</span></span>`
          : ''}</a>`)}</nav>
    <div class="conn"><${Off} /><${Notices} />
      <span class="wide">${about.value.act ? 'actions on' : 'looks only'}</span>${
      c === 'on' || c === 'begin' ? html`<span><${Icon} name="ok" />${about.value.host || ''}</span>`
      : html`<span class="amber"><${Icon} name="fail" />not connected</span>`}</div></header>`;
}

// Off are the guards that are switched off for a while, with their ends.
function Off() {
  const list = status.value?.snoozed || [];
  if (!list.length) return '';
  const title = list.map((x) => `${x.hook} until ${when(x.until, hhmm)}`).join(', ');
  return html`<a class="amber snoozed" href=${link('guard', { name: list[0].hook })} title=${title}>
    <${Icon} name="idle" />${
    list[0].hook} off until ${when(list[0].until, hhmm)}${list.length > 1 ? ` +${list.length - 1}` : ''}</a>`;
}

function Banner() {
  const c = connection.value, b = back.value;
  if (c.state === 'gone') return html`<div class="banner" role="status"><${Icon} name="fail" /><span>
    <b>hookd ui has ended (${hhmmss(c.since)}).</b> What you see is from then. Hooks and agents are not touched by it.
    Type <code>hookd ui --open</code> to look again.</span></div>`;
  if (c.state === 'off') {
    return html`<div class="banner" role="status"><${Icon} name="fail" /><span>
      <b>hookd has not answered since ${hhmmss(c.since)}.</b> What you see is from then. Agents go on without it, unless
      connected with <code>--fail-closed</code>. The page tries again every few seconds, ${clock.value} s so far.</span>
      <button type="button" class="plain link" onClick=${listen}>Try now</button></div>`;
  }
  if (b) return html`<div class="banner quiet" role="status"><${Icon} name="allow" /><span>Connected again, ${
    plural(b.records, 'record')} fetched${b.missed.length ? `; ${missed(b.missed)} missed` : ''}.</span></div>`;
  return html`<div class="banner none"></div>`;
}
const clock = signal(0);
setInterval(() => { clock.value = Math.round((Date.now() - connection.value.since) / 1000); }, 1000);

function Foot() {
  const s = status.value;
  const keys = [['j k', 'move'], ['Enter', 'open'], ['/', 'search'], ['1 – 6', 'views'], ['?', 'all keys']];
  return html`<footer class="foot"><span class="keys">${keys.map(([k, what]) => html`<span class="k">
      ${k.split(' ').map((c) => (c === '–' ? html`<span>to</span>` : html`<kbd>${c}</kbd>`))}${what === 'all keys'
      ? html`<button type="button" class="plain sm" onClick=${() => {
    sheet.value = true;
  }}>all keys</button>` : what}</span>`)}</span>
    <span>${rate.value} records/s · <${Gaps} />${
      s ? html` · ${s.store.ok ? plural(s.store.runs, 'run') + ' kept'
          : html`<span class="red">history cannot be written: ${s.store.error}</span>`}` : ''}${s && s.store.lost
        ? html` · <span class="red">${plural(s.store.lost, 'record')} lost</span>` : ''}</span></footer>`;
}

// missed is how many records are missing, in words: that may be unknown.
const missed = (list) => {
  const n = list.reduce((sum, g) => sum + missing(g), 0);
  return n ? plural(n, 'record') : 'records';
};

// Gaps says what the stream missed, and whether the history has it.
function Gaps() {
  const list = gaps.value, lost = list.filter((g) => g.lost), found = list.filter((g) => g.lost === false);
  if (!list.length) return 'no gaps';
  return html`<span class="amber">${plural(list.length, 'gap')}${found.length
    ? `, ${missed(found)} read from the history` : ''}${lost.length ? `, ${missed(lost)} missing` : ''}</span>`;
}

function Page() {
  const { view } = route.value, [title, View] = parts[view],
    off = connection.value.state === 'off' || connection.value.state === 'gone';
  useEffect(watch, []);
  useEffect(watchFleet, []);
  useEffect(() => { document.getElementById('main').scrollTop = 0; }, [view]);
  return html`<a class="skip" href="#main" onClick=${(e) => {
    e.preventDefault();
    document.getElementById('main').focus();
  }}>To the view</a>
    <${Top} /><${Banner} /><main id="main" tabindex="-1" aria-label=${title} class=${off ? 'off' : ''}>
      ${about.value.version === undefined ? html`<${Late} />` : html`<${View} key=${view} />`}</main><${Foot} />
    <div class="sr" aria-live="polite" role="status">${said.value}</div><${Sheet} />`;
}

let before = -1;
effect(() => {
  const n = waits.value;
  if (before >= 0 && n !== before) say(n ? plural(n, 'thing waits', 'things wait') + ' for you'
    : 'Nothing waits for you');
  before = n;
});

const root = document.getElementById('page');
root.replaceChildren();
render(html`<${Page} />`, root);
ask('about').then((a) => { about.value = a; }, () => {
  connection.value = { state: 'gone', since: Date.now(), why: '' };
});
listen();
