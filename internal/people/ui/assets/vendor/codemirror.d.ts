// The editor is read when one is opened; ../../editor/entry.js names its parts.
declare const any: any;
export = any;
