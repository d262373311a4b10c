// The editor of texts. CodeMirror is read when the first editor is shown. It makes its style sheets by script,
// which the page's policy allows in a shadow tree alone.
import { html, useEffect, useRef, useState } from './lib.js';
import { Late } from './parts.js';

let loading = null;
const load = () => { loading ||= import('./vendor/codemirror.js'); return loading; };

const modes = { yaml: 'yaml', yml: 'yaml', sh: 'shell', bash: 'shell', py: 'python', js: 'javascript',
  mjs: 'javascript' };

// languageOf is the language of a file: by its name, else by its first line.
function languageOf(cm, file, text) {
  const ending = file.slice(file.lastIndexOf('.') + 1);
  const program = /^#!.*?\b(bash|sh|python|node)/.exec(text)?.[1];
  const mode = modes[ending] || { bash: 'shell', sh: 'shell', python: 'python', node: 'javascript' }[program];
  return mode ? cm.StreamLanguage.define(cm[mode]) : [];
}

function look(cm) {
  const t = cm.tags;
  return [cm.EditorView.theme({
    '&': { color: 'var(--ink)', backgroundColor: 'var(--bg)', fontSize: '12px', maxHeight: 'min(560px, 70vh)' },
    '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', overflow: 'auto' },
    '.cm-content': { minHeight: '240px', caretColor: 'var(--ink)' },
    '.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--ink-3)', borderRight: '1px solid var(--line)' },
    '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--accent-soft)' },
    '&.cm-focused': { outline: 'none' },
    '.cm-cursor': { borderLeftColor: 'var(--ink)' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
      background: 'color-mix(in srgb, var(--accent) 25%, transparent) !important',
    },
    '.cm-tooltip': { backgroundColor: 'var(--bg)', color: 'var(--ink)', border: '1px solid var(--line-2)' },
    '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--bg)' },
    '.cm-completionInfo': { maxWidth: '320px' },
    '.cm-insertedLine, .cm-changedLine': { backgroundColor: 'var(--accent-soft) !important' },
    '.cm-deletedChunk': { backgroundColor: 'var(--deny-soft)' },
  }), cm.syntaxHighlighting(cm.HighlightStyle.define([
    { tag: [t.comment], color: 'var(--ink-3)', fontStyle: 'italic' },
    { tag: [t.propertyName, t.atom, t.definition(t.propertyName)], color: 'var(--ink-2)', fontWeight: '600' },
    { tag: [t.string, t.number], color: 'var(--accent)' },
    { tag: [t.keyword, t.meta], color: 'var(--ask)' },
  ]))];
}

// completing offers the words of a schema, with what each is for.
const completing = (words) => (context) => {
  const typed = context.matchBefore(/[a-z_]+/);
  return typed && words.length ? { from: typed.from, options: words, validFor: /^[a-z_]*$/ } : null;
};

// Code edits a text. onText gets it as it is typed; problems are [{line, message, warning}]; against is the text
// that it is compared with, '' = none; line is the line to go to, with any new object.
export function Code({ file, text, onText, problems = [], against, line, words = [], readOnly, keys = {} }) {
  const box = useRef(), view = useRef(), [cm, set] = useState(null);
  const now = useRef({}), told = useRef([]); // typed texts that have not come back as text
  now.current = { onText, words, keys, text };
  useEffect(() => { load().then(set); }, []);
  useEffect(() => {
    if (!cm) return undefined;
    const root = box.current.shadowRoot || box.current.attachShadow({ mode: 'open' });
    const press = (name) => ({ key: name, run: () => { now.current.keys[name]?.(); return true; } });
    const state = cm.EditorState.create({
      doc: text,
      extensions: [
        cm.keymap.of([press('Mod-s'), press('Mod-Enter')]), cm.lineNumbers(), cm.history(), cm.drawSelection(),
          cm.bracketMatching(),
        cm.highlightActiveLine(), cm.indentUnit.of('  '), cm.lintGutter(), languageOf(cm, file, text), look(cm),
        cm.keymap.of([...cm.completionKeymap, ...cm.defaultKeymap, ...cm.historyKeymap]),
        cm.autocompletion({ override: [(c) => completing(file.endsWith('.yaml') ? now.current.words : [])(c)],
          icons: false }),
        cm.EditorView.lineWrapping, cm.EditorState.readOnly.of(!!readOnly),
        cm.EditorView.contentAttributes.of({ 'aria-label': file, spellcheck: 'false' }),
        cm.EditorView.updateListener.of((u) => {
          if (!u.docChanged) return;
          const typed = u.state.doc.toString();
          if (typed !== now.current.text) told.current.push(typed);
          now.current.onText?.(typed);
        }),
        against === undefined ? [] : cm.unifiedMergeView({ original: against, mergeControls: false, gutter: false }),
      ],
    });
    told.current = [];
    view.current = new cm.EditorView({ state, parent: root, root });
    return () => { view.current.destroy(); view.current = null; };
  }, [cm, file, against, readOnly]);
  useEffect(() => { // another text than the ones that were typed here: those come back late where typing is fast
    const v = view.current, at = told.current.indexOf(text);
    told.current.splice(0, at + 1);
    if (v && at < 0
      && v.state.doc.toString() !== text) v.dispatch({ changes: { from: 0, to: v.state.doc.length, insert: text } });
  }, [cm, text]);
  useEffect(() => {
    const v = view.current;
    if (!v) return;
    v.dispatch(cm.setDiagnostics(v.state, problems.map((p) => {
      const l = v.state.doc.line(Math.max(1, Math.min(p.line || 1, v.state.doc.lines)));
      return { from: l.from, to: l.to, severity: p.warning ? 'warning' : 'error',
        message: p.message + (p.hint ? ' ' + p.hint : '') };
    })));
  }, [cm, problems]);
  useEffect(() => {
    const v = view.current;
    if (!v || !line?.line) return;
    const at = v.state.doc.line(Math.max(1, Math.min(line.line, v.state.doc.lines))).from;
    v.dispatch({ selection: { anchor: at }, scrollIntoView: true });
    v.focus();
  }, [cm, line]);
  return html`<div class="code" ref=${box} data-ready=${!!cm}></div>${!cm && html`<${Late} />`}`;
}
