// Package sdk holds the files with which hooks and senders are written in Python
// and TypeScript, as they are in the binary. `hookd new` puts them beside a hook.
//
// Each is one file without dependencies. The two say the same: a mistake in one is a
// mistake in the other. Their tables are made from the contract table, by a test of
// internal/contract/dialect. They read the facts of a call from the payload.
package sdk

import _ "embed"

// Python is hookd.py, for Python 3.8 and newer.
//
//go:embed python/hookd.py
var Python string

// PythonTypes is hookd.pyi, the types of hookd.py for editors and type checkers.
//
//go:embed python/hookd.pyi
var PythonTypes string

// TypeScript is hookd.ts, for bun, deno, and node where that takes types.
//
//go:embed typescript/hookd.ts
var TypeScript string

// JavaScript is hookd.mjs, hookd.ts without its types, for every node.
//
//go:embed typescript/hookd.mjs
var JavaScript string
