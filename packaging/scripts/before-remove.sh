#!/bin/sh
# Runs before a package is removed, not before an upgrade: it stops hookd for the system and for each user,
# and takes it out of what starts at boot. Homes and settings stay: `hookd init --undo` takes back what it did.
[ -z "${DPKG_ROOT:-}" ] && [ -d "${HOOKD_RUN:-/run}/systemd/system" ] || exit 0
case ${1:-} in remove | 0) ;; *) exit 0 ;; esac
systemctl disable --now hookd.service hookd.socket || true
for dir in "${HOOKD_RUN:-/run}"/user/[0-9]*; do
  [ -e "$dir/systemd/private" ] || continue
  user=$(id -nu "${dir##*/}") || continue
  systemctl --user --machine="$user@" disable --now hookd.service hookd.socket || true
done
exit 0
