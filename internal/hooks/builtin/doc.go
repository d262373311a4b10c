// Package builtin holds the hooks that are written in Go: docker-agent's
// built-ins, those of its newest source too. Each is one file and one line in the
// list below.
//
// A built-in answers with the bytes that a docker-agent command hook would
// print, so package verdict reads it by the same rules. Empty bytes are no
// opinion. An error is a failure of the hook: the runner applies the
// hook's on_error and the event's fail-closed rule. A panic inside a built-in
// comes back as an error. Built-ins hold no state between calls but the files that
// snapshot and limit_large_tool_results keep on disk; calls may run side by
// side. Nothing outlives a call, and a call ends soon after its context does.
//
// Texts, caps and arguments are docker-agent's. Where hookd differs, on purpose:
//
//   - safer_shell decides (ask), as docker-agent's documentation says; its newest
//     source only labels. It judges by the facts of the call and the rules of the gallery's
//     guards. In docker-agent's own events it asks about all that is not reading, as
//     documented; elsewhere only in doubt and about the calls that those rules name.
//   - redact_secrets works on the field that the event's contract lets hooks
//     rewrite, so it serves every dialect's events and not only docker-agent's.
//   - limit_large_tool_results writes below the data directory, which is the
//     user's alone, instead of a well-known name in the shared temporary
//     directory; without a data directory it is in the temporary one.
//   - http_post refuses private, loopback and other non-public addresses, as
//     docker-agent does, when it dials and after every redirect. Hookd is a local
//     program and a person may well want to reach a local one: the third
//     argument "allow_private" lifts the rule for that hook. Without a second
//     argument the event's payload is posted.
//   - Context is given as additional_context, never as plain text, so a file that
//     begins with a brace is not taken for protocol.
package builtin
