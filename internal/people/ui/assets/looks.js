// Learn: rules that would answer for a person, what the guards would have done in the past, and what no guard
// sees. hookd reads the transcripts of agents for it, when the view is opened and no sooner.
import { keep } from './keys.js';
import { html, useEffect, useState } from './lib.js';
import { ask, segment } from './net.js';
import { Act, Bad, Command, Empty, Icon, Late, State, Table, Td, say, stateOf, useData } from './parts.js';
import { link, route } from './state.js';
import { agentLabel, firstLine, home, number, plural, when, hhmm } from './words.js';

const tabs = [['', 'Learn'], ['scan', 'Scan'], ['blind', 'Blind spots']];
const views = { '': ['learn', Rules], scan: ['scan', Scan], blind: ['blindspots', Blind] };

export function Learn() {
  const { p } = route.value, show = Object.hasOwn(views, p.show || '') ? p.show || '' : '', [path, Part] = views[show];
  const [again, reread] = useState(0);
  const [got, err] = useData((signal) => ask(path, { signal }).then((a) => ({ path, a })), [path, again]);
  useEffect(keep);
  const ready = got?.path === path;
  return html`<section class="view" id="learn" aria-label="Learn"><div class="bar">
      <span class="seg" role="group" aria-label="What is shown">${tabs.map(([id, title]) => html`<a
        href=${link('learn', { show: id })} aria-current=${id === show ? 'true' : undefined}>${title}</a>`)}</span>
      <button type="button" onClick=${() => reread(again + 1)}>Read again</button></div>
    ${err ? html`<${Bad} err=${err} />` : ready ? html`<${Part} r=${got.a} reread=${() => reread(again + 1)} />`
      : html`<p class="nothing s" role="status">Reading the transcripts of your agents, for at most 10 seconds…</p>
        <${Late} />`}
  </section>`;
}

const Head = ({ title, children }) => html`<div class="head"><div><h1>${title}</h1>${children}</div></div>`;
const Heading = ({ children, note }) => html`<h2>${children} <small>${note}</small></h2>`;

// Rules are those that `hookd learn` proposes. One is taken at a time, after a look at what it would let through.
function Rules({ r, reread }) {
  const { rules } = r, saved = r.saved.learned + r.saved.read;
  const title = rules.length ? `${plural(rules.length, 'rule')} would answer for you` : 'Nothing to learn';
  return html`<${Head} title=${title}>
      <p>${plural(r.asked, 'question')} to you in 90 days; ${number(saved)} of them were safe to answer: ${
        number(r.saved.read)} as they only read, ${number(r.saved.learned)} by these rules. A rule needs
          five approvals on
        two days and no refusal. It overrules no guard. Transcripts are files that agents can write: read each rule.</p>
      ${r.learned.length > 0 && html`<p class="s">Taken before: ${r.learned.join(', ')}.
        Take all back with <code>hookd learn --undo</code>.</p>`}</${Head}>
    ${!rules.length && html`<${Empty}>
      <p class="s">No call was approved five times, on two days, without a refusal, that is
      new and safe to allow.</p></${Empty}>`}
    ${rules.map((x) => html`<${Rule} key=${x.name} x=${x} reread=${reread} />`)}`;
}

function Rule({ x, reread }) {
  const does = ['read', ...x.effects.map((e) => e.kind + ' ' + home(e.target.replace(/:$/, '')))].join(', ');
  const taken = () => { say('The rule ' + x.name + ' is in force', true); reread(); };
  return html`<article class="rule"><h2>allow <code>${x.allows}</code></h2>
    <div class="two with"><dl class="fact"><dt>it may</dt><dd>${does}</dd>
      ${x.projects && html`<dt>in</dt><dd>${x.projects.map(home).join(', ')}</dd>`}
      <dt>you said yes</dt><dd>${plural(x.yes, 'time')}, on ${plural(x.days, 'day')}, ${when(x.first, hhmm)} to ${
        when(x.last, hhmm)}, never no</dd>
      <dt>others</dt><dd>${plural(x.others, 'call')} without a question to you would pass, too</dd></dl>
    <ul>${x.lines.map((l) => html`<li>
        <span class="num t">${number(l.times)} ×</span> <code title=${l.line}>${l.line}</code></li>`)}</ul></div>
    <div class="row"><${Act} label="Take it" key_="take" path=${'learn/' + segment(x.name)}
      command=${`hookd learn --take '${x.allows.replace(/'/g, "'\\''")}'`} done=${taken} /></div></article>`;
}

const ended = (e) => ({ ran: 'ran', failed: 'failed', denied: 'did not run' }[e.then] || e.then || '–');
const decided = (e) => stateOf({ decision: e.decision });

function Examples({ list, label, plain }) {
  if (!list?.length) return '';
  return html`<${Table} label=${label} cols=${['n-time', 'w-agent', 'w-dir', '', 'w-state', 'w-why', 'w-state']}
      head=${['Time', 'Agent', 'Project', 'Call', plain ? '' : 'Would', plain ? 'What' : 'Why', 'Then']}>
    ${list.map((e) => html`<tr role="row"><${Td} class="when f-time">${when(e.time, hhmm)}</${Td}>
      <${Td} class="f-who">${e.title}</${Td}><${Td} class="s f-hide">${e.project || ''}</${Td}>
      <${Td} class="f-wide"><code title=${e.line}>${e.line}</code></${Td}>
      <${Td} class="f-state">${plain ? '' : html`<${State} is=${decided(e)} />`}</${Td}>
      <${Td} class="s f-why" title=${e.why || ''}>
        ${plain ? (e.lost || []).join(', ') : firstLine(e.why) || e.rule}</${Td}>
      <${Td} class="s f-hide">${ended(e)}</${Td}></tr>`)}</${Table}>`;
}

function Scan({ r }) {
  const t = r.transcripts, partly = t.read < t.found;
  if (!r.calls) {
    return html`<${Empty}><h1>No call is in the transcripts here</h1>
      <p class="s">${plural(t.found, 'transcript')} of the
      last 30 days were found.</p></${Empty}>`;
  }
  const s = r.secrets, q = r.prompts, most = Math.max(...r.days.map((d) => d.calls), 1);
  return html`<${Head} title=${`${number(r.stopped)} of ${plural(r.calls, 'call')} would have been stopped, ${
      number(r.asked_about)} asked about`}>
      <p>Read ${partly ? `${number(t.read)} of ${plural(t.found, 'transcript')}` : plural(t.read, 'transcript')} of ${
        plural(r.agents.length, 'agent')}, ${when(r.first, hhmm)} to ${when(r.last, hhmm)}, in ${
        (r.took_ms / 1000).toFixed(1)} s. Nothing left this machine, nothing was changed. Prompts,
          outputs and secrets are
        not shown.${partly ? html` The rest: <${Command} text="hookd scan --all" />` : ''}</p></${Head}>
    <div class="days" role="img" aria-label=${'Calls a day, ' + number(most) + ' at most'}>${r.days.map((d) => html`<i
      title=${`${d.day}: ${plural(d.calls, 'call')}, ${number(d.stopped)} would have been stopped`}
      style=${{ height: Math.max(1, 64 * d.calls / most) + 'px' }}>${
        d.stopped ? html`<b style=${{ height: 100 * d.stopped / d.calls + '%' }} />` : ''}</i>`)}</div>
    <div class="axis"><span>${r.days[0]?.day || ''}</span>
      <span>calls a day, ${number(most)} at most; red: would have been stopped</span>
        <span>${r.days.at(-1)?.day || ''}</span></div>
    <${Heading} note="what happened with them then">Would have been stopped</${Heading}>
    <${Examples} list=${r.examples} label="Calls that would have been stopped" />
    ${r.sequences.calls > 0
      && html`<${Heading} note="by what came before them">${plural(r.sequences.calls, 'call')} more</${Heading}>
      <${Examples} list=${r.sequences.examples} label="Calls that would have been stopped by what came before" />`}
    ${r.destroyed.calls > 0 && html`<${Heading} note=${plural(r.destroyed.things, 'thing')}>Destroyed</${Heading}>
      <${Examples} list=${r.destroyed.examples} label="Calls that destroyed something" plain=${true} />`}
    <${Heading} note=${`${number(q.yes)} answered yes`}>${plural(q.asked, 'question')} to you</${Heading}>
    <p class="nothing s">${number(q.saved.read + q.saved.learned)} were safe to answer for you:${' '}
      <a class="link" href=${link('learn')}>${plural(q.learn, 'rule')} to learn</a>.
      Secrets were read by ${plural(s.read, 'call')} and written into ${number(s.carried)}${
      s.sent ? `; after ${number(s.sent)} of these something was sent` : ''}.</p>
    <${Heading}>Agents</${Heading}>
    <${Table} label="Agents" cols=${['', 'n-num', 'n-num', 'n-num n-wide', 'n-num', 'n-num n-wide']}
      head=${['Agent', 'Sessions', 'Calls', 'By subagents', 'Stopped', 'Asked you']}>
        ${r.agents.map((a) => html`<tr role="row">
        <${Td} class="f-wide">${a.title}</${Td}><${Td} class="num f-hide">${number(a.sessions)}</${Td}>
        <${Td} class="num f-who">${number(a.calls)}<span class="nx"> calls</span></${Td}>
          <${Td} class="num f-hide">${number(a.subagent_calls)}</${Td}>
        <${Td} class="num f-state">${number(a.stopped)}<span class="nx"> stopped</span></${Td}>
        <${Td} class="num f-hide">${a.prompts === 'unknown' ? 'not written down' : number(a.asked)}</${Td}></tr>`)}
          </${Table}>
    <p class="rest"><${Command} text="hookd scan --html report.html" /></p>`;
}

// Blind says of each agent which calls no guard saw, or ran against the answer.
function Blind({ r }) {
  const bad = r.agents.reduce((n, a) => n + a.not_asked + a.disobeyed, 0);
  return html`<${Head} title=${!r.agents.length ? 'No agent is on record' : bad
    ? plural(bad, 'call') + ' no guard could stop' : 'Each call on record was asked about'}>
      <p>What agents did in the last 7 days, by the results that they report and the transcripts that they keep, beside
        what hookd was asked.</p></${Head}>
    ${r.agents.map((a) => html`<${Agent} key=${a.agent} a=${a} />`)}`;
}

function Agent({ a }) {
  const parts = [a.not_asked && `${number(a.not_asked)} not asked`, a.disobeyed && `${number(a.disobeyed)} disobeyed`];
  const told = parts.filter(Boolean).join(', ');
  const find = (word, tool) =>
    link('stream', { q: `outcome:${word} agent:${a.agent}${tool ? ' tool:' + tool : ''} since:7d` });
  return html`<h2>${agentLabel(a.agent)} <small>${plural(a.asked, 'call')} asked about, ${
      told ? html`<span class="red">${told}</span>`
        : 'none unseen'}${a.in_transcripts || a.read ? `, ${number(a.read)} in transcripts` : ''}</small></h2>
    ${(a.tools || []).length > 0 && html`<${Table} label=${'Tools of ' + a.agent}
        cols=${['', 'n-num n-wide', 'n-num n-wide', 'n-num n-wide', 'w-agent']}
      head=${['Tool', 'Not asked', 'Disobeyed', 'By subagents', 'Last']}>
        ${a.tools.map((t) => html`<tr role="row" class=${
        t.disobeyed ? 'disobeyed' : 'unasked'}><${Td} class="f-wide">${t.tool}</${Td}>
        <${Td} class="num f-state">
          <a href=${find('"not asked"', t.tool)}>${number(t.not_asked)}<span class="nx"> not asked</span></a></${Td}>
        <${Td} class=${'num f-who' + (t.disobeyed ? ' red' : '')}>
          <a href=${find('disobeyed', t.tool)}>${number(t.disobeyed)}<span class="nx"> disobeyed</span></a></${Td}>
        <${Td} class="num f-hide">${number(t.subagent)}</${Td}>
            <${Td} class="f-time">${when(t.last, hhmm)}</${Td}></tr>`)}</${Table}>`}
    ${(a.kinds || []).map((k) => html`<p class="item2">
        <${Icon} name="unasked" />${k.unknown ? 'perhaps unseen' : 'no guard sees'}:${' '}
      <b>${k.kind}</b> <span class="s">${k.why}</span></p>`)}
    ${a.away > 0
      && html`<p class="item2 s">Not on record: ${plural(a.away, 'call')} in ${plural(a.sessions, 'session')} of its
      transcripts.</p>`}
    ${a.executed?.programs?.length > 0 && html`<p class="item2 s">Started outside of calls: ${
      a.executed.programs.map((x) => `${x.name || 'a program'} (${number(x.count)})`).join(', ')}</p>`}
    ${a.do && html`<p class="item2"><${Command} text=${a.do} /></p>`}`;
}
