// Edit: the files of a guard, its tests and the last week beside them. hookd reads, tests and asks the draft; nothing
// is in force before it is saved.
import { Code } from './code.js';
import { hooks } from './health.js';
import { keep, press } from './keys.js';
import { html, useEffect, useState } from './lib.js';
import { Refusal, about, ask, connection, post, segment } from './net.js';
import { Bad, Command, Empty, Icon, Late, State, say, useData } from './parts.js';
import { link, put, route } from './state.js';
import { Matrix, begin, now, quiet, stops } from './whatif.js';
import { hhmm, number, plural, when } from './words.js';

const rest = 300; // ms without a key before the draft is tested
const mostAsked = 1000; // past calls

// Drafts are kept in the tab, never in the address: an address does not bring a text along that would be run.
const draftKey = (hook) => 'edit ' + hook;
const draftOf = (hook) => { try {
  return JSON.parse(sessionStorage.getItem(draftKey(hook))) || {};
} catch { return {}; } };
function keepDraft(hook, draft) {
  try { sessionStorage.setItem(draftKey(hook), JSON.stringify(draft)); } catch { /* no room: it is not kept */ }
}

export function Edit() {
  const { p } = route.value, name = p.hook || '', [again, reread] = useState(0);
  useEffect(keep);
  const [got, err] = useData((signal) =>
    (about.value.act ? ask('texts', { query: { hook: name }, signal }) : Promise.resolve({})), [name, again]);
  if (!name) return html`<section class="view" id="edit"><${Empty}>
    <a class="link" href="#hooks">All guards</a></${Empty}></section>`;
  if (!about.value.act) {
    return html`<section class="view" id="edit"><${Empty}>
      <p class="s">This page only shows. Edit it with <${Command} text=${'hookd hook edit ' + name} />,
      or start the page with <code>hookd ui --act</code>.</p></${Empty}></section>`;
  }
  if (err) return html`<section class="view" id="edit"><${Bad} err=${err} /></section>`;
  if (!got) return html`<section class="view" id="edit"><${Late} /></section>`;
  if (!Object.keys(got.texts).length) {
    return html`<section class="view" id="edit"><${Empty}>
      <p class="s">${name} has no folder of its own: it is written in another file.</p></${Empty}></section>`;
  }
  return html`<${Editor} key=${name + again} name=${name} was=${got.texts} reread=${() => reread(again + 1)} />`;
}

const first = (files) => ['HOOK.yaml', ...files].find((f) => files.includes(f));

function Editor({ name, was, reread }) {
  const { p } = route.value, files = Object.keys(was).sort(), file = files.includes(p.file) ? p.file : first(files);
  const [draft, write] = useState(draftOf(name)), [jump, jumpTo] = useState(p.line ? { line: +p.line } : null);
  const [words, setWords] = useState([]);
  const edits = Object.fromEntries(Object.entries(draft).filter(([f, text]) => files.includes(f) && text !== was[f]));
  const checked = useChecked(name, edits), n = Object.keys(edits).length;
  useEffect(() => { ask('schema').then((s) => setWords(wordsOf(s)), () => {}); }, []);
  const change = (f, text) => write((d) => { const next = { ...d, [f]: text }; keepDraft(name, next); return next; });
  const discard = () => { write({}); keepDraft(name, {}); };
  const saved = () => { keepDraft(name, {}); say(name + ' is saved and in force', true); reread(); };
  const goTo = (line) => { put({ file: 'HOOK.yaml', show: '' }); jumpTo({ line }); };
  const text = edits[file] ?? was[file], show = p.show || '';
  const tab = (id, title) =>
    html`<a href=${link('edit', { ...p, show: id })} aria-current=${show === id ? 'true' : undefined}>${title}</a>`;
  return html`<section class="view" id="edit" aria-label=${'Edit ' + name}><div class="head"><div>
      <p class="crumb"><a href="#hooks">Guards</a> / <a href=${link('guard', { name })}>${name}</a> / edit</p>
      <h1>${name} <small>
        ${n ? 'a draft: nothing of it is in force until you save' : 'as it is on disk'}</small></h1></div>
    <div class="row"><span class="seg" role="group" aria-label="What is shown">
      ${tab('', 'Text')}${tab('diff', n ? 'Difference ' + n : 'Difference')}${tab('versions', 'Versions')}
      </span></div></div>
    <div class="edit2"><div>${show === 'versions' ? html`<${Versions} name=${name} files=${files} use=${(texts) => {
      write(texts);
      keepDraft(name, texts);
      put({ show: 'diff' });
    }} />` : html`
      <div class="files" role="group" aria-label="Files">${files.length > 1
        && files.map((f) => html`<a class=${f === file ? '' : 's'} href=${link('edit', { ...p, file: f })}
        aria-current=${f === file ? 'true' : undefined}>${f}${f in edits ? ' ·' : ''}</a>`)}</div>
      <${Code} key=${file + show} file=${file} text=${text} against=${show === 'diff' ? was[file] : undefined}
        words=${words} line=${jump}
        onText=${(t) => change(file, t)} problems=${(checked.answer?.problems || []).filter((x) => x.file === file)}
        keys=${{ 'Mod-Enter': checked.now, 'Mod-s': () => press('#edit [data-act=save]:not(:disabled)') }} />
      <p class="note t">Completes the words of a hook · <kbd>Ctrl</kbd> <kbd>Space</kbd> ·
        errors stand beside their line · <kbd>Ctrl</kbd> <kbd>Enter</kbd> tests again · <kbd>Esc</kbd> leaves the
          editor</p>`}</div>
    <div class="checks"><${Tests} checked=${checked} goTo=${goTo} />
      <${Past} name=${name} edits=${edits} ready=${checked.answer?.ok} /></div></div>
    <${Save} name=${name} was=${was} edits=${edits} checked=${checked} saved=${saved} discard=${discard}
      reread=${reread} /></section>`;
}

// wordsOf are the words of a schema, each once, with what it is for.
function wordsOf(schema) {
  const all = new Map();
  const walk = (node) => {
    if (!node || typeof node !== 'object') return;
    for (const [word, of] of Object.entries(node.properties || {})) {
      if (!all.has(word)) all.set(word, { label: word, info: of.description || '', type: 'property' });
    }
    for (const word of Array.isArray(node.enum) ? node.enum
      : []) if (typeof word === 'string' && !all.has(word)) all.set(word, { label: word, type: 'constant' });
    for (const value of Object.values(node)) walk(value);
  };
  walk(schema);
  return [...all.values()];
}

// useChecked tests the draft when no key was pressed for a moment: {answer, err, busy, now}.
function useChecked(name, edits) {
  const [state, set] = useState(/** @type {Checked} */ ({ busy: true })), [asked, askNow] = useState(0),
    key = JSON.stringify(edits);
  useEffect(() => {
    const abort = new AbortController();
    set((s) => ({ ...s, busy: true }));
    const timer = setTimeout(() => {
      ask('hooks/' + segment(name) + '/check', { method: 'POST', body: { texts: edits }, signal: abort.signal })
        .then((answer) => set({ answer, key }), (err) => { if (err instanceof Refusal) set({ err, key }); });
    }, asked ? 0 : rest);
    return () => { clearTimeout(timer); abort.abort(); };
  }, [key, asked]);
  return { ...state, busy: state.busy || state.key !== key, now: () => askNow((n) => n + 1) };
}

function Tests({ checked: { answer, err, busy }, goTo }) {
  const tests = answer?.tests?.tests || [], failed = tests.filter((t) => !t.ok), passed = tests.filter((t) => t.ok);
  const fail = failed.length === 1 ? 'fails' : 'fail';
  const sum = busy ? 'testing…'
    : !answer?.ok ? ''
    : !tests.length ? 'none in its file'
    : failed.length ? html`<b class="red">${failed.length} of ${tests.length} ${fail}</b>`
    : tests.length === 1 ? 'the one passes' : `all ${tests.length} pass`;
  const row = (t) => html`<li key=${t.line + t.name}>${t.ok ? html`<span class="s">
      <${Icon} name="allow" />passes</span>` : html`<b class="red"><${Icon} name="deny" />fails</b>`}
    <button type="button" class="plain" title=${t.name} onClick=${() => goTo(t.line)}>
      <code>${t.subject || t.name}</code>${
      t.name && t.subject && html`<span class="s"> ${t.name}</span>`}</button>
    <span class=${t.ok ? 's' : 'red'} title=${t.why || ''}>
      ${t.ok ? t.got : `expected ${t.expect}, is ${t.got}`}</span></li>`;
  return html`<h2>Tests <span role="status">${sum}</span></h2>
    ${err && html`<p class="red" role="alert"><${Icon} name="fail" />${err.message}</p>`}
    ${(answer?.problems || []).slice(0, 6)
      .map((x) => html`<p class=${x.warning ? 'amber' : 'red'}><${Icon} name="fail" />${x.line
      ? html`<button type="button" class="plain link" onClick=${() => goTo(x.line)}>line ${x.line}</button>: `
      : ''}${x.message} <span class="s">${x.hint || ''}</span></p>`)}
    <ul>${failed.map(row)}${passed.slice(0, failed.length ? 4 : 12).map(row)}
      ${passed.length > (failed.length ? 4 : 12) && html`<li><span class="s"><${Icon} name="allow" />pass</span>
        <span>${passed.length - (failed.length ? 4 : 12)} more</span><span class="s">as expected</span></li>`}</ul>`;
}

// Past asks the draft about the last week, once it can be read. The next key stops it.
function Past({ name, edits, ready }) {
  const [got, set] = useState(null), [err, setErr] = useState(null), [wanted, want] = useState(false),
    key = JSON.stringify(edits);
  const h = (hooks.value || []).find((x) => x.name === name), rules = h && h.type === "rules",
    asks = ready && (rules || wanted);
  useEffect(() => {
    set(null); setErr(null);
    if (!asks) return undefined;
    let over = false, timer = 0, id = '';
    const look = (a) => {
      if (over) return;
      id = a.id;
      set(a);
      if (a.running) timer = setTimeout(() => ask('whatif/' + segment(id)).then(look, fails), 300);
    };
    const fails = (e) => { if (!(e instanceof Refusal)) throw e; if (!over) setErr(e); };
    timer = setTimeout(() => post('whatif', { hook: name, texts: edits, since: '7d', limit: mostAsked })
      .then(look, fails), rest);
    return () => {
      over = true;
      clearTimeout(timer);
      if (id) post('whatif/' + segment(id) + '/stop', {}).catch(() => {});
    };
  }, [key, asks]);
  const s = got?.sum, changes = s?.changes || [];
  const parts = s && s.cut + s.redacted ? `, ${number(s.cut + s.redacted)} kept only in part` : '';
  const sum = !asks ? ''
    : !s || got.running ? `asking… ${s ? number(s.asked) : ''}` : `${plural(s.asked, 'call')} asked again${parts}`;
  return html`<h2>What if, last 7 days <span role="status">${sum}</span></h2>
    ${err && html`<p class="red" role="alert"><${Icon} name="fail" />${err.message}</p>`}
    ${got?.error && html`<p class="red" role="alert"><${Icon} name="fail" />${got.error}</p>`}
    ${ready && !asks && h && html`<p>
      <button type="button" onClick=${() => want(true)}>Ask it about the last week</button> <span class="t">it runs for
        each call, at most ${number(mostAsked)}</span></p>`}
    ${s && html`<${Matrix} counts=${s.counts} p=${{ hook: name, job: got.id }} />
      ${!changes.length && !got.running
        && html`<p class="s">${s.asked ? 'Nothing would change.' : 'No call of that time is one that it is for.'}</p>`}
      <${Shifts} title="Would pass now" list=${changes.filter((c) => stops(c.then) && !stops(c.now))} />
      <${Shifts} title="Would be stopped or asked now"
          list=${changes.filter((c) => stops(c.now) && c.now !== c.then)} />`}`;
}

// Shifts are calls that would be decided in another way, those of one kind together.
function Shifts({ title, list }) {
  const kinds = new Map();
  for (const c of list) { const k = begin(c) + ' ' + c.then + c.now; kinds.set(k, [...(kinds.get(k) || []), c]); }
  if (!list.length) return '';
  return html`<h3>${title} <span class="t">${plural(list.length, 'call')}, ${plural(kinds.size, 'kind')}</span></h3>
    <ul>${[...kinds.values()].sort((a, b) => b.length - a.length).slice(0, 12)
      .map((of) => html`<li class="shift"><span class="s num">${number(of.length)} ×</span>
      <code title=${of[0].subject}>${of[0].subject}</code><span>
          <${State} is=${quiet(of[0].then)} /> → <${State} is=${now(of[0])} /></span></li>`)}</ul>`;
}

function Save({ name, was, edits, checked: { answer, busy }, saved, discard, reread }) {
  const [why, setWhy] = useState(null), [state, set] = useState({});
  const tests = answer?.tests, failing = tests?.failed || 0, n = Object.keys(edits).length;
  const off = !n || busy || !answer?.ok || state.busy || connection.value.state !== 'on';
  const send = async (texts, reason = '') => {
    set({ busy: true });
    try {
      await post('hooks/' + segment(name) + '/save', { texts, was, reason });
      set({});
      saved();
    } catch (err) {
      if (!(err instanceof Refusal)) throw err;
      set({ bad: err.message, conflict: err.code === 'changed' });
      say(err.message, true);
    }
  };
  const shadowed = () => {
    const yaml = edits['HOOK.yaml'] ?? was['HOOK.yaml'];
    return { ...edits, 'HOOK.yaml': /^shadow:.*$/m.test(yaml) ? yaml.replace(/^shadow:.*$/m, 'shadow: true')
      : yaml.replace(/\n?$/, '\nshadow: true\n') };
  };
  const note = !n ? 'Nothing is changed yet.' : busy ? 'Testing…' : !answer?.ok ? 'It cannot be read: mend it first.'
    : failing ? `${plural(failing, 'test')} ${failing === 1 ? 'fails' : 'fail'}. Save opens when all pass, or`
      : 'It is in force as soon as it is saved.';
  return html`<div class="savebar"><button type="button" data-act="save" disabled=${off || failing > 0}
    onClick=${() => send(edits)}>Save and allow <kbd>Ctrl S</kbd></button>
    <button type="button" data-act="shadow" disabled=${off}
      onClick=${() => send(shadowed(), failing ? 'only in the shadow' : '')}>Save as shadow</button>
    ${n > 0 && html`<button type="button" class="plain" onClick=${discard}>Discard</button>`}
      <span class="s" role="status">${note}</span>
    ${n > 0 && answer?.ok && failing > 0 && (why === null
      ? html`<button type="button" class="plain link" onClick=${() => setWhy('')}>save with a failing test…</button>`
      : html`<input type="text" aria-label="Why it is saved with a failing test" placeholder="why? it stays on record"
        value=${why} onInput=${(e) => setWhy(e.target.value)} />
        <button type="button" data-act="save-failing" disabled=${off || !why.trim()}
            onClick=${() => send(edits, why)}>Save all the same</button>`)}
    ${state.bad && html`<span class="red" role="alert">${state.bad}</span>`}
    ${state.conflict && html`<button type="button" class="plain link" onClick=${() => {
      discard();
      reread();
    }}>take theirs</button>
      <button type="button" class="plain link" onClick=${() => {
        put({ show: 'diff' });
        reread();
      }}>keep mine, and compare</button>`}</div>`;
}

// allower shortens the record of an approval: the user, whether it came from the page, and why with failing tests.
function allower(by) {
  const why = /with \d+ failing tests: .*?(?=\))/.exec(by);
  return by.split(' (')[0] + (by.includes('door page') ? ' on the page' : '') + (why ? ': ' + why[0] : '');
}

// Versions are the allowed versions, each with its difference from the version before.
function Versions({ name, files, use }) {
  const [got, err] = useData((signal) => ask('versions/' + segment(name), { signal }), [name]),
    [open, set] = useState('');
  if (err) return html`<${Bad} err=${err} />`;
  if (!got) return html`<${Late} />`;
  if (!got.length) return html`<p class="nothing s">No version was allowed yet. Each that is saved here, or allowed, is
    kept to be compared.</p>`;
  return html`<ul class="checks">${got.map((v, i) => html`<li key=${v.digest} class="shift"><b>${got.length - i}</b>
      <span title=${v.by}>${when(v.at, hhmm)} <span class="s">${allower(v.by)}</span></span>
      <span>${v.diffs.length > 0 && html`<button type="button" class="plain link" aria-expanded=${open === v.digest}
          onClick=${() => set(open === v.digest ? '' : v.digest)}>Difference</button>`}
        ${i > 0 && html` <button type="button" class="plain link"
          onClick=${() => use(Object.fromEntries(Object.entries(v.texts).filter(([f]) => files.includes(f))))}
        >Take it as a draft</button>`}</span></li>
    ${open === v.digest
      && v.diffs.map((d) => html`<div class="diff" tabindex="0"><div class="h">${d.path}</div>${d.lines.map((l) =>
      html`<div class=${{ '+': 'a', '-': 'd' }[l[0]] || ''}>${l[0] === '-' ? '−' : l[0]} ${l.slice(1)}</div>`)}
          </div>`)}`)}</ul>`;
}
