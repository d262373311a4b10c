#!/bin/sh
# Runs before the package hookd-fleet is removed, not before an upgrade: it takes the timer out of what starts
# at boot.
[ -z "${DPKG_ROOT:-}" ] && [ -d "${HOOKD_RUN:-/run}/systemd/system" ] || exit 0
case ${1:-} in remove | 0) ;; *) exit 0 ;; esac
systemctl disable --now hookd-fleet-users.timer || true
exit 0
