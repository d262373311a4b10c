// Run: given, printed, read as, told. "Why was this denied" ends here.
import { html, useEffect, useState } from './lib.js';
import { keep, useKeys } from './keys.js';
import { ask, segment } from './net.js';
import { Act, Bad, Clock, Empty, Late, State, Table, Td, Took, What, Who, Why, byWhom, copy, failed, resultOf, stateOf,
  take, useData } from './parts.js';
import { go, link, route } from './state.js';
import { agentName, bytes, exact, home, number, plural, short, shortSession, span, tookText, whole } from './words.js';
import { withoutColours } from './visible.js';

const day = 864e5;

async function read(id, signal) {
  if (!id) {
    const newest = (await ask('v1/runs', { query: { limit: 1 }, signal })).runs[0];
    if (!newest) return { none: true };
    id = newest.run_id;
  }
  const quiet = (err) => { if (err.name === 'AbortError') throw err; return null; };
  const run = await ask('v1/runs/' + segment(id), { signal });
  const since = new Date(Date.now() - day).toISOString();
  const [event, others, hook, stats, before] = await Promise.all([
    ask('v1/events/' + segment(run.event_id), { signal }).catch(quiet),
    ask('v1/runs', { query: { event_id: run.event_id, limit: 100 }, signal }).catch(quiet),
    ask('v1/hooks/' + segment(run.hook), { signal }).catch(quiet),
    ask('v1/stats', { query: { hook: run.hook, since }, signal }).catch(quiet),
    ask('v1/decisions', { query: { hook: run.hook, decision: 'deny', limit: 6 }, signal }).catch(quiet),
  ]);
  return { run, event, others: others?.runs || [], hook, stats: stats?.hooks?.[0],
    before: (before?.decisions || []).filter((d) => d.event_id !== run.event_id).slice(0, 5) };
}

export function Run() {
  const { p } = route.value, [data, err] = useData((signal) => read(p.id, signal), [p.id]);
  useEffect(keep);
  useKeys({ y: () => data?.run && take(data.run.run_id) });
  if (err) return html`<section class="view" id="run"><${Bad} err=${err} /></section>`;
  if (!data) return html`<section class="view" id="run"><${Late} /></section>`;
  if (data.none) return html`<section class="view" id="run"><${Empty}><h1>No run yet</h1>
    <p class="s">A hook runs when an event comes that it is for.</p></${Empty}></section>`;
  return html`<${Shown} ...${data} />`;
}

// word returns how the end of a run is shown, in one word.
const word = (r) => (r.result === 'deny' ? ['deny', 'denied', 'state deny']
  : r.decision === 'ask' ? ['ask', 'asked', 'state ask']
    : r.decision === 'allow' ? ['allow', 'allowed', 'state q']
      : failed(r) ? resultOf(r) : ['none', r.awaited ? 'no opinion' : 'observed', 'none']);

function Shown({ run, event, others, hook, stats, before }) {
  const d = event?.decision, e = event || run;
  const [indent, setIndent] = useState(true);
  const [replayed, setReplayed] = useState(null);
  const total = Math.max(run.queue_ms + run.duration_ms, d?.duration_ms || 0),
    rest = Math.max(0, total - run.queue_ms - run.duration_ms);
  const told = run.awaited && d, byBridge = told && d.told;
  const given = givenText(event, run, indent);
  return html`<section class="view" id="run"><div class="head"><div>
      <p class="crumb"><span title=${run.run_id}>Run ${short(run.run_id)}</span> · <span
        title=${run.event_id}>event ${short(run.event_id)}</span> · <time title=${whole(run.started)}>
        ${exact(run.started)}</time>${run.session_id ? html` · <a class="link" href=${link('session',
          { id: run.session_id, agent: run.dialect, at: run.event_id })}>session ${shortSession(run.session_id)}</a>`
        : ''}</p>
      <h1>${run.hook} <small>${run.called ? '“' + run.called + '” ' : ''}<${State} is=${word(run)} />${' '}
        <code>${run.subject || ''}</code></small></h1>
      <p>${agentName(e)}, ${run.event}${run.tool ? ', ' + run.tool : ''}${e.cwd ? ', in ' + home(e.cwd) : ''}. ${
        run.awaited ? html`The agent waited ${tookText(d?.duration_ms ?? run.duration_ms)}${hook?.timeout_ms
          ? ` of the ${span(hook.timeout_ms)} that this hook may take` : ''}.` : 'Nothing waited for it.'}</p></div>
    <div class="row">${event?.whole
      ? html`<${Act} label="Replay" path=${'v1/events/' + segment(run.event_id) + '/replay'} body=${{ hook: run.hook }}
        command=${'hookd replay ' + short(run.event_id)} done=${setReplayed} key_="replay" />` : ''}
      ${event?.whole && hook ? html`<${Try} run=${run} event=${event} />` : ''}
      <button type="button" class="plain" onClick=${() => copy(run.run_id)}>Copy <kbd>y</kbd></button></div></div>
    ${replayed && html`<p class="nothing s" role="status">Accepted again as ${short(replayed.event_id)},
      for ${plural(replayed.matched.length, 'hook')}; the answer is not told to the
      agent. <${Replayed} id=${replayed.event_id} hook=${run.hook} />
      ${(replayed.warnings || []).map((w) => html` <span class="amber">${w}</span>`)}</p>`}
    <div class="spans"><div class="strip" aria-hidden="true">
      ${[[run.queue_ms, ''], [run.duration_ms, 'in'], [rest, '']].map(([ms, c]) => ms > 0 && html`<i class=${c}
        style=${{ flexGrow: Math.max(ms / total, 0.004) }} />`)}</div>
      <div class="axis">
        <span>${run.awaited ? 'accepted, started after' : 'accepted, queued'} ${tookText(run.queue_ms)}</span>
        <span>in the hook ${tookText(run.duration_ms)}</span>
        <span>${told ? 'with the other hooks, read and answered ' + tookText(rest) : ' '}</span></div></div>
    <div class="steps"><div class="step"><h2>1 Given <span>${given.note}${given.json
      ? html` <button type="button" class="plain sm" aria-pressed=${indent} onClick=${() => setIndent(!indent)}>
      ${indent ? 'as it was' : 'indent'}</button>` : ''}</span></h2><pre tabindex="0">${given.text}</pre>
      <h2>Started as <span>${hook?.type || ''}${run.digest ? ' · version ' + run.digest.slice(0, 12) : ''}</span></h2>
        <pre tabindex="0">${hook ? [hook.command, ...(hook.args || [])].filter(Boolean).join(' ') || hook.script
        || hook.type : 'This hook is not there any more.'}</pre></div>
    <div class="step"><h2>2 Printed <span>${run.signal ? 'ended by ' + run.signal
      : run.exit_code >= 0 ? 'exit ' + run.exit_code : 'no exit code'}, ${tookText(run.duration_ms)}</span></h2>
      <pre tabindex="0"><${Output} name="stdout" o=${run.stdout} /><${Output} name="stderr" o=${run.stderr} /></pre>
      <h2>3 Read as <span>docs/reference/running-hooks.md</span></h2>
        <ol>${readAs(run, d, others).map(([k, v]) => html`<li><span>${k}</span><span>${v}</span></li>`)}</ol>
      <h2>4 Told to ${agentName(e)} <span>${byBridge ? 'by its bridge' : ''}</span></h2>
        <pre tabindex="0">${tells(run, d)}</pre></div></div>
    ${before.length > 0 && html`<h2>Denied before by this hook <small>${
      stats ? `${number(stats.denied)} of ${number(stats.runs)} in 24 h · ${tookText(stats.p50_ms)} is usual · ` : ''}
      <a class="link" href=${link('stream', { q: 'decision:deny hook:' + run.hook })}>all</a></small></h2>
      <${Table} label="Denied before by this hook" cols=${['n-time', 'w-who', '', 'w-state', 'w-why', 'n-took']}
        head=${['Time', 'Who', 'What', 'Decision', 'Why', 'Took']}>
        ${before.map((b) => html`<tr role="row" key=${b.event_id}
          onClick=${() => go('stream', { open: b.event_id, at: b.seq, q: 'decision:deny hook:' + run.hook })}>
        <${Td} class="when mono f-time"><${Clock} t=${b.time} /></${Td}><${Td} class="f-who"><${Who} r=${b} /></${Td}>
            <${Td} class="f-wide"><a href=${link('stream', { open: b.event_id, at: b.seq,
            q: 'decision:deny hook:' + run.hook })}><${What} r=${b} /></a></${Td}><${Td} class="f-state">
            <${State} is=${stateOf(b)} /></${Td}><${Td} class="by f-why"><${Why} d=${b} /></${Td}>
            <${Td} class="num f-hide"><${Took} ms=${b.duration_ms} /></${Td}></tr>`)}</${Table}>`}</section>`;
}

function givenText(event, run, indent) {
  if (!event) return { text: run.input || 'This event is not in the history any more.',
    note: run.input ? 'how it begins' : '' };
  if (event.data && event.whole) {
    return { json: true, text: indent ? JSON.stringify(event.data, null, 2) : JSON.stringify(event.data),
      note: `the event's data, ${bytes(event.bytes)}${indent ? ', shown indented' : ''}${
        event.redacted ? ', secrets taken out' : ''}` };
  }
  if (event.preview) return { text: event.preview + '…',
    note: `the first ${bytes(event.preview.length)} of ${bytes(event.bytes)}; history.payload: full keeps all` };
  if (run.input) return { text: run.input, note: 'how it begins' };
  return { text: event.bytes > 2 ? 'not kept (history.payload: none)' : '{}', note: bytes(event.bytes) };
}

function Output({ name, o }) {
  if (!o) return html`<i>${name} was not kept</i>${'\n'}`;
  const head = withoutColours(o.head || ''), tail = withoutColours(o.tail || '');
  const cut = o.bytes - (o.head || '').length - (o.tail || '').length;
  return html`<i>${name}, ${bytes(o.bytes)}</i>
    ${'\n'}${head}${tail ? html`${cut > 0 ? html`\n<i>… ${bytes(cut)} between are not kept …</i>\n` : ''}${tail}`
    : ''}${o.bytes && !(tail || head).endsWith('\n') ? '\n' : ''}`;
}

// readAs is what hookd has made of the run, one line each.
function readAs(run, d, others) {
  const rows = [[run.signal || (run.exit_code < 0 ? 'no exit code' : 'exit ' + run.exit_code), run.result]];
  if (run.decision) rows.push(['answer', html`<${State} is=${resultOf({ ...run, result: 'ok' })} />`]);
  if (run.rule) rows.push(['rule', run.rule]);
  if (run.error) rows.push(['error', run.error]);
  if (run.reason) rows.push(['reason', '“' + run.reason.trim() + '”']);
  if (run.warning) rows.push(['warning', html`<span class="amber">${run.warning}</span>`]);
  if (run.tried) rows.push(['tried', 'by a person: it is in no count of what agents did']);
  if (!run.awaited) rows.push(['on this event', 'it observes: its answer is not waited for']);
  else if (failed(run)) rows.push(['on this event', run.failure === 'denies' ? 'a guard that fails denies'
    : 'a failure is no opinion here']);
  const with_ = others.filter((o) => o.run_id !== run.run_id && o.awaited);
  if (with_.length) rows.push(['merged with', with_.map((o, i) => html`${i ? ', ' : ''}
      <a class="link" href=${link('run', { id: o.run_id })}>${o.hook}</a> ${resultOf(o)[1]}`)]);
  for (const s of d?.shadow || []) rows.push(['shadow',
    `${s.hook} would ${s.decision}${s.reason ? ': ' + s.reason : ''}`]);
  if (d) rows.push(['verdict', html`<${State} is=${stateOf(d)} /> <span class="s">${(d.decided_by || []).length
      ? 'decided by ' + d.decided_by.join(', ') : ''}${d.answered ? ', answered ' + byWhom(d.answered) : ''}</span>`]);
  return rows;
}

// tells is what the agent was told: the answers of all hooks together.
function tells(run, d) {
  if (!run.awaited) return 'nothing: this hook observes';
  if (!d) return 'This decision is not in the history any more.';
  const t = d.told;
  if (t?.unsure) return html`<i>not known: ${t.unsure}</i>`;
  const word = t ? t.decision : d.decision, reason = ((t ? t.reason : d.reason) || '').trim();
  const lines = [html`<i>decision</i> <b>${word}</b>${'\n'}`];
  if (reason && word !== 'none') lines.push(html`<i>reason</i> ${reason}${'\n'}`);
  if (d.rewrote) lines.push(html`<i>changed</i> ${d.rewrote.join(', ')}${'\n'}`);
  if (d.new_input) lines.push(html`<i>new
    input</i> ${typeof d.new_input === 'string' ? d.new_input : JSON.stringify(d.new_input, null, 1)}${'\n'}`);
  if (word === 'none' && !d.rewrote) lines.push(html`<i>nothing was said against it: the agent goes on as if no hook
    were there</i>`);
  return lines;
}

// Try runs the hook alone with this event, which leaves no record.
function Try({ run, event }) {
  const [result, set] = useState(null);
  const body = { event: event.event, dialect: event.dialect, data: event.data, session_id: event.session_id,
    agent_id: event.agent_id, agent_name: event.agent_name, cwd: event.cwd };
  return html`<${Act} label="Test the hook with this" path=${'v1/hooks/' + segment(run.hook) + '/test'} body=${body}
    command=${'hookd test ' + run.hook + ' --event ' + event.event} done=${set} key_="test" />
    ${result && html`<span role="status"><${State} is=${word({ ...result.run, awaited: result.decides })} /> <span
        class="t">now, ${tookText(result.run.duration_ms)}</span></span>`}`;
}

// Replayed follows the run that a replay has made.
function Replayed({ id, hook }) {
  const [run, set] = useState(null);
  useEffect(() => {
    let stopped = false, timer = 0;
    const look = async () => {
      const list = await ask('v1/runs', { query: { event_id: id, hook } }).catch(() => ({ runs: [] }));
      if (stopped) return;
      if (list.runs[0]) set(list.runs[0]);
      else timer = setTimeout(look, 500);
    };
    look();
    return () => { stopped = true; clearTimeout(timer); };
  }, [id]);
  return run ? html`<a class="link" href=${link('run', { id: run.run_id })}>Its run</a>`
    : html`<span class="t">running…</span>`;
}
