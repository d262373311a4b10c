// The parts of CodeMirror that the editor of the page uses. update.sh bundles them.
export { EditorState, Compartment } from '@codemirror/state';
export { EditorView, keymap, lineNumbers, highlightActiveLine, drawSelection } from '@codemirror/view';
export { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
export { HighlightStyle, StreamLanguage, bracketMatching, indentUnit, syntaxHighlighting } from '@codemirror/language';
export { shell } from '@codemirror/legacy-modes/mode/shell';
export { yaml } from '@codemirror/legacy-modes/mode/yaml';
export { python } from '@codemirror/legacy-modes/mode/python';
export { javascript } from '@codemirror/legacy-modes/mode/javascript';
export { autocompletion, completionKeymap } from '@codemirror/autocomplete';
export { lintGutter, setDiagnostics } from '@codemirror/lint';
export { unifiedMergeView, getChunks } from '@codemirror/merge';
export { tags } from '@lezer/highlight';
