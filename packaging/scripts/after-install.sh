#!/bin/sh
# Runs after a package was installed. After an upgrade it restarts hookd where it runs, for the system and
# for each user: else a daemon of the version before goes on. It starts nothing that did not run.
[ -z "${DPKG_ROOT:-}" ] && [ -d "${HOOKD_RUN:-/run}/systemd/system" ] || exit 0
systemctl daemon-reload || true
case ${1:-}:${2:-} in
  configure:?*) ;;      # Debian: the version before
  [2-9]:* | [1-9][0-9]*:*) ;; # Fedora: how many versions there are
  *) exit 0 ;;
esac
systemctl try-restart hookd.service || true
for dir in "${HOOKD_RUN:-/run}"/user/[0-9]*; do
  [ -e "$dir/systemd/private" ] || continue
  user=$(id -nu "${dir##*/}") || continue
  systemctl --user --machine="$user@" daemon-reload || true
  systemctl --user --machine="$user@" try-restart hookd.service || true
done
exit 0
