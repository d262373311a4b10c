// Hooks: by what they need. Right of the list the one that is chosen: what waits, its
// times, a box to try an event.
import { html, useEffect, useRef, useState } from './lib.js';
import { Lines } from './chart.js';
import { changed, dead, earlier, failing, hooks, inFolder, inForce, isShadow, problemOf, problems, stateOfHook, stats,
  waiting, would } from './health.js';
import { keep, press, useKeys, useRows } from './keys.js';
import { Refusal, about, ask, post, segment } from './net.js';
import { Act, Command, Empty, Icon, Late, State, Table, Td, failed, stateOf, useData } from './parts.js';
import { useMore } from './rows.js';
import { go, link, put, route } from './state.js';
import { firstLine, home, number, plural, span, took, tookText, when, hhmm } from './words.js';

// decides reports whether a hook can deny.
const decides = (h) => h.decides === true;

const groups = [
  ['needs', 'Needs you', ''], ['guard', 'Guards', 'can deny or ask'], ['shadow', 'Shadow', 'recorded, not obeyed'],
    ['observer', 'Observers', 'never delay an agent'],
];
// urgency orders what needs a person: what stops work first, what is over last.
const urgency = ['fail', 'waits', 'dead'];
const byUrgency = (a, b) => urgency.indexOf(stateOfHook(a)[0]) - urgency.indexOf(stateOfHook(b)[0]);
const groupOf = (h) => stateOfHook(h)[3] || (decides(h) ? 'guard' : 'observer');

// trend says in words how the time of a hook's runs differs from the day before; only
// what stands out.
function trend(h) {
  const now = stats.value[' ' + h.name], was = earlier.value[' ' + h.name];
  if (!now || !was || now.runs < 20 || was.runs < 20) return '';
  if (now.p95_ms > was.p95_ms * 1.5 && now.p95_ms - was.p95_ms > 5) return html`<span class="amber">slower, p95
    was ${tookText(was.p95_ms)}</span>`;
  if (was.p95_ms > now.p95_ms * 1.5 && was.p95_ms - now.p95_ms > 5) return `faster, p95 was ${tookText(was.p95_ms)}`;
  const rate = (s) => s.failures / s.runs;
  if (rate(now) > 2 * rate(was) + 0.02) return html`<span class="amber">fails more than yesterday</span>`;
  return '';
}

// lately says the cause where something is wrong, else what is different.
function lately(h) {
  const p = problemOf(h), f = failing(h.name), mine = dead.value.filter((d) => d.hook === h.name);
  if (h.state === 'waiting') return html`<span class="s">${waitsFor(h)}</span>`;
  if ((h.state === 'rejected' || h.state === 'refused' || h.state === 'degraded') && p) return html`<span class="s"
    title=${p.message}>${p.message}</span>`;
  if (f) return html`<span class="s" title=${f.why}>${f.runs > 1 ? plural(f.runs, 'run') + ': ' : ''}
    <code>${firstLine(f.why)}</code></span>`;
  if (mine.length) return html`<span class="s" title=${mine[0].reason}>${mine[0].reason}</span>`;
  const more = trend(h);
  return more && html`<span class="t">${more}</span>`;
}

const waitsFor = (h) => {
  const w = waiting.value.find((x) => x.hook === h.name);
  return !w || w.new ? 'new' : changed(w);
};

export function Hooks() {
  const { p } = route.value, list = hooks.value, filter = (p.q || '').toLowerCase();
  const input = useRef();
  useEffect(keep);
  const shown = (list || []).filter((h) => !filter || h.name.toLowerCase().includes(filter)
    || (h.events || []).some((e) => e.toLowerCase().includes(filter)));
  const sorted = groups.map(([id, title, note]) => ({ id, title, note, list: shown.filter((h) => groupOf(h) === id)
      .sort(id === 'needs' ? byUrgency : () => 0) })).filter((g) => g.list.length);
  const flat = sorted.flatMap((g) => g.list), chosen = (list || []).find((h) => h.name === p.hook);
  const [at, select] = useRows(flat, (h) => h.name,
    { sel: 'hook', clear: ['hook', 'q'], y: (h) => h?.name,
      enter: (i) => (i < 0 ? select(0) : decides(flat[i]) && go('guard', { name: flat[i].name })) });
  const [most, end] = useMore(flat.length, at);
  useKeys({ '/': () => input.current?.focus() });
  if (!list) return html`<section class="view" id="hooks"><${Late} /></section>`;
  const num = (n, cls) => html`<${Td} class=${'num f-hide ' + (n ? cls : 'z')}>${number(n)}</${Td}>`;
  const time = (s, k) => {
    const [n, unit] = took(s?.runs ? s[k] : undefined);
    return html`<${Td} class="num s f-hide">
      ${n}${unit && unit !== 'ms' ? html` <span class="unit">${unit}</span>` : ''}</${Td}>`;
  };
  return html`<section class="view" id="hooks"><div class=${'two' + (chosen ? ' with' : '')}><div><div class="bar">
    <h1>${plural(list.length, 'hook')} <small>last 24 hours</small></h1><a class="link" href="#grants">Grants</a>
    <label class="search find"><span class="t" aria-hidden="true">/</span><span class="typed">
    <span class="over" aria-hidden="true">${p.q || ''}</span>
    <input ref=${input} type="text" value=${p.q || ''} placeholder="name or event" aria-label="Find a hook"
    onInput=${(e) => put({ q: e.target.value })} spellcheck="false" autocomplete="off" /></span></label></div>
    ${problems.value.map((x) => html`<p class="nothing red" role="alert"><${Icon} name="fail" />
        ${home(x.file)}${x.line ? ':' + x.line : ''}: ${x.message} <span class="s">${x.hint || ''}</span></p>`)}
    ${!list.length ? html`<${Empty}><p class="s">No hook is
      there. <${Command} text="hookd add gallery/command-guard" /></p></${Empty}>` : !flat.length
      ? html`<${Empty}><p class="s">No hook has <code>${p.q}</code> in its name or its events.</p></${Empty}>` : html`
    <${Table} label="Hooks" groups cols=${['w-lead', 'w-hook', ...(chosen ? [''] : ['w-events', '']), 'n-num', 'n-num',
        'n-num', ...(chosen ? [] : ['n-short', 'n-short', 'n-short'])]} head=${['State', 'Hook', 'Runs for',
        ...(chosen ? [] : ['Lately']), 'Runs', 'Denied', 'Failed', ...(chosen ? [] : ['p50 ms', 'p95', 'p99'])]}>
      ${sorted.filter((g) => flat.indexOf(g.list[0]) < most).map((g) => html`<tbody role="rowgroup" key=${g.id}>
        <tr role="row" class="grp">
          <${Td} colspan=${chosen ? 6 : 10} class="f-wide">
          ${g.title}${g.note && html` <small>${g.note}</small>`}</${Td}></tr>${
        g.list.filter((h) => flat.indexOf(h) < most).map((h) => {
        const s = stats.value[' ' + h.name], i = flat.indexOf(h), on = h.name === p.hook;
        return html`<tr role="row" key=${h.name} data-id=${h.name} tabindex=${i === Math.max(0, at) ? 0 : -1}
          aria-selected=${on} class=${on ? 'sel' : ''} onClick=${() => put({ hook: on ? '' : h.name })}>
          <${Td} class="f-state"><${State} is=${stateOfHook(h)} /></${Td}><${Td} class="f-who" title=${h.name}>
          <b class="name">${h.name}</b></${Td}>
          <${Td} class="s f-why" title=${(h.events || []).join(', ')}>${runsFor(h)}</${Td}>
          ${!chosen && html`<${Td} class="f-wide">${lately(h)}</${Td}>`}
            <${Td} class="num f-time">${number(s?.runs || 0)}</${Td}>${isShadow(h) ? html`<${Td} class="num f-hide t"
              title="times that it would have denied, asked or changed something">would ${
              number(would.value[' ' + h.name] || 0)}</${Td}>` : decides(h) ? num(s?.denied || 0, '')
            : html`<${Td} class="num f-hide z">–</${Td}>`}${num(s?.failures || 0, 'red')}${!chosen
            && ['p50_ms', 'p95_ms', 'p99_ms'].map((k) => time(s, k))}</tr>`;
      })}</tbody>`)}</${Table}>${flat.length > most && html`<p class="rest" ref=${end}>
        ${number(flat.length - most)} more…</p>`}`}</div>
    ${chosen && html`<${Side} key=${chosen.name} h=${chosen} />`}</div></section>`;
}

function runsFor(h) {
  const m = h.matcher, list = h.events || [], events = list.join(', ');
  const tools = m && m !== '*' ? m.split('|').join(', ')
    : list.length && list.every((e) => /tool/i.test(e)) ? 'any tool' : '';
  return tools ? html`${tools} <span class="t">${events}</span>` : events;
}

// Side is one hook: the difference first where it waits.
function Side({ h }) {
  const [more] = useData((signal) => ask('v1/hooks/' + segment(h.name), { signal }), [h.digest, h.state]);
  const to = Math.ceil(Date.now() / 36e5) * 36e5, from = to - 864e5;
  const [hours] = useData((signal) =>
    ask('v1/stats', { query: { by: 'hour', hook: h.name, since: new Date(from).toISOString() }, signal }), []);
  const w = waiting.value.find((x) => x.hook === h.name), s = stats.value[' ' + h.name], f = failing(h.name),
    state = stateOfHook(h);
  const full = { ...h, ...more }, letters = dead.value.filter((d) => d.hook === h.name);
  const path = 'hooks/' + segment(h.name);
  useKeys({ a: () => press('#hooks .side button[data-act=allow]') });
  const word = { waits: 'waits for you to allow it', failing: 'fails', on: decides(h) ? 'guards' : 'observes',
    off: 'is off', shadow: 'in the shadow' }[state[1]] || state[1];
  return html`<aside class="side" aria-label=${'Hook ' + h.name}><p class="back">
    <a class="link" href=${link('hooks', { ...route.value.p, hook: '' })}>All hooks</a></p>
    <p class="crumb" title=${h.file}>${home(h.file)}</p><h1>${h.name} <small>
    <${State} is=${[state[0], word, state[2]]} /></small></h1>
    ${h.description && html`<p class="s">${h.description}</p>`}
    ${(h.problems || []).filter((x) => !w || !/waits to be allowed/.test(x.message))
      .map((x) => html`<p class=${x.warning ? 'amber' : 'red'}><${Icon} name="fail" />
        ${x.line ? 'line ' + x.line + ': ' : ''}${x.message} <span class="s">${x.hint || ''}</span></p>`)}
    ${w && html`<${Waits} w=${w} path=${path} />`}
    ${f && html`<h2>Why it fails <span>${plural(f.runs, 'run')} in a row, since ${when(f.since, hhmm)}</span></h2>
      <div class="diff"><div>${f.why}</div></div><p>
      <a class="link" href=${link('run', { id: f.last.run_id })}>Last run</a></p>`}
    ${letters.length > 0 && html`<h2>Gave up <span>${plural(letters.length, 'event')}</span></h2>
      ${letters.slice(0, 5).map((d) => html`<p class="s">${when(d.time)} <code>${d.reason}</code></p>`)}`}
    <h2>Time of a run <span>24 h, by the hour</span></h2>
      <div class="lat">${hours?.groups?.some((g) => g.runs) ? html`<${Lines} hours=${hours.groups} from=${from} to=${to}
        label=${s ? `p50 ${tookText(s.p50_ms)}, p95 ${tookText(s.p95_ms)} and p99 ${tookText(s.p99_ms)} over 24 hours`
        : 'times over 24 hours'} />` : html`<p class="t">${hours ? 'It has not run in the last 24 hours.' : ' '}</p>`}
      <dl class="fact">${[['p50 —', 'p50_ms'], ['p95 ┄', 'p95_ms'], ['p99', 'p99_ms']].map(([k, v]) => html`<dt>
          ${k}</dt><dd class="num">${s?.runs ? tookText(s[v]) : '–'}</dd>`)}</dl></div>
    ${s && html`<p class="s">
      ${plural(s.runs, 'run')}${decides(h) ? ', ' + number(s.denied) + ' denied' : ''}, ${number(s.failures)} failed.
      Agents waited ${tookText(s.waited_ms)} for
        it. <a class="link" href=${link('stream', { kind: 'runs', q: 'hook:' + h.name })}>Runs</a>${
      decides(h) ? html` · <a class="link" href=${link('guard', { name: h.name })}>Over 30 days${' '}
        <kbd>Enter</kbd></a> ·${' '}
        <a class="link" href=${link('stream', { q: 'hook:' + h.name })}>Decisions</a> ·${' '}
        <a class="link" href=${link('whatif', { hook: h.name })}>What if</a>` : ''}</p>`}
    ${full.tests > 0 && html`<${Tests} h=${full} waits=${!!w} />`}
    ${h.state !== 'rejected' && h.state !== 'refused' && html`<${TryIt} h=${full} />`}
    <h2>What it is <span>${full.source}</span></h2><dl class="fact"><dt>Runs for</dt>
      <dd>${runsFor(full)}</dd>${(full.command || full.script) && html`<dt>Command</dt><dd><code>
      ${full.command ? [full.command, ...(full.args || [])].join(' ') : full.script}</code></dd>`}${full.timeout_ms
      ? html`<dt>May take</dt><dd>${span(full.timeout_ms)}</dd>` : ''}${[['Only when', full.when?.join(' or ')],
      ['Debounce', full.debounce_ms && full.debounce_ms / 1e3 + ' s'], ['Throttle', full.throttle],
      ['Warm', full.warm && 'its workers start with hookd']].map(([k, v]) => v ? html`<dt>${k}</dt>
        <dd>${v}</dd>` : '')}${full.digest ? html`<dt>Version</dt>
      <dd class="mono">${full.digest.slice(0, 12)}</dd>` : ''}${full.persistent ? html`<dt>Workers</dt>
      <dd>${full.persistent.copies.length} alive, ${plural(full.persistent.starts, 'start')}</dd>` : ''}</dl>
    ${(full.changes || []).length > 0 && html`<h2>Changes</h2>
      <dl class="fact">${full.changes.slice(0, 5).map((c) => html`<dt>${when(c.time)}</dt>
        <dd>${c.change}${c.by ? ' by ' + c.by : ''}${c.why ? ': ' + c.why : ''}</dd>`)}</dl>`}
    <${Switch} h=${h} path=${path} /></aside>`;
}

function Switch({ h, path }) {
  const [sure, set] = useState(false), off = h.state === 'disabled';
  const command = `hookd ${off ? 'enable' : 'disable'} ${h.name}`;
  if (!about.value.act) return html`<div class="row"><${Command} text=${command} /></div>`;
  if (off) return html`<div class="row"><${Act} label="Enable" path=${path + '/enable'} command=${command} /></div>`;
  return html`<div class="row">${sure
    ? html`<${Act} label=${decides(h) ? 'Disable: it guards nothing then' : 'Disable it'} path=${path + '/disable'}
      done=${() => set(false)} /><button type="button" class="plain" onClick=${() => set(false)}>Keep it</button>`
    : html`<button type="button" class="plain" onClick=${() => set(true)}>Disable…</button>`}</div>`;
}

function Waits({ w, path }) {
  const n = (sign) => w.diffs.reduce((s, d) => s + d.lines.filter((l) => l[0] === sign).length, 0);
  return html`<h2>What changed <span>
    ${w.new ? 'new' : `+${n('+')} −${n('-')} in ${plural(w.diffs.length, 'file')}`}</span></h2>
    ${w.refused && html`<p class="red"><${Icon} name="fail" />It will not run all the same: ${w.refused}</p>`}
    <div class="diff" tabindex="0">
      ${w.diffs.map((d) => html`<div class="h" title=${d.path}>${inFolder(w, d.path)}</div>${d.lines.map((l) =>
        html`<div class=${{ '+': 'a', '-': 'd' }[l[0]] || ''}>${l[0] === '-' ? '−' : l[0]} ${l.slice(1)}</div>`)}`)}${
      !w.diffs.length && html`<div class="h">${changed(w)}</div>`}${(w.hidden || [])
      .map((f) => html`<div class="h">${f}: too long to be shown, look at it yourself</div>`)}</div>
    <div class="row"><${Act} label="Allow this version" kbd="a" key_="allow" path=${path + '/allow'}
      body=${{ digest: w.digest }} command=${'hookd allow ' + w.hook} />
      <a class="link" href=${link('whatif', { hook: w.hook })}>What if</a></div>
    <p class="t">${w.new ? 'It does not run until then.' : w.gone ? '' : inForce(w)}</p>`;
}

// Tests runs the tests in the hook's file; those that are not as expected come first. A
// version that waits runs in no daemon, so a person types that.
function Tests({ h, waits }) {
  const [got, set] = useState(null), list = (got?.tests || []).slice().sort((a, b) => a.ok - b.ok);
  const shape = (w) => (w === 'failed' ? ['fail', 'failed', 'state fail'] : stateOf({ decision: w }));
  return html`<h2>Tests <span>
    ${got ? (got.failed ? html`<b class="red">${got.failed} of ${plural(list.length, 'test')} not as expected</b>`
      : `all ${list.length} as expected`) : plural(h.tests, 'test') + ' in its file'}</span></h2>
    <div class="row">${waits ? html`<${Command} text=${'hookd test --local ' + h.name} />`
      : html`<${Act} label=${got ? 'Run them again' : h.tests === 1 ? 'Run it' : `Run all ${h.tests}`} key_="tests"
        path=${'v1/hooks/' + segment(h.name) + '/tests'} command=${'hookd test ' + h.name} done=${set} />`}</div>
    ${list.length > 0 && html`<dl class="tests" role="status">${list.map((t) => html`<dt>
        <${State} is=${shape(t.got)} /></dt><dd><b>${t.name}</b> <code title=${t.subject || ''}>${t.subject || t.event}
        </code>${t.ok ? '' : html`<p class="red">expected ${t.expect}: ${t.why}</p>`}</dd>`)}</dl>`}`;
}

// TryIt gives the hook a tool call that a person types: its main argument, or all of its arguments.
function TryIt({ h }) {
  const tools = { Bash: 'command', Write: 'file_path', Edit: 'file_path', Read: 'file_path', WebFetch: 'url' };
  const [tool, setTool] = useState((h.matcher || '').split('|').find((m) => tools[m]) || 'Bash'),
    [text, setText] = useState(''), [state, set] = useState({});
  if (!about.value.act) return html`<h2>Try it</h2><p><${Command} text=${'hookd test ' + h.name} /></p>`;
  const event = (h.events || []).find((e) => /tool/i.test(e) && !/[*?]/.test(e)) || 'pre_tool_use';
  const run = async () => {
    if (state.busy || !text) return;
    set({ busy: true });
    try {
      const data = text[0] === '{' ? JSON.parse(text) : { [tools[tool]]: text };
      set({ result: await post('v1/hooks/' + segment(h.name) + '/test',
          { event, data, tool: data.tool_name ? '' : tool }) });
    } catch (err) { if (!(err instanceof Refusal || err instanceof SyntaxError)) throw err; set({ err }); }
  };
  const r = state.result?.run;
  return html`<h2>Try it <span>leaves no record</span></h2><div class="try"><select aria-label="Tool" value=${tool}
    onChange=${(e) => setTool(e.target.value)}>${Object.keys(tools).map((t) => html`<option>${t}</option>`)}</select>
      <input type="text" aria-label="What the agent would call it with" value=${text}
        placeholder=${{ command: 'a command', url: 'an address' }[tools[tool]] || 'a file'}
        onInput=${(e) => setText(e.target.value)} onKeyDown=${(e) => { if (e.key === 'Enter') {
        e.preventDefault();
        run();
      } }} spellcheck="false" />
        <button type="button" class="plain sm" disabled=${state.busy || !text} onClick=${run}>Enter</button></div>
    <p role="status" aria-live="polite">${state.busy && html`<span class="t">it runs…</span>`}${state.err && html`<span
        class="red">${state.err.message}</span>`}${r && html`<${State} is=${said(state.result)} /> <span class="s">
        ${r.reason || r.error || state.result.verdict?.message || ''}</span> <span class="t">
        ${tookText(r.duration_ms)}${state.result.why ? ' · ' + state.result.why : ''}</span>`}</p>`;
}
function said({ run, decides: d, why }) {
  if (why && !failed(run)) return ['none', 'would not run', 'none'];
  if (run.result === 'deny' || run.decision === 'deny') return ['deny', 'would deny', 'state deny'];
  if (run.decision === 'ask') return ['ask', 'would ask', 'state ask'];
  if (run.decision === 'allow') return ['allow', 'would allow', 'state q'];
  if (failed(run)) return ['fail', 'failed', 'state fail'];
  return ['none', d ? 'would say nothing' : 'would observe', 'none'];
}
