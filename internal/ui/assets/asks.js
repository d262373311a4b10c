// Asks that hookd holds: a hook asks, an agent waits, a person answers.
import { html, signal, useEffect, useLayoutEffect, useRef, useState } from './lib.js';
import { moved, useKeys } from './keys.js';
import { Refusal, about, ask, connection, hearAsks, post, segment } from './net.js';
import { Command, Icon, byWay, say } from './parts.js';
import { link } from './state.js';
import { agentLabel, firstLine, hhmmss, home } from './words.js';

export const asks = signal([]); // open ones, the oldest first
export const ended = signal([]); // those that ended a moment ago: {…ask, at}
const mine = new Set(); // answered here

hearAsks(({ record, own_way: ownWay }) => {
  if (record.type === 'open') { asks.value = []; moved(); return; }
  if (record.type === 'ask') {
    asks.value = [...asks.value.filter((a) => a.id !== record.id), { ...record, ownWay }].sort((a, b) => new Date(a.since) - new Date(b.since));
    moved();
    say(`${agentLabel(record.agent)} asks: ${record.subject || record.event}. ${firstLine(record.reason)}`, true);
    return;
  }
  if (record.type !== 'answered') return;
  const was = asks.value.find((a) => a.id === record.id);
  asks.value = asks.value.filter((a) => a.id !== record.id);
  moved();
  if (!was) return;
  const done = { ...record, at: Date.now(), here: mine.delete(record.id) };
  ended.value = [...ended.value, done];
  setTimeout(() => { ended.value = ended.value.filter((a) => a !== done); }, 5000);
  say(outcome(done), true);
});

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
export const Ended = () => ended.value.map((a) => html`<div class="item" key=${a.id}><span class="state q"><${Icon} name="ask" />ask</span><b title=${a.subject}><code>${a.subject}</code></b><span class="s">${outcome(a)}</span><span class="t num">now</span><span class="act"></span></div>`);

// clock counts while an ask is shown.
function useClock() {
  const [now, set] = useState(Date.now());
  useEffect(() => { const t = setInterval(() => set(Date.now()), 1000); return () => clearInterval(t); }, []);
  return now;
}
export const minutes = (ms) => { const s = Math.max(0, Math.ceil(ms / 1000)); return Math.floor(s / 60) + ':' + String(s % 60).padStart(2, '0'); };
export function Left({ until }) { return html`${minutes(new Date(until) - useClock())} left`; }

// AskBox is the ask that is open: what, why, who, how long, and what happens then.
export function AskBox({ a }) {
  const now = useClock(), box = useRef(), [busy, setBusy] = useState(false), [bad, setBad] = useState(''), [writing, write] = useState(null), [prompt, setPrompt] = useState('');
  const message = useRef(), sending = useRef(false), on = connection.value.state === 'on', agent = agentLabel(a.agent);
  useEffect(() => {
    if (!a.session_id) return undefined;
    const abort = new AbortController();
    ask('v1/accepted', { query: { session: a.session_id, limit: 200 }, signal: abort.signal }).then((x) => setPrompt(x.events.find((e) => e.kind === 'prompt.submit')?.subject || ''), () => {});
    return () => abort.abort();
  }, [a.id]);
  useLayoutEffect(() => message.current?.focus(), [writing !== null]);
  const answer = async (body) => {
    if (sending.current || !on) return; // a second key may come before the first is drawn
    sending.current = true;
    setBusy(true); setBad('');
    mine.add(a.id);
    try { await post('v1/asks/' + segment(a.id), { ...body, door: 'page' }); } catch (err) {
      mine.delete(a.id);
      if (!(err instanceof Refusal)) throw err;
      setBad(err.message);
    }
    sending.current = false;
    setBusy(false);
  };
  const allow = () => answer({ answer: 'allow' }), deny = () => answer({ answer: 'deny', message: writing || '' });
  // A key acts where the ask has the focus, or nothing has.
  const held = () => { const f = document.activeElement; return about.value.act && writing === null && (!f || f === document.body || f.id === 'main' || box.current?.contains(f)); };
  const key = (fn) => () => (held() ? fn() : false);
  useKeys({ a: key(allow), d: key(deny), s: key(() => answer({ answer: 'allow', for: 'session' })), m: key(() => write('')) });
  const left = new Date(a.until) - now, all = new Date(a.until) - new Date(a.since);
  const input = text(a);
  return html`<div class="askbox" ref=${box} tabindex="0" role="group" aria-label=${agent + ' asks'} data-ask=${a.id}><div><span class="state ask"><${Icon} name="ask" />ask</span></div>
    <div><code class="cmd" tabindex=${input.length > 400 ? 0 : -1}>${input}</code>
      <p class="why"><b>${(a.hooks || [a.hook]).join(', ')}</b> asks: ${a.reason || 'without a reason'}${a.rewrote ? html` <span class="s">(hooks have changed the input)</span>` : ''}</p>
      <p class="ctx">${agent} in ${home(a.cwd) || 'no folder'}${prompt ? html`, after the prompt “${firstLine(prompt)}”` : ''}${a.session_id ? html` · <a class="link" href=${link('session', { id: a.session_id, agent: a.dialect })}>session</a>` : ''}</p>
      ${!about.value.act ? html`<div class="row"><${Command} text=${'hookd allow-ask ' + a.id.slice(-8)} /><${Command} text=${'hookd deny-ask ' + a.id.slice(-8)} /></div>` : writing !== null ? html`<div class="row"><span class="message"><input ref=${message} type="text" value=${writing} aria-label="Why not, for the agent" placeholder=${'why not, for ' + agent} onInput=${(e) => write(e.target.value)}
          onKeyDown=${(e) => { if (e.key === 'Enter') { e.preventDefault(); deny(); } else if (e.key === 'Escape') { e.preventDefault(); e.stopPropagation(); write(null); box.current.focus(); } }} /><button type="button" disabled=${busy || !on} onClick=${deny}>Deny <kbd>Enter</kbd></button><button type="button" class="plain" onClick=${() => write(null)}>Back <kbd>Esc</kbd></button></span></div>`
      : html`<div class="row"><button type="button" data-act="allow" disabled=${busy || !on} onClick=${allow}>Allow once <kbd>a</kbd></button><button type="button" data-act="deny" disabled=${busy || !on} onClick=${deny}>Deny <kbd>d</kbd></button>
        ${a.session_id ? html`<button type="button" class="plain" disabled=${busy || !on} onClick=${() => answer({ answer: 'allow', for: 'session' })}>Allow in this session <kbd>s</kbd></button>` : ''}<button type="button" class="plain" disabled=${busy || !on} onClick=${() => write('')}>Deny with a message… <kbd>m</kbd></button>${!on ? html`<span class="s">Not possible while hookd is away</span>` : ''}</div>`}
      ${bad && html`<p class="red" role="alert">${bad}</p>`}</div>
    ${on ? html`<div class="left"><div><b>${minutes(left)}</b> <span class="s">left of ${minutes(all)}</span></div><div class="track" aria-hidden="true"><i style=${{ width: Math.max(0, Math.min(100, 100 * left / all)) + '%' }} /></div><p>Then ${a.ownWay ? agent + ' asks in its own way.' : agent + ' is told: denied, no answer came.'}</p></div>`
      : html`<div class="left"><div><span class="s">asked at ${hhmmss(a.since)}</span></div><p>Whether it is still open is not known.</p></div>`}</div>`;
}

// text is what the agent wants to do, whole.
function text(a) {
  const i = a.input;
  if (!i || typeof i !== 'object') return a.subject || a.event;
  for (const key of ['command', 'url', 'file_path', 'path', 'query']) if (typeof i[key] === 'string' && Object.keys(i).every((k) => k === key || ['description', 'timeout', 'justification', 'explanation'].includes(k))) return i[key];
  return (a.tool ? a.tool + ' ' : '') + JSON.stringify(i, null, 1);
}
