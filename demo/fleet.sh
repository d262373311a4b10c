#!/bin/sh
# Three machines on one: a server, hooks that run once or on each of them, and what
# happens when one is killed. Takes the folder of the programs; leaves nothing behind.
set -eu
bin=$(cd "${1:-bin}" && pwd)
dir=$(mktemp -d /tmp/hookd-fleet.XXXXXX)
pids=
cleanup() {
	# shellcheck disable=SC2086 # several numbers
	[ -z "$pids" ] || kill $pids 2>/dev/null || true
	wait 2>/dev/null || true
	rm -rf "$dir"
}
trap cleanup EXIT INT TERM
port=$((20000 + $$ % 20000))

say() { printf '\n# %s\n' "$*"; }
on() { m=$1; shift; LIBREFANG_HOME="$dir/$m" "$bin/hookd" "$@"; }
ran() { cat "$dir"/*.log 2>/dev/null | grep -c "^$1" || true; }
until_ran() { # HOOK COUNT
	n=0
	while [ "$(ran "$1")" -lt "$2" ]; do
		n=$((n + 1)); [ $n -lt 600 ] || { echo "only $(ran "$1") of $2 runs of $1" >&2; exit 1; }
		sleep 0.1
	done
}

for m in one two three; do
	for scope in fleet every; do
		mkdir -p "$dir/$m/hooks/$scope"
		cat >"$dir/$m/hooks/$scope/HOOK.yaml" <<-YAML
			name: $scope
			events: ["demo:*"]
			scope: $scope
			type: script
			script: 'echo "$scope \$HOOK_EVENT_DATA" >> "$dir/$m.log"'
		YAML
	done
	embedded=; [ $m != one ] || embedded="embedded: true, "
	echo "fleet: {${embedded}name: $m, servers: [nats://127.0.0.1:$port], creds: $dir/one/hookd/fleet/machine.nk}" >"$dir/$m/hookd.yaml"
done

start() {
	LIBREFANG_HOME="$dir/$1" "$bin/hookd" serve >"$dir/$1.out" 2>&1 &
	pids="$pids $!"
	last=$!
	until on "$1" fleet status 2>/dev/null | grep -q "^$1 .*here"; do sleep 0.2; done
}

say "three machines; the first runs the server"
for m in one two three; do start $m; done
three=$last
on one fleet status

say "20 events on one: a hook of scope fleet runs once for each, one of scope every on each machine"
for i in $(seq 20); do on one emit demo:event --data "{\"n\":$i}" >/dev/null; done
until_ran fleet 20
until_ran every 60
for m in one two three; do echo "$m: $(grep -c ^fleet "$dir/$m.log" || true) of scope fleet, $(grep -c ^every "$dir/$m.log" || true) of scope every"; done

say "three is killed, and 20 more events come"
kill -9 "$three"
for i in $(seq 21 40); do on one emit demo:event --data "{\"n\":$i}" >/dev/null; done
until_ran every 100

say "three comes back and catches up"
start three
until_ran every 120
until_ran fleet 40
echo "runs of scope fleet: $(ran fleet) of 40 events, $(cat "$dir"/*.log | grep ^fleet | sort -u | grep -c .) different; of scope every: $(ran every) of 120"
on two fleet status
