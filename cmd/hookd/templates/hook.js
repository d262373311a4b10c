#!/usr/bin/env node
// {{.Name}}: runs for {{.EventsText}}.
//
// Given: one JSON object on stdin with the event's data, hook_event_name,
// session_id, cwd and event_id; the name and the data also in HOOK_EVENT and
// HOOK_EVENT_DATA. Exit 0: fine. Exit 2 with a reason on stderr: no, where the
// event can be blocked. Anything else is a failure. `hookd logs RUN` shows
// what you print.
"use strict";
const fs = require("fs");

const payload = JSON.parse(fs.readFileSync(0, "utf8"));
console.error(`${payload.hook_event_name}: ${JSON.stringify(payload)}`);
