// The call as a story: its input, what guards said, what the agent was told, how it ran, and what a person
// may do about it. hookd makes the story; this draws it.
import { html, useEffect, useLayoutEffect, useRef, useState } from './lib.js';
import { Row } from './asks.js';
import { press, useKeys } from './keys.js';
import { about, ask, post, Refusal, segment } from './net.js';
import { Act, Bad, Empty, Icon, Late, State, Took, copy, say, stateOf, take, toldTo, useData } from './parts.js';
import { go, link, route } from './state.js';
import {
  agentName, bytes, firstLine, home, plural, short, shortSession, toolName, when, hhmm, hhmmss,
} from './words.js';

export const story = (id, signal) => ask('calls/' + segment(id), { signal });

// Call draws a story; tall is told how many points high it is.
export function Call({ s, subject, tall, alone }) {
  const box = useRef(), measure = () => box.current && tall?.(8 + Math.max(
    ...[...box.current.children].map((c) => c.offsetTop - box.current.offsetTop + c.scrollHeight)));
  useLayoutEffect(() => {
    const watch = new ResizeObserver(measure);
    for (const part of box.current.children) watch.observe(part);
    return () => watch.disconnect();
  }, [s]);
  const act = (name) => () => press(`[data-act=${name}]`, box.current);
  useKeys({ u: act('undo'), p: act('permit'), x: act('test'), z: act('snooze'),
    w: () => (alone ? false : go('call', { id: s.event_id })) });
  return html`<div class="peek call" ref=${box}><div class="input"><${Input} s=${s} subject=${subject} />
      <${Told} s=${s} /><${Next} s=${s} alone=${alone} grown=${measure} /></div>
    <div class="kv"><${Guards} s=${s} />${s.contained && html`<${Box} s=${s} />`}</div></div>`;
}

// Why is a call alone: the address of a call that a person keeps or sends. An id may be its last characters.
export function Why() {
  const { id } = route.value.p, [s, err] = useData((signal) => (id ? story(id, signal) : Promise.resolve(0)), [id]);
  useKeys({ y: () => !!s && take(s.event_id), Escape: () => go('stream') });
  if (!s) {
    return html`<section class="view" id="call">${err ? html`<${Bad} err=${err} />` : s === null ? html`<${Late} />`
      : html`<${Empty}><a class="link" href="#stream">Calls</a></${Empty}>`}</section>`;
  }
  const session = { id: s.session_id, agent: s.dialect, at: s.event_id };
  return html`<section class="view" id="call"><div class="head"><div>
    <p class="crumb"><a href="#stream">Calls</a> / ${short(s.event_id)} · ${agentName(s)}${s.session_id && html` ·${' '}
      <a href=${link('session', session)}>session ${shortSession(s.session_id)}</a>`} · ${when(s.time, hhmmss)}</p>
    <h1><code>${firstLine(s.subject) || toolName(s)}</code></h1>
    <p><${State} is=${stateOf(s)} /> ${s.reason || ''}</p></div></div><${Call} s=${s} alone=${true} /></section>`;
}

// Input is what was asked for; or its difference from what runs instead. A box runs what was asked for.
function Input({ s, subject }) {
  if (s.change) {
    return html`<p class="t">given, and what runs instead</p><${Rows} rows=${s.change} label="difference" />`;
  }
  const asked = s.what?.length
    ? html`<${Rows} rows=${s.what} label="input" />`
    : html`<pre tabindex="0" role="region" aria-label="input">${s.subject || subject || s.said || ''}</pre>`;
  if (!s.new_subject || s.contained) return asked;
  return html`${asked}<p class="s"><span class="t">runs instead</span> <code>${s.new_subject}</code></p>`;
}

// beforeOf are the earlier calls by which a rule decided, on one line; '' = by none.
function beforeOf(s) {
  const one = (b) => (b.time ? `${b.tool ? b.tool + ': ' : ''}${b.subject || b.kind}, ${when(b.time, hhmm)}`
    : short(b.event_id));
  const list = (s.before || []).map(one), none = 'nothing that fits the rule’s unless';
  if (s.since) list.push(`${none} since ${one(s.since)}`);
  else if (s.missing) list.push(none);
  return list.join(' · ');
}

// Kept is how much of a call can be taken back.
function Kept({ k }) {
  if (k.gone) return 'nothing any more: it changed nothing, or it is too old or purged';
  return html`${k.files ? `${plural(k.files, 'file')}, ${bytes(k.bytes || 0)}` : ''}${(k.lost || []).map(lost)}`;
}

// Told is what counted before, what the agent heard, what came of it, what is kept, and where.
function Told({ s }) {
  const before = beforeOf(s), told = toldTo(s).replace(/^Told to/, 'to'),
    where = home(s.cwd) + (s.branch ? ' on ' + s.branch : '');
  const after = s.prompt && html` <span class="t">after “${s.prompt}”</span>`;
  return html`<dl class="told">${before && html`<dt>before</dt><dd title=${before}>${before}</dd>`}<dt>told</dt>
    <dd title=${told}>${told || 'nothing'}</dd>
      <dt>then</dt><dd class=${s.guarded === 'disobeyed' ? 'red' : ''}>${s.then}</dd>
      ${s.undo && html`<dt>kept</dt><dd><${Kept} k=${s.undo} /></dd>`}
      <dt>where</dt><dd title=${s.cwd || ''}>${where}${after || ''}</dd></dl>`;
}

const unasked = (s) => (s.guarded === 'not asked' ? 'hookd was not asked about this call' : 'no guard was asked');

function Guards({ s }) {
  if (!s.guards.length) return html`<span class="s wide">${unasked(s)}</span>`;
  return s.guards.map((g) => {
    const why = g.failed || g.reason;
    return html`<a href=${link('run', { id: g.run_id })} title=${g.hook}>${g.hook}</a><${State} is=${said(g)} />
      <span class="t" title=${g.rule || ''}>${g.where || g.rule || ''}</span>
      <span class="num"><${Took} ms=${g.duration_ms} /></span>
      ${why && html`<span class=${'wide ' + (g.failed ? 'red' : 's')} title=${why}>${why}</span>`}`;
  });
}

// Box is which ways out a box has, how it ended, and what it kept.
const Box = ({ s: { contained, opened, ran } }) => {
  const box = ran?.box, rows = (list, word) => (list || []).map((x) => html`<span>${word}</span>
    <code class="rest" title=${x}>${home(x)}</code>`);
  const end = box && html` <span class="t">by ${box.level}, exit ${box.exit}</span>`;
  return html`<b class="wide">Box ${contained}${end}</b>
    ${rows(opened, 'way open')}${rows(box?.kept, 'kept out')}${rows(box?.refused, 'refused')}`;
};

const Rows = ({ rows, label }) => html`<div class="cmd small" tabindex="0" role="region" aria-label=${label}>
  ${rows.map((r) => html`<${Row} r=${r} numbers=${rows.length > 1} />`)}</div>`;

function said(g) {
  if (g.failed) return ['fail', g.decision === 'deny' ? 'failed, denies' : 'failed', 'state fail'];
  if (g.shadow) return ['shadow', g.decision, 'none'];
  return stateOf({ decision: g.decision });
}

// Next has the acts of a person, or the commands to type where the page only shows.
function Next({ s, alone, grown }) {
  const [done, tell] = useState(''), path = segment(s.event_id);
  useLayoutEffect(grown, [done]);
  const finished = (text) => { tell(text); say(text, true); };
  const until = (a) => (a.grants?.[0]?.until ? ', until ' + when(a.grants[0].until, hhmm) : '');
  const acts = {
    undo: () => html`<${Undo} id=${s.event_id} done=${finished} />`,
    permit: () => html`<${Act} label="Permit once" kbd="p" key_="permit" path=${'v1/decisions/' + path + '/permit'}
      body=${{ for: '' }} done=${(a) => finished('The next such call passes' + until(a) + '.')} />`,
    snooze: (n) => html`<${Act} label="Snooze 1 h" kbd="z" key_="snooze" path=${'hooks/' + segment(n.hook) + '/snooze'}
      body=${{ for: '1h' }} done=${() => finished(n.hook + ' is off for an hour, then on again.')} />`,
    test: () => html`<${Act} label="False alarm" kbd="x" key_="test" path=${'calls/' + path + '/test'}
      body=${{ expect: 'none' }} done=${(a) => go('edit', { hook: a.hook, ...ruleOf(s, a.hook) })} />`,
  };
  const offer = (n) => (about.value.act ? acts[n.act]?.(n)
    : html`<span><span class="t">${n.for}</span> <code>${n.command}</code></span>`);
  return html`${done && html`<p class="s" role="status">${done}</p>`}
    <div class="acts">${s.next.map(offer)}<${Ways} s=${s} alone=${alone} /></div>`;
}

// ruleOf is the place of the rule by which a guard decided, for the editor.
function ruleOf(s, hook) {
  const [file, line] = (s.guards.find((g) => g.hook === hook)?.where || '').split(':');
  return line ? { file, line } : {};
}

// Ways are links to the session, the run and the guard, and the id to copy.
function Ways({ s, alone }) {
  const decided = s.guards.find((g) => (s.decided_by || []).includes(g.hook)) || s.guards[0];
  const session = { id: s.session_id, agent: s.dialect, at: s.event_id };
  return html`${!alone && html`<a class="link" href=${link('call', { id: s.event_id })}>Why <kbd>w</kbd></a>`}
    ${s.session_id && html`<a class="link" href=${link('session', session)}>Session at this point</a>`}
    ${decided && html`<a class="link" href=${link('run', { id: decided.run_id })}>Run</a>
      <a class="link" href=${link('guard', { name: s.decided_by?.[0] || decided.hook })}>Guard</a>`}
    <button type="button" class="plain t" onClick=${() => copy(s.event_id)} title=${s.event_id}>
      ${short(s.event_id)} · copy <kbd>y</kbd></button>`;
}

const effects = {
  back: 'back', removed: 'removed', beside: 'changed since, kept beside', merged: 'merged', conflict: 'changed since',
  left: 'not back', same: 'as before',
};

// Undo says first what comes back and what does not; a second press does it.
export function Undo({ id, done }) {
  const [plan, set] = useState(null), [bad, setBad] = useState(''), [busy, work] = useState(false);
  if (!about.value.act) return '';
  const send = async (preview) => {
    if (busy) return;
    work(true);
    try {
      const a = await post('v1/undo', { calls: [id], beside: true, preview });
      if (preview) set(a);
      else { set(null); done(words(a) + (a.id ? ` Take this back with hookd undo ${short(a.id)}.` : '')); }
    } catch (err) {
      if (!(err instanceof Refusal)) throw err;
      setBad(err.message + (err.hint ? ' ' + err.hint : ''));
    }
    work(false);
  };
  const refused = bad && html`<span class="red" role="alert">${bad}</span>`;
  if (!plan) {
    return html`<button type="button" data-act="undo" disabled=${busy}
      onClick=${() => send(true)}>Undo… <kbd>u</kbd></button>
      ${refused}`;
  }
  const n = ['back', 'removed', 'beside', 'merged'].reduce((sum, k) => sum + (plan.count[k] || 0), 0);
  const moves = plan.word !== 'conflict' && n > 0;
  return html`<div class="plan" role="group" aria-label="Undo"><p>${words(plan)}</p>${(plan.lost || []).map(lost)}
    ${moves && html`<button type="button" data-act="undo-now" disabled=${busy} onClick=${() => send(false)}>
      Bring back ${plural(n, 'file')}</button>`}
    <button type="button" class="plain" onClick=${() => set(null)}>Leave it</button>${refused}</div>`;
}
// lost says of a loss that it does not come back. The effects that hookd does not know (LostElse of package wire) are
// no known loss.
export const lost = (l) => (l.what === 'what else it destroys' ? html`<p class="s">${l.what}: ${l.why}</p>`
  : html`<p class="s"><${Icon} name="fail" />does not come back: <code>${l.what}</code> ${l.why}</p>`);
const counted = (n) => Object.keys(effects).filter((k) => n[k]).map((k) => `${n[k]} ${effects[k]}`).join(', ');
const words = (a) => counted(a.count) + (a.bytes ? ` (${bytes(a.bytes)})` : '') + (a.preview ? '' : '.');

// useStory reads the story of a call when it is first shown; null = not yet, false = hookd tells none.
export function useStory(id, wanted) {
  const [s, set] = useState(null);
  useEffect(() => {
    if (!wanted) { set(false); return undefined; }
    const abort = new AbortController();
    set(null);
    story(id, abort.signal).then(set, (err) => { if (err.name !== 'AbortError') set(false); });
    return () => abort.abort();
  }, [id, wanted]);
  return s;
}
