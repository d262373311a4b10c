#!/usr/bin/env python3
"""{{.Name}}: runs for {{.EventsText}}.

`handle` is given each event and answers it: hookd.deny(reason), ask(reason),
allow(), context(text), rewrite(value), or None for no opinion. An exception is a
failure. What is printed goes to stderr: `hookd log output RUN` shows it. The same
file works with `mode: spawn` and `mode: persistent`.
"""
import hookd


def handle(event):
    print(event.name, event.tool, event.data)
    for command in event.commands:  # each command that the call runs
        if command.program == "sudo":
            return hookd.deny("no sudo: ask me to do it")
    return None


hookd.run(handle)
