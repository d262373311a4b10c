#!/bin/sh
# Shows what hookd does: a daemon on a temporary home runs the hooks of
# testdata/hooks for real events. Nothing of it stays. What the demo says it
# checks: it fails when it is not so.
set -eu

cd "$(dirname "$0")/.."
hookd=$(cd "$(dirname "${1:-bin/hookd}")" && pwd)/$(basename "${1:-bin/hookd}")
LIBREFANG_HOME=$(mktemp -d "${TMPDIR:-/tmp}/hkdemo.XXXXXX")
export LIBREFANG_HOME
unset HOOKD_SOCKET HOOKD_HOOKS_DIR SLACK_WEBHOOK_URL 2>/dev/null || true
log=$LIBREFANG_HOME/log
daemon=

finish() {
  trap - EXIT INT TERM
  if [ -n "$daemon" ] && kill "$daemon" 2>/dev/null; then
    wait "$daemon" 2>/dev/null || true
  fi
  rm -rf "$LIBREFANG_HOME"
}
trap finish EXIT
trap 'exit 130' INT TERM

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
if [ ! -t 1 ] || [ -n "${NO_COLOR:-}" ]; then
  say() { printf '\n%s\n' "$*"; }
fi
run() {
  printf '$ hookd'
  for word; do
    case $word in *[!A-Za-z0-9:_./=-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  printf '\n'
  "$hookd" "$@"
}
# alive PID: a process that has ended and is not reaped yet is not alive.
alive() {
  kill -0 "$1" 2>/dev/null || return 1
  case $(ps -o stat= -p "$1" 2>/dev/null) in Z*) return 1 ;; esac
}
broken() {
  echo "demo: $*" >&2
  echo "hint: the daemon's log follows" >&2
  cat "$log" >&2
  exit 1
}

say "1. The daemon starts on a temporary home with the hooks of testdata/hooks"
mkdir "$LIBREFANG_HOME/hooks"
cp -R testdata/hooks/*/ "$LIBREFANG_HOME/hooks/" 2>/dev/null
for hook in testdata/hooks/*/; do # some cp copy the contents of a folder that ends in a slash
  name=$(basename "$hook")
  [ -d "$LIBREFANG_HOME/hooks/$name" ] || cp -R "testdata/hooks/$name" "$LIBREFANG_HOME/hooks/$name"
done
"$hookd" serve 2>"$log" &
daemon=$!
tries=0
until "$hookd" status >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ "$tries" -lt 100 ] || broken "the daemon does not answer"
  sleep 0.1
done
run list

say "2. A hook that sleeps a minute, with two grandchildren: sent now, its deadline is 5 s"
"$hookd" emit demo:slow --wait >"$LIBREFANG_HOME/slow" &
slow=$!
echo "(in the background: hookd emit demo:slow --wait)"

say "3. An agent ends: observers run, the agent is never held up"
run emit agent:end --wait --data '{"agent_id":"a1","session_id":"s1","status":"ok","tokens_used":1234,"steps":3,"duration_ms":950,"response_preview":"Done."}'

say "4. A tool call is denied by a guard (exit code 1)"
code=0
run emit pre_tool_use --wait --data '{"tool_name":"shell","tool_input":{"cmd":"rm -rf build"}}' || code=$?
[ "$code" = 1 ] || broken "the guard did not deny: exit code $code"

say "5. A tool's result is rewritten before the model sees it"
run emit transform_tool_result --wait --data '{"tool_name":"shell","tool_output":"user=bob password=hunter2"}' >"$LIBREFANG_HOME/redact"
cat "$LIBREFANG_HOME/redact"
grep -q 'password=\[redacted\]' "$LIBREFANG_HOME/redact" || broken "the result was not rewritten"

say "6. The sleeper is killed at its deadline, with all that it started"
wait "$slow" || broken "emit demo:slow failed"
cat "$LIBREFANG_HOME/slow"
id=$(sed -n 's/^timeout .* \(01[0-9A-Z]*\).*/\1/p' "$LIBREFANG_HOME/slow")
[ -n "$id" ] || broken "the sleeper was not killed"
echo
run logs "$id" >"$LIBREFANG_HOME/run"
head -n 1 "$LIBREFANG_HOME/run"
sed -n '/^result/p;/^killed/p;/^  hook [0-9]/p;/^  grandchild/p' "$LIBREFANG_HOME/run"
sed -nE 's/^ *(hook|grandchild.*) ([0-9]+)$/\2/p' "$LIBREFANG_HOME/run" >"$LIBREFANG_HOME/pids"
while read -r pid; do
  if alive "$pid"; then broken "process $pid is still there"; fi
done <"$LIBREFANG_HOME/pids"
[ -s "$LIBREFANG_HOME/pids" ] || broken "the sleeper did not say who it was"
echo "none of these processes is left"

say "7. What ran, and what the daemon warned of"
run history
grep '"level":"warn"' "$log" || broken "no warning was logged"

say "8. The daemon stops"
kill "$daemon"
wait "$daemon" || broken "the daemon did not stop cleanly"
daemon=
echo "stopped; $LIBREFANG_HOME is removed"
