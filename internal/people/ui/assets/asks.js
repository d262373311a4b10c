// Asks that hookd holds: a hook asks, an agent waits, a person answers.
import { html, signal, useEffect, useLayoutEffect, useRef, useState } from './lib.js';
import { moved, movedAt, useKeys } from './keys.js';
import { Refusal, about, ask, connection, hearAsks, post, segment } from './net.js';
import { Command, Icon, byWay, say } from './parts.js';
import { link } from './state.js';
import { visible } from './visible.js';
import { agentLabel, firstLine, hhmmss, plural } from './words.js';

export const asks = signal([]); // open ones, the oldest first
export const ended = signal([]); // those that ended a moment ago: {…ask, at}
const mine = new Set(); // answered here

hearAsks((record) => {
  if (record.type === 'open') { asks.value = []; moved(); return; }
  if (record.type === 'ask') {
    asks.value =
      [...asks.value.filter((a) => a.id !== record.id), record].sort((a, b) => +new Date(a.since) - +new Date(b.since));
    moved();
    say(`${agentLabel(record.agent)} asks: ${record.subject || record.event}. ${firstLine(record.reason)}`, true);
    notify(record);
    return;
  }
  if (record.type !== 'answered') return;
  unnotify(record.id);
  const was = asks.value.find((a) => a.id === record.id);
  asks.value = asks.value.filter((a) => a.id !== record.id);
  moved();
  if (!was) return;
  const done = { ...record, at: Date.now(), here: mine.delete(record.id) };
  ended.value = [...ended.value, done];
  setTimeout(() => { ended.value = ended.value.filter((a) => a !== done); }, 5000);
  say(outcome(done), true);
});

// notices is whether asks are shown by the browser, too: '' = it was not asked for yet.
export const notices = signal(globalThis.Notification
  ? { default: '' }[Notification.permission] ?? Notification.permission : 'denied');
const shownAs = new Map(); // notifications by the id of their ask
function notify(a) {
  if (notices.value !== 'granted' || document.visibilityState === 'visible' || shownAs.has(a.id)) return;
  // It says that there is a question, and never answers: a person must see all of it before.
  const n = new Notification(`${agentLabel(a.agent)} asks`,
    { body: visible(`${firstLine(a.reason)}\n${a.subject || a.event}`).slice(0, 200), tag: a.id });
  n.onclick = () => { focus(); location.hash = '#now'; n.close(); };
  shownAs.set(a.id, n);
}
function unnotify(id) { shownAs.get(id)?.close(); shownAs.delete(id); }
// Notices asks once for the permission to show them.
export function Notices() {
  if (notices.value) return '';
  const want = async () => {
    notices.value = await Notification.requestPermission() === 'granted' ? 'granted' : 'denied';
  };
  return html`<button type="button" class="plain sm wide" onClick=${want}>Tell me about asks</button>`;
}

// outcome is how an ask ended, in words.
function outcome({ answered: a, here, agent }) {
  const word = { allow: 'allowed', deny: 'denied' }[a.answer];
  switch (a.by) {
    case 'person': return `${word} by ${here ? 'you' : a.from?.user || 'a person'}${byWay(here ? { for: a.for } : a)}`;
    case 'grant': return `${word} by grant ${a.id}`;
    case 'timeout': return `no answer came in time: it went ${agentLabel(agent)}'s own way`;
    case 'restart': return `hookd ended: it went ${agentLabel(agent)}'s own way`;
  }
  return `${agentLabel(agent)} has ended`;
}
export const Ended = () => ended.value.map((a) => html`<div class="item" key=${a.id}><span class="state q">
  <${Icon} name="ask" />ask</span><b title=${a.subject}><code>${a.subject}</code></b>
  <span class="s">${outcome(a)}</span><span class="t num">now</span><span class="act"></span></div>`);

// clock counts while an ask is shown.
function useClock() {
  const [now, set] = useState(Date.now());
  useEffect(() => { const t = setInterval(() => set(Date.now()), 1000); return () => clearInterval(t); }, []);
  return now;
}
export const minutes = (ms) => {
  const s = Math.max(0, Math.ceil(ms / 1000));
  return Math.floor(s / 60) + ':' + String(s % 60).padStart(2, '0');
};
export function Left({ until }) { return html`${minutes(+new Date(until) - useClock())} left`; }

// Row is a line of a card; lit in the design by what its parts are.
export function Row({ r, numbers, more }) {
  return html`<div class=${'r r-' + (r.is || 'line')} data-n=${numbers && r.line ? r.line : null}>
    ${r.parts.map((p) => (p.mark || p.is ? html`<span class=${'p-' + p.is + (p.mark ? ' mark' : '')}>${p.text}</span>`
      : p.text))}${r.is === 'left' && more
    ? html` <button type="button" class="plain link" onClick=${more}>Show all <kbd>Enter</kbd></button>` : ''}</div>`;
}

// useSeen watches which part of an element was on the screen for a while: a share from 0 to 1.
// moved is called when the box is elsewhere on the page than before, or has another size.
function useSeen(what, box, key, moved) {
  const [share, set] = useState(0);
  useEffect(() => {
    let parts = [], last = [], height = 0, place = '';
    set(0);
    const look = () => {
      const el = what.current, b = box.current?.getBoundingClientRect();
      if (!el || !b) return;
      const now = [b.left + scrollX, b.top + scrollY, b.width, b.height].map(Math.round).join();
      if (now !== place) { if (place) moved(); place = now; }
      if (el.scrollHeight !== height) { parts = []; last = []; height = el.scrollHeight; }
      const r = el.getBoundingClientRect(), foot = document.querySelector('.foot')?.getBoundingClientRect().top
        || innerHeight, head = document.querySelector('header')?.getBoundingClientRect().bottom ?? 0,
        bar = box.current.querySelector('.row')?.getBoundingClientRect().top ?? innerHeight; // it may lie over el
      const top = Math.max(r.top, head, 0), end = Math.min(r.bottom, foot, bar, innerHeight),
        shown = document.visibilityState === 'visible' && !document.querySelector('dialog[open]');
      last = [...last.slice(-3),
        shown && end > top ? [el.scrollTop + top - r.top, el.scrollTop + end - r.top] : [0, 0]];
      const from = Math.max(...last.map((x) => x[0])), to = Math.min(...last.map((x) => x[1]));
      if (last.length < 4 || to <= from) return;
      parts = [...parts, [from, to]].sort((x, y) => x[0] - y[0]).reduce((list, [f, t]) => {
        const l = list.at(-1);
        if (l && f <= l[1] + 1) l[1] = Math.max(l[1], t);
        else list.push([f, t]);
        return list;
      }, []);
      const sum = parts.reduce((n, [f, t]) => n + t - f, 0);
      set(parts.length === 1 && parts[0][0] <= 2 && parts[0][1] >= height - 3 ? 1 : Math.min(0.99, sum / height));
    };
    const t = setInterval(look, 100);
    return () => clearInterval(t);
  }, [key]);
  return share;
}

const rest = 500; // after a change on the screen, and after an answer, none counts for so long
let acted = 0;

// AskBox is the ask that is open. The daemon's card says all that is asked; Allow opens when
// the whole of it was on the screen.
export function AskBox({ a }) {
  const now = useClock(), box = useRef(), what = useRef(), [busy, setBusy] = useState(false),
    [bad, setBad] = useState(''), [writing, write] = useState(null), [all, setAll] = useState(null),
    [open, setOpen] = useState(false), [still, setStill] = useState(false);
  const message = useRef(), sending = useRef(false), changed = useRef(0), on = connection.value.state === 'on',
    agent = agentLabel(a.agent);
  const card = (a.card.whole ? a.card : all) || a.card, shown = open ? card : a.card,
    whole = card.whole && shown === card;
  const restless = () => { changed.current = Date.now(); setStill(false); };
  useEffect(() => {
    if (a.card.whole) return undefined;
    const abort = new AbortController();
    let t;
    const get = () => ask('v1/asks/' + segment(a.id), { signal: abort.signal })
      .then((x) => x.card && setAll(x.card), (err) => {
      if (err.name !== 'AbortError') t = setTimeout(get, 2000);
    });
    get();
    return () => { abort.abort(); clearTimeout(t); };
  }, [a.id]);
  useLayoutEffect(restless, [a.id, open, writing !== null]);
  useEffect(() => {
    if (still) return undefined;
    const t = setTimeout(() => setStill(Date.now() - changed.current >= rest), rest + 20);
    return () => clearTimeout(t);
  }, [still, changed.current]);
  const seen = useSeen(what, box, a.id + open + whole, restless);
  useLayoutEffect(() => message.current?.focus(), [writing !== null]);
  const ready = whole && !!card.digest && seen === 1;
  // answer is the one act of keys, clicks and touches.
  const answer = async (body) => {
    if (sending.current || !on) return; // a second key may come before the first is drawn
    if (Date.now() - Math.max(changed.current, movedAt(), acted) < rest) {
      setBad('The page has just changed, or this came twice: look, and answer again.');
      return;
    }
    if (body.answer === 'allow' && !ready) { setBad('It can be allowed when all of it was on the screen.'); return; }
    acted = Date.now();
    sending.current = true;
    setBusy(true); setBad('');
    mine.add(a.id);
    try {
      await post('v1/asks/' + segment(a.id),
        { ...body, digest: body.answer === 'allow' ? card.digest : undefined, door: 'page' });
    } catch (err) {
      mine.delete(a.id);
      if (!(err instanceof Refusal)) throw err;
      setBad(err.message);
    }
    sending.current = false;
    setBusy(false);
  };
  const allow = () => answer({ answer: 'allow' }), deny = () => answer({ answer: 'deny', message: writing || '' }),
    more = () => setOpen(true);
  // A key acts where the ask has the focus, or nothing has.
  const held = () => {
    const f = document.activeElement;
    return about.value.act && writing === null
      && (!f || f === document.body || f.id === 'main' || box.current?.contains(f));
  };
  const key = (fn) => () => (held() ? fn() : false);
  const page = () => {
    const w = what.current;
    if (!w || w.scrollTop + w.clientHeight >= w.scrollHeight - 1) return false;
    w.scrollTop += w.clientHeight - 24;
    return true;
  };
  useKeys({ a: key(allow), d: key(deny),
    s: key(() => (card.hidden ? false : answer({ answer: 'allow', for: 'session' }))), m: key(() => write('')),
    Enter: key(() => (open || a.card.whole ? false : more())), ' ': key(page) });
  const left = +new Date(a.until) - now, total = +new Date(a.until) - +new Date(a.since), off = busy || !on || !still;
  const why = !whole ? (card.whole ? '' : 'Not all of it is here: ') : seen < 1 ? `You have seen ${
    Math.floor(seen * card.lines)} of ${plural(card.lines, 'line')}. Allow opens when all was on the screen.`
    : card.hidden ? 'Text with hidden characters is allowed once at a time.' : '';
  return html`<div class="askbox" ref=${box} tabindex="0" role="group" aria-label=${agent + ' asks'} data-ask=${a.id}>
    <div><span class="state ask"><${Icon} name="ask" />ask</span></div>
    <div><code class="cmd" ref=${what} tabindex="0" data-seen=${seen}>
      ${shown.what.map((r, i) => html`<${Row} key=${i} r=${r} numbers=${card.lines > 1} more=${more} />`)}</code>
      <dl class="says">
        ${card.says.map((x) => html`<dt class=${x.name === 'look' ? 'red' : ''}>${x.name}</dt><dd>${x.text}</dd>`)}</dl>
        ${a.session_id ? html`<p class="ctx">
        <a class="link" href=${link('session', { id: a.session_id, agent: a.dialect })}>session</a></p>` : ''}
      ${!about.value.act ? html`<div class="row"><${Command} text=${'hookd ask ' + a.id.slice(-8)} />
        <${Command} text=${'hookd ask deny ' + a.id.slice(-8)} /></div>` : writing !== null ? html`<div class="row">
          <span class="message"><input ref=${message} type="text" value=${writing} aria-label="Why not, for the agent"
          placeholder=${'why not, for ' + agent} onInput=${(e) => write(e.target.value)}
          onKeyDown=${(e) => { if (e.key === 'Enter') {
            e.preventDefault();
            if (!e.repeat) deny();
          } else if (e.key === 'Escape') {
            e.preventDefault();
            e.stopPropagation();
            write(null);
            box.current.focus();
          } }} /><button type="button" disabled=${off} onClick=${deny}>Deny <kbd>Enter</kbd></button>
            <button type="button" class="plain" onClick=${() => write(null)}>Back <kbd>Esc</kbd></button></span></div>`
      : html`<div class="row">${whole ? html`<button type="button" data-act="allow" disabled=${off || !ready}
          onClick=${allow}>Allow once <kbd>a</kbd></button>` : ''}
        <button type="button" data-act="deny" disabled=${off} onClick=${deny}>Deny <kbd>d</kbd></button>
        ${whole && a.session_id && !card.hidden ? html`<button type="button" class="plain" disabled=${off || !ready}
            onClick=${() => answer({ answer: 'allow', for: 'session' })}>Allow in this session <kbd>s</kbd></button>`
            : ''}<button type="button" class="plain" disabled=${busy || !on} onClick=${() => write('')}>Deny with a
          message… <kbd>m</kbd></button>
          ${!on ? html`<span class="s">Not possible while hookd is away</span>` : html`<span class="s">
            ${why}${!card.whole ? html`<${Command} text=${'hookd ask ' + a.id.slice(-8)} />` : ''}</span>`}</div>`}
      ${bad && html`<p class="red" role="alert">${bad}</p>`}</div>
    ${on ? html`<div class="left"><div><b>${minutes(left)}</b> <span class="s">left of ${minutes(total)}</span></div>
      <div class="track" aria-hidden="true">
      <i style=${{ width: Math.max(0, Math.min(100, 100 * left / total)) + '%' }} /></div>${card.digest
        ? html`<p>The answer is bound to this text: <code>${card.digest.slice(0, 8)}</code></p>` : ''}</div>`
      : html`<div class="left"><div><span class="s">asked at ${hhmmss(a.since)}</span></div>
          <p>Whether it is still open is not known.</p></div>`}</div>`;
}
