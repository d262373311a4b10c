#!/bin/sh
# Runs after hookd-fleet or hookd-fleet-server was removed, not after an upgrade: hookd starts again without the
# program, where it runs, and says what to install.
[ -z "${DPKG_ROOT:-}" ] && [ -d "${HOOKD_RUN:-/run}/systemd/system" ] || exit 0
case ${1:-} in remove | 0) ;; *) exit 0 ;; esac
systemctl daemon-reload || true
systemctl try-restart hookd.service || true
for dir in "${HOOKD_RUN:-/run}"/user/[0-9]*; do
  [ -e "$dir/systemd/private" ] || continue
  user=$(id -nu "${dir##*/}") || continue
  systemctl --user --machine="$user@" try-restart hookd.service || true
done
exit 0
