#!/usr/bin/env node
// Starts the program of this name out of the package that has the binaries for
// this system, and ends as it ends.
"use strict"

const { spawn } = require("node:child_process")
const path = require("node:path")

const name = path.basename(__filename, ".js")
const system = `@hookd/${process.platform}-${process.arch}`
let program
try {
  program = path.join(path.dirname(require.resolve(`${system}/package.json`)), "bin", name)
} catch {
  console.error(`hookd: there is no package ${system}: install hookd without --omit=optional, or from its sources`)
  process.exit(1)
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" })
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
child.on("error", (error) => {
  console.error(`hookd: ${error.message}`)
  process.exit(1)
})
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
    return
  }
  process.exit(code)
})
