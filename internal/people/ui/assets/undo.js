// Undo: the calls that can be taken back, with what does not come back. Grants: answers that are remembered, until
// when.
import { Undo as Plan, lost } from './call.js';
import { Grant } from './guard.js';
import { keep, useRows } from './keys.js';
import { html, useEffect, useState } from './lib.js';
import { about, ask } from './net.js';
import { Bad, Clock, Command, Empty, Late, Table, Td, say, useData } from './parts.js';
import { link, put, route } from './state.js';
import { agentLabel, bytes, home, last, number, plural, short, when, hhmm } from './words.js';

const outcome = (c) => {
  if (c.undone) return html`<span class="s">
    ${c.undone.word === 'all' ? 'is back' : 'is back in part'}, ${when(c.undone.time, hhmm)}</span>`;
  const gone = (c.lost || []).reduce((n, l) => n + (l.count || 1), 0);
  return gone ? html`<span class="red" title=${c.lost.map((l) => l.what + ': ' + l.why).join('\n')}>${gone}
    <span class="nx"> not back</span></span>`
    : html`<span class="t">–</span>`;
};

export function Undo() {
  const { p } = route.value, [again, reread] = useState(0), [note, tell] = useState('');
  const [got, err] =
    useData((signal) => ask('v1/undo', { query: { limit: 200, path: p.path }, signal }), [p.path, again]);
  useEffect(keep);
  const list = got?.calls || [];
  const [at, select] = useRows(list, (c) => c.id, {
    enter: (i) => (i < 0 ? select(0) : select(i, route.value.p.open !== list[i].id)), clear: ['open', 'sel', 'path'],
      y: (c) => c?.id,
  });
  if (err) return html`<section class="view" id="undo"><${Bad} err=${err} /></section>`;
  if (!got) return html`<section class="view" id="undo"><${Late} /></section>`;
  const done = (text) => { tell(text); say(text, true); reread(again + 1); };
  return html`<section class="view" id="undo" aria-label="Undo"><div class="bar">
    <h1>${plural(list.length, 'call')} <small>can be taken back · ${bytes(got.bytes)} kept</small></h1>
      <label class="search find"><span class="t" aria-hidden="true">/</span><input type="text" value=${p.path || ''}
        placeholder="a path that was changed" aria-label="A path that was changed"
        onChange=${(e) => put({ path: e.target.value.trim(), open: '', sel: '' })} spellcheck="false" /></label></div>
    ${note && html`<p class="nothing s" role="status">${note}</p>`}
    ${!list.length ? html`<${Empty}><p class="s">${p.path ? html`Nothing was kept of <code>${p.path}</code>.`
        : 'Nothing was destroyed that hookd has kept.'}</p></${Empty}>` : html`
    <${Table} label="Calls that can be taken back" cols=${['n-time', 'w-who', '', 'n-num', 'w-state', 'w-agent']}
      head=${['Time', 'Who', 'What', 'Back', 'Not back', 'Until']}>
      ${list.map((c) => { const open = p.open === c.id; return html`<tr role="row" key=${c.id} data-id=${c.id}
          tabindex=${c === list[Math.max(0, at)] ? 0 : -1} aria-selected=${open || p.sel === c.id}
          class=${open || p.sel === c.id ? 'sel' : ''} onClick=${() => select(list.indexOf(c), !open)}>
            <${Td} class="when mono f-time"><${Clock} t=${c.time} /></${Td}>
          <${Td} class="f-who">${agentLabel(c.agent || '')} <span class="t">${last(c.cwd)}</span></${Td}>
            <${Td} class="f-wide"><span class="tool">${c.tool}</span>
            <code title=${c.subject}>${c.subject || ''}</code></${Td}>
          <${Td} class="num f-state">${number(c.files)}<span class="nx"> back</span></${Td}>
            <${Td} class="f-why">${outcome(c)}</${Td}><${Td} class="t f-hide">${when(c.until, hhmm)}</${Td}></tr>
        ${open && html`<tr role="row" class="open"><${Td} colspan="6"><div class="kept">
          <p class="s">${plural(c.files, 'file')}, ${bytes(c.bytes)}, in <code>${home(c.cwd)}</code></p>
          ${(c.lost || []).map(lost)}
          ${(c.dumps || []).map((d) => html`<p class="s">${d.name}, ${bytes(d.size)}${d.restore
              ? html`: <${Command} text=${d.restore.replace('{}', d.path)} />` : ''}</p>`)}
          <div class="row">${about.value.act ? html`<${Plan} id=${c.id} done=${done} />`
            : html`<${Command} text=${'hookd undo ' + short(c.id)} />`}
            <a class="link" href=${link('call', { id: c.id })}>Call</a></div></div></${Td}>
                </tr>`}`; })}</${Table}>`}</section>`;
}

export function Grants() {
  const [got, err] = useData((signal) => ask('v1/grants', { signal }), []), list = got?.grants || [];
  useEffect(keep);
  if (err) return html`<section class="view" id="grants"><${Bad} err=${err} /></section>`;
  if (!got) return html`<section class="view" id="grants"><${Late} /></section>`;
  const kinds = [['Answer calls now', list.filter((g) => !g.void)], ['Void', list.filter((g) => g.void)]];
  return html`<section class="view" id="grants" aria-label="Grants"><div class="bar">
    <h1>${plural(list.length, 'grant')} <small>answers that are remembered</small></h1></div>
    ${!list.length && html`<${Empty}><p class="s">No answer is remembered. One that you give for longer than a call
      stands here, with its end.</p></${Empty}>`}
    ${kinds.filter(([, of]) => of.length).map(([title, of]) => html`<h2>${title}</h2>
        ${of.map((x) => html`<${Grant} key=${x.id} x=${x} hook=${true} />`)}`)}</section>`;
}
