#!/usr/bin/env {{or .Runtime "node"}}
// {{.Name}}: runs for {{.EventsText}}.
//
// The function is given each event and answers it: deny(reason), ask(reason),
// allow(), context(text), rewrite(value), or nothing for no opinion. An exception
// is a failure. What is printed goes to stderr: `hookd log output RUN` shows it. The
// same file works with `mode: spawn` and `mode: persistent`.
import { run, deny } from "{{.Module}}";

run((event) => {
  console.log(event.name, event.tool, JSON.stringify(event.data));
  for (const command of event.commands) { // each command that the call runs
    if (command.program === "sudo") return deny("no sudo: ask me to do it");
  }
});
