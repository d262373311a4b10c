#!/bin/sh
# Says who it is and whom it started, so that one can see that all are gone.
echo "hook $$"
sleep 60 &
echo "grandchild $!"
if command -v setsid > /dev/null; then
  setsid sleep 60 &
  echo "grandchild in its own session $!"
fi
sleep 60
