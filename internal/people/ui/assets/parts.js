// The pieces that every view is made of.
import { html, signal, useEffect, useRef, useState } from './lib.js';
import { Refusal, about, ask, connection, refresh } from './net.js';
import { agentName, exact, firstLine, home, last, plural, short, took, toolName, when, whole } from './words.js';

// Icon is a shape of state; the word beside it is the name.
export const Icon = ({ name }) => html`<svg class="m" aria-hidden="true"><use href=${'#m-' + name} /></svg>`;

// stateOf returns how a decision is shown: [shape, word, class]. An ask that was answered is
// shown with its answer.
/** @returns {[string, string, string]} */
export function stateOf(d) {
  if (d.held) return ['ask', 'ask, held', 'state ask'];
  if (d.answered?.answer) return [d.decision === 'deny' ? 'deny' : 'ask', 'ask, ' + outcomeOf(d),
    d.decision === 'deny' ? 'state deny' : 'state q'];
  switch (outcomeOf(d)) {
    case 'disobeyed': return ['out', 'disobeyed', 'state deny'];
    case 'not asked': return ['unasked', 'not asked', 'state'];
    case 'deny': return ['deny', 'deny', 'state deny'];
    case 'ask': return ['ask', 'ask', 'state ask'];
    case 'contain': return ['box', 'contain', 'state q'];
    case 'rewrite': return ['rewrote', 'rewrite', 'state q'];
    case 'allow': return ['allow', 'allow', 'state q'];
    case 'context': return ['none', 'context', 'state q'];
  }
  return ['none', 'none', 'none'];
}
// outcomeOf returns the decision in one word, as hookd says it.
export const outcomeOf = (d) => d.outcome || d.decision || 'none';

// Ran says how the call of a decision ran, as its agent reported it.
export function Ran({ d: { guarded, decision, ran, undo, held } }) {
  const kept = (ran?.box?.kept || []).length;
  if (guarded === 'disobeyed') return html`<span class="red">
    ${ran?.instead ? 'ran another line' : 'ran all the same'}</span>`;
  if (guarded === 'not asked') return html`<span class="s">ran</span> <span class="t">· no undo</span>`;
  if (!ran) return html`<span class="t">${held ? 'waits for you' : decision === 'deny' ? 'did not run' : '–'}</span>`;
  const facts = [kept && kept + ' kept out', undo?.files && !undo.gone && 'undo'].filter(Boolean);
  return html`<span class=${ran.failed ? '' : 's'}>${ran.failed ? 'failed' : 'ran'}</span>
    ${facts.length > 0 && html` <span class="t">· ${facts.join(' · ')}</span>`}`;
}

// toldTo says in a sentence what the agent heard of a decision; '' = nothing.
export function toldTo(d) {
  const who = agentName(d), t = d.told;
  if (t?.unsure) return `It is not known what ${who} was told: ${t.unsure}.`;
  const word = t ? t.decision : d.decision, reason = ((t ? t.reason : d.reason) || '').trim();
  const gave = (d.rewrote || []).filter((part) => part !== 'input' || !d.contained && (!t || t.rewrote));
  const parts = [word === 'none' ? '' : word, reason && word !== 'none' ? '“' + reason + '”' : '',
    d.contained && `in the box ${d.contained}`, changedWords(gave)].filter(Boolean);
  return parts.length ? `Told to ${who}: ${parts.join(', ')}` : '';
}
// changedWords says which parts hooks have changed or added; '' = none.
function changedWords(parts) {
  const others = parts.filter((p) => p !== 'context');
  return [others.length ? 'another ' + others.join(' and another ') : '', parts.includes('context') ? 'more context'
    : ''].filter(Boolean).join(' and ');
}
export const State = ({ is: [shape, word, cls] }) => html`<span class=${cls}><${Icon} name=${shape} />${word}</span>`;

// resultOf returns how the result of a run is shown: [shape, word, class].
/** @returns {[string, string, string]} */
export function resultOf(r) {
  switch (r.result) {
    case 'ok': return r.decision && r.decision !== 'none' ? stateOf(r) : r.awaited ? ['none', 'none', 'none']
      : ['allow', 'ran', 'none'];
    case 'deny': return stateOf({ decision: r.decision || 'deny' });
    case 'timeout': return ['fail', 'timed out', 'state fail'];
    case 'spawn_error': return ['fail', 'not started', 'state fail'];
    case 'interrupted': return ['dead', 'interrupted', 'state q'];
    case 'dropped': return ['dead', 'dropped', 'state q'];
    case 'merged': return ['none', 'merged', 'none'];
  }
  return ['fail', 'failed', 'state fail'];
}
export const failed = (r) => ['failed', 'timeout', 'spawn_error', 'interrupted'].includes(r.result);

export const Took = ({ ms }) => { const [n, unit] = took(ms); return html`${n} <span class="unit">${unit}</span>`; };
export const Clock = ({ t, fine }) => html`<time title=${whole(t)}>${when(t, fine ? exact : undefined)}</time>`;
export const Who = ({ r }) => html`${agentName(r)} <span class="t">${last(r.cwd)}</span>`;
// What is a call's tool and input, and the input that ran instead, or the box that it ran in.
export const What = ({ r }) => html`<span class="tool">${toolName(r)}</span>
  <code title=${r.subject || ''}>${r.subject || ''}</code>${instead(r)}`;
const instead = (r) => {
  if (r.contained) return html` <span class="t">in the box ${r.contained}</span>`;
  return r.new_subject ? html` <span class="t">→ <code title=${r.new_subject}>${r.new_subject}</code></span>` : '';
};

// Why says which hook decided, and its reason; or how many had no opinion.
export function Why({ d }) {
  const hooks = d.decided_by || [], all = hooks.join(', '),
    by = hooks.length > 2 ? `${hooks[0]} +${hooks.length - 1}` : all;
  const shadow = (d.shadow || [])[0];
  const reason = firstLine(d.reason), untaken = d.untaken || [];
  if (by || reason) {
    return html`<b title=${all}>${by}</b> <span>${without(reason, d.decided_by) || changedWords(d.rewrote || [])}</span>
      ${answered(d)}${untaken.length > 0 && html` <${Untaken} list=${untaken} />`}`;
  }
  if (untaken.length) return html`<${Untaken} list=${untaken} />`;
  if (shadow) return html`<b>${shadow.hook}</b> <span
    class="t">shadow:</span> would ${shadow.decision}${shadow.reason ? ', ' + firstLine(shadow.reason) : ''}`;
  if (d.guarded === 'not asked') return html`<span class="t">it ran, and hookd was not asked</span>`;
  const n = (d.runs || []).length;
  return html`<span class="t">${n ? plural(n, 'hook') + ', no opinion' : 'no hook had an opinion'}</span>`;
}
// Untaken says which answers did not count as they were meant.
const Untaken = ({ list }) => html`<span title=${list.join('\n')}>
  <b>${list[0].slice(0, list[0].indexOf(': '))}</b> ${list[0].slice(list[0].indexOf(': ') + 2)}</span>`;
// without takes a hook's name, whole or without its pack, from the beginning of its own reason.
const without = (reason, by) => (by || []).flatMap((name) => [name, name.slice(name.lastIndexOf('/') + 1)])
  .reduce((text, name) => (text.startsWith(name + ': ') ? text.slice(name.length + 2)
  : text.startsWith(name + ' ') ? text.slice(name.length + 1) : text), reason || '');
// byWay says in words by which way a person answered, and for how long the answer counts.
export const byWay = (a) => [{ page: ' on a page', terminal: ' in a terminal' }[a.from?.door]
  || (a.from?.door ? ' by way of ' + a.from.door : ''),
  a.for && a.for !== 'once' ? ', for ' + ({ session: 'the session', always: 'always' }[a.for] || a.for) : ''].join('');
// byWhom says in words what answered an ask.
export function byWhom(a) {
  switch (a.by) {
    case 'person': return `by ${a.from?.user || 'a person'}${a.message ? ': “' + a.message + '”' : ''}`;
    case 'grant': return 'grant ' + short(a.id);
    case 'timeout': return 'no answer came in time';
    case 'restart': return 'hookd ended';
    case 'gone': return 'the agent ended';
  }
  return 'by ' + a.by;
}
export const byPerson = (d) => d.answered?.by === 'person';
const answered = (d) => (d.answered ? html` <span class="t">· ${byWhom(d.answered)}</span>` : '');

// Table is a table for screen readers at every width: `display: grid` takes the roles away, so
// they are set. groups: its children are bodies, not rows.
export const Table = ({ class: cls = '', label, cols, head, groups, children }) => html`
  <table role="table" class=${'fold ' + cls} aria-label=${label}>
    <colgroup>${cols.map((c) => html`<col class=${c} />`)}</colgroup>
    <thead role="rowgroup"><tr role="row">${head.map((text, i) =>
      html`<th role="columnheader" scope="col" class=${num.test(cols[i]) ? 'num' : ''}>${text}</th>`)}</tr></thead>
    ${groups ? children : html`<tbody role="rowgroup">${children}</tbody>`}
  </table>`;
const num = /\bn-(?!time)/;
export const Td = ({ class: cls, children, ...rest }) => html`<td role="cell" class=${cls} ...${rest}>${children}</td>`;

// Late shows "reading…" after 300 ms.
export function Late() {
  const [shown, show] = useState(false);
  useEffect(() => { const t = setTimeout(() => show(true), 300); return () => clearTimeout(t); }, []);
  return html`<p class="late t" role="status">${shown ? 'reading…' : ' '}</p>`;
}

// Command is a command to type, with a button that copies it.
export function Command({ text }) {
  const [done, copied] = useState(false);
  const press = async () => {
    if (!await copy(text)) return;
    copied(true);
    setTimeout(() => copied(false), 1500);
  };
  return html`<span class="command"><code title=${text}>${text}</code><button type="button"
    class="plain sm" onClick=${press} aria-label=${'copy ' + text}>${done ? 'copied' : 'copy'}</button></span>`;
}
export async function copy(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch { return false; }
}
// take copies a text and says so aloud.
export const take = (text) => copy(text).then((ok) => ok && say('copied ' + text, true));

// said is what the live region speaks: at most once in 5 s, what is urgent at once.
export const said = signal('');
let spoken = 0, waiting = '', timer = 0;
export function say(text, urgent) {
  const now = Date.now();
  if (urgent || now - spoken > 5000) { spoken = now; said.value = text; clearTimeout(timer); timer = 0; return; }
  waiting = text;
  timer ||= setTimeout(() => { timer = 0; spoken = Date.now(); said.value = waiting; }, 5000 - (now - spoken));
}

// Act is a button that changes something, or, where the page only shows, the command
// to type instead.
export function Act({ label, kbd, path, body, method = 'POST', command, plain, done, key_ }) {
  const [state, set] = useState({});
  const button = useRef();
  if (!about.value.act) return command ? html`<${Command} text=${command} />` : '';
  const run = async () => {
    if (state.busy) return;
    set({ busy: true });
    try {
      const answer = await ask(path, { method, body });
      set({ ok: true });
      refresh(); // what is off stands on top
      done?.(answer);
    } catch (err) {
      if (!(err instanceof Refusal)) throw err;
      set({ bad: err.message });
      say(err.message, true);
    }
  };
  const off = connection.value.state !== 'on';
  return html`<button type="button" ref=${button} class=${plain ? 'plain' : ''} data-act=${key_ || ''}
    disabled=${off || state.busy}
      title=${off ? 'not possible while hookd is away' : ''} onClick=${run}>
        ${label}${kbd && html` <kbd>${kbd}</kbd>`}</button>
    ${state.bad && html`<span class="red" role="alert">${state.bad}</span>`}`;
}

// Empty says that a filter finds nothing, or that there is nothing.
export const Empty = ({ children }) => html`<div class="nothing">${children}</div>`;

// Bad says why something could not be read.
export const Bad = ({ err }) => html`<p class="nothing red" role="alert">
  <${Icon} name="fail" />${err.message}${err.hint ? html` <span class="s">${err.hint}</span>` : ''}</p>`;

export const folder = (r) => html`<span title=${r.cwd}>${home(r.cwd)}</span>`;

// useWidth gives an element's width, and again when it changes.
/** @returns {[{ current: any }, number]} */
export function useWidth() {
  const ref = useRef(), [width, set] = useState(0);
  useEffect(() => {
    if (!ref.current) return undefined;
    const watch = new ResizeObserver(([e]) => set(Math.round(e.contentRect.width)));
    watch.observe(ref.current);
    return () => watch.disconnect();
  }, []);
  return [ref, width];
}

// useData reads something when deps change: [value, error].
export function useData(load, deps) {
  const [state, set] = useState([null, null]);
  useEffect(() => {
    const abort = new AbortController();
    set(([value]) => [value, null]);
    load(abort.signal).then((v) => set([v, null]), (err) => {
      if (err.name === 'AbortError') return;
      if (!(err instanceof Refusal)) throw err;
      set([null, err]);
    });
    return () => abort.abort();
  }, deps);
  return state;
}
