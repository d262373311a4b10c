// Fleet: sessions and decisions of the other machines of a fleet, where this machine is of one.
// They come from the fleet's servers, which keep no events and runs: those are on the machine
// itself.
import { html, signal, useEffect, useState } from './lib.js';
import { useRows } from './keys.js';
import { Refusal, ask, connection, status } from './net.js';
import { Bad, Clock, Empty, Icon, Late, State, Table, Td, Took, What, Who, Why, stateOf } from './parts.js';
import { link, put } from './state.js';
import { hhmm, plural, when } from './words.js';

export const fleet = signal(null); // this machine and the others; null = it is in no fleet
const every = 5000; // ms between two looks
const mostShown = 500;

// watchFleet reads it while the page is open, and hookd's status says that there is one.
export function watchFleet() {
  let timer = 0, stopped = false;
  const look = async () => {
    if (status.value && !status.value.fleet) fleet.value = null;
    else if (status.value && connection.value.state === 'on') {
      try { fleet.value = await ask('v1/fleet'); } catch (err) { if (!(err instanceof Refusal)) throw err; }
    }
    if (!stopped) timer = setTimeout(look, status.value ? every : 200);
  };
  look();
  return () => { stopped = true; clearTimeout(timer); };
}

// Others is a line about the machines of the fleet.
function Others() {
  const f = fleet.value, away = f.machines.filter((m) => m.away);
  if (f.unread) return html`<p class="amber"><${Icon} name="fail" />The fleet cannot be read: ${f.unread}</p>`;
  return html`<p class="s">${plural(f.machines.length, 'machine')}${f.connected ? ''
    : html`, <span class="amber">no server answers since ${when(f.since, hhmm)}</span>`}${away.length ? html`; <span
      class="amber">away: ${away.map((m) => `${m.machine} since ${when(m.time, hhmm)}`).join(', ')}</span>` : ''}${
    f.machines.filter((m) => (m.failing || []).length).map((m) => html`; <span class="red">
        ${m.machine}: ${m.failing.join(', ')} fails</span>`)}${
    f.machines.filter((m) => m.trouble).map((m) => html`; <span class="red">
        ${m.machine}: ${m.trouble}</span>`)}. ${f.machine} is this one.</p>`;
}

// Rollout says what operators have brought to the machines, and what each has made of it. A fleet
// that has had nothing shows nothing.
function Rollout() {
  const { directive: d, machines } = fleet.value;
  if (!d && !machines.some((m) => m.rollout)) return '';
  const old = d && (d.enforced || 'no bundle');
  return html`<div class="nothing">
    <h2>Rolled out${d && html` <small title=${d.key}>signed by ${d.by}, ${when(d.time)}</small>`}</h2>${d && html`<p
      class="s">${d.stage === 'canary' ? `${d.next} is in force on ${d.percent}% of the machines, ${old} on the others.`
      : `In force on all machines: ${old}.${d.next ? ` In the shadow: ${d.next}.` : ''}`}</p>
    ${d.off.map((o) => html`<p class="red" key=${o.hook}><${Icon} name="fail" />${o.hook} is off on all
        machines${o.revision ? `, in the bundle ${o.revision}` : ''}: ${o.reason} <span class="s">
        ${o.by}, ${when(o.time)}</span></p>`)}`}</div>
    ${machines.length > 0
      && html`<${Table} label="What each machine has" cols=${['w-who', 'w-state', 'w-who', 'w-state', 'w-who', '']}
        head=${['Machine', 'State', 'Policy', 'Stage', 'Shadow', 'Off, trouble']}>${machines.map((m) => {
      const r = m.rollout || { error: 'has taken no directive' };
      return html`<tr role="row" key=${m.machine} data-rolled=${m.machine}><${Td} class="f-who">${m.machine}</${Td}>
        <${Td} class="f-state">
        <${State} is=${m.away ? ['idle', 'away', 'state ask'] : ['ok', 'here', 'state q']} /></${Td}>
        <${Td} class="f-time" title=${r.stage || ''}>${m.policy}</${Td}><${Td} class="f-hide s">${r.stage}</${Td}>
        <${Td} class=${r.shadow ? 'f-why' : 'f-hide'}>${r.shadow}</${Td}><${Td} class="f-wide red">
        ${[...(r.off || []).map((h) => h + ' is off'), r.error || ''].filter(Boolean).join('; ')}</${Td}></tr>`;
    })}</${Table}>`}<div class="nothing"><h2>Decisions</h2></div>`;
}

// Fleet lists the newest decisions of all machines of the last day that fit the search.
export function Fleet({ query }) {
  const [rows, setRows] = useState(null), [err, setErr] = useState(null);
  useEffect(() => {
    const abort = new AbortController();
    let timer = 0, through = '', all = [];
    const look = async () => {
      try {
        const a =
          await ask('v1/fleet/decisions', { query: { ...query, through, limit: mostShown }, signal: abort.signal });
        through = a.through || through;
        const known = new Set(all.map((r) => r.machine + r.event_id));
        all = [...a.decisions.map((d) => ({ ...d.decision, machine: d.machine }))
          .filter((r) => !known.has(r.machine + r.event_id)), ...all].slice(0, mostShown);
        setRows(all); setErr(null);
      } catch (e) {
        if (e.name === 'AbortError') return;
        if (!(e instanceof Refusal)) throw e;
        setErr(e);
      }
      timer = setTimeout(look, every);
    };
    setRows(null);
    look();
    return () => { abort.abort(); clearTimeout(timer); };
  }, [JSON.stringify(query)]);
  const own = fleet.value?.machine, idOf = (r) => r.machine + ' ' + r.event_id, list = rows || [];
  const [at] = useRows(list, idOf, { enter: () => false, clear: ['sel', 'q'], y: (r) => r?.event_id });
  return html`<div class="nothing">${fleet.value && html`<${Others} />`}</div>
    ${fleet.value && html`<${Rollout} />`}${err ? html`<${Bad} err=${err} />` : !rows ? html`<${Late} />`
    : !rows.length ? html`<${Empty}><h2>Nothing matches in the fleet</h2>
      <p class="s">These are decisions of the last day, or since the time of the search.</p></${Empty}>`
    : html`<${Table} label="Decisions of the fleet" class="fleet"
      cols=${['n-time', 'w-lead', 'w-who', '', 'w-state', 'w-why', 'n-took']}
      head=${['Time', 'Machine', 'Who', 'What', 'Decision', 'Why', 'Took']}>${rows.map((r, i) => html`
      <tr role="row" key=${idOf(r)} data-id=${idOf(r)} data-machine=${r.machine}
        tabindex=${i === Math.max(0, at) ? 0 : -1} aria-selected=${i === at} class=${i === at ? 'sel' : ''}
        onClick=${() => put({ sel: i === at ? '' : idOf(r) })}><${Td} class="when mono f-time">
        <${Clock} t=${r.time} /></${Td}><${Td} class="f-who" title=${r.machine}>${r.machine === own
        ? html`<a class="link" href=${link('stream', { open: r.event_id, at: r.seq, sel: r.event_id })}>
        ${r.machine}</a>` : r.machine}</${Td}>
        <${Td} class="f-hide"><${Who} r=${r} /></${Td}><${Td} class="f-wide"><${What} r=${r} /></${Td}>
            <${Td} class="f-state"><${State} is=${stateOf(r)} /></${Td}><${Td} class="by f-why" title=${r.reason || ''}>
            <${Why} d=${r} /></${Td}><${Td} class="num f-hide"><${Took} ms=${r.duration_ms} /></${Td}></tr>`)}
          </${Table}>
      ${rows.length >= mostShown ? html`<p class="rest t">The newest ${mostShown}. Narrow the search, or look on the
          machine itself.</p>` : ''}`}`;
}
