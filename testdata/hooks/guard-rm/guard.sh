#!/bin/sh
# The whole call is on stdin; HOOK_EVENT_DATA may be shortened. Inside the JSON
# text a line break is written \n and a tab \t.
set -u
blank='([[:space:]]|\\[nt])+'
flag='-[-[:alnum:]=]+'
recursive='-([[:alpha:]]*[rR][[:alpha:]]*|-recursive)'
force='-([[:alpha:]]*f[[:alpha:]]*|-force)'
both='-[[:alpha:]]*([rR][[:alpha:]]*f|f[[:alpha:]]*[rR])[[:alpha:]]*'
flags="($both|$recursive$blank($flag$blank)*$force|$force$blank($flag$blank)*$recursive)"

grep -Eq "(^|[^[:alnum:]_.-]|\\\\[nt])rm$blank($flag$blank)*$flags"
case $? in
  0) echo "guard-rm: rm -rf is not allowed here; remove files by name, or move them away" >&2; exit 2 ;;
  1) exit 0 ;;
  *) echo "guard-rm: cannot read the tool call" >&2; exit 2 ;; # a guard that cannot look does not allow
esac
