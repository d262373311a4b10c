// The facets beside the list: how many calls there are of what. A click puts a word into the search.
import { html, signal, useState } from './lib.js';
import { facets, feed, version } from './feed.js';
import { Icon, stateOf } from './parts.js';
import { sorted } from './search.js';
import { go, route } from './state.js';
import { agentLabel, has, number, outcomes, rare, set, toggle, tokens } from './words.js';

// Facets say how many there are of what, and put it into the search.
export function Facets({ text, kind }) {
  version.value;
  const groups = kind === 'decisions' ? ofDecisions(facets.value) : ofRows(kind);
  return html`<div class="facets" data-open=${filtering.value}>
    <div class="groups">${groups.map((g) => html`<${Facet} key=${g.title} text=${text} ...${g} />`)}</div></div>`;
}

// filtering shows the facets where there is no room beside the list.
const filtering = signal(false);
export function Filter({ text }) {
  const chosen = tokens(text).filter((t) => t.key).length;
  return html`<button type="button" class="more" aria-expanded=${filtering.value} onClick=${() => {
    filtering.value = !filtering.value;
  }}>Filter${chosen ? ' · ' + chosen : ''}</button>`;
}

function ofDecisions(f) {
  const list = (by) => (f ? sorted(f[by]) : []);
  const d = f ? f.decisions : {};
  return [
    { title: 'Outcome', key_: 'decision',
      list: outcomes.map((w) => [w, d[' ' + w] || 0]).filter(([w, n]) => n || !rare.has(w)) },
    { title: 'Agent', key_: 'agent', list: list('agents') },
    { title: 'Tool', key_: 'tool', list: list('tools') },
    { title: 'Decided by', key_: 'hook', list: list('hooks') },
  ];
}

// ofRows counts the rows that were read: runs and events are counted nowhere else.
function ofRows(kind) {
  const by = { result: {}, hook: {}, event: {}, tool: {}, agent: {} };
  const add = (map, name) => { if (name) map[' ' + name] = (map[' ' + name] || 0) + 1; };
  for (const r of feed.rows.slice(0, 5000)) {
    add(by.result, r.result);
    add(by.hook, r.hook);
    add(by.event, r.event);
    add(by.tool, r.tool);
    add(by.agent, r.agent_name || r.dialect);
  }
  const of = kind === 'runs' ? [['Result', 'result'], ['Hook', 'hook'], ['Tool', 'tool']]
    : [['Event', 'event'], ['Agent', 'agent'], ['Tool', 'tool']];
  return of.map(([title, key_]) => ({ title, key_, list: sorted(by[key_]), single: true }));
}

function Facet({ text, title, key_, list, single }) {
  const [all, setAll] = useState(false);
  const shown = all || list.length <= 6 ? list : list.slice(0, 5);
  const rest = list.slice(shown.length);
  // Back returns from it
  const pick = (name) => go('stream', { ...route.value.p, q: single ? set(text, key_, has(text, key_, name) ? '' : name)
    : toggle(text, key_, name), open: '', at: '' });
  if (!list.length) return '';
  return html`<section><h2>${title}</h2>${shown.map(([name, n]) => {
    const on = has(text, key_, name);
    const state = key_ === 'decision' ? stateOf({ decision: name }) : null;
    return html`<button type="button" key=${name} class=${'facet ' + (state && n ? state[2] : '') + (n ? '' : ' zero')}
      aria-pressed=${on} onClick=${() => pick(name)} disabled=${name === '(others)'}>
      ${state && html`<${Icon} name=${state[0]} />`}<span class="name" title=${name}>
        ${key_ === 'agent' ? agentLabel(name) : name}</span><span class="n">${number(n)}</span></button>`;
  })}${rest.length > 0 && html`<button type="button" class="facet t" onClick=${() => setAll(true)}>
    <span class="name">${rest.length} more</span><span class="n">${number(rest.reduce((s, r) => s + r[1], 0))}</span>
  </button>`}</section>`;
}

