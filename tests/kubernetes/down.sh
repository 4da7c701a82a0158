#!/bin/bash
# Ends the cluster that up.sh started, if it runs, and removes what is left of it.
set -uo pipefail
. "$(dirname "$0")/settings.sh"
# up.sh has the lock when it calls this.
if [ "${1:-}" != locked ]; then
  exec 9>"$STATE.lock"
  flock 9
fi

if id=$(cluster); then
  kill -KILL "$id"
  # The kernel ends whatever is in its process namespace; the files are free when the last is gone.
  for _ in $(seq 100); do
    cluster >/dev/null || break
    sleep 0.1
  done
fi

# A cgroup can go when the last process in it was reaped.
for _ in $(seq 50); do
  left=
  for controller in $CONTROLLERS; do
    top=/sys/fs/cgroup/$controller/$CGROUP
    [ -d "$top" ] || continue
    find "$top" -depth -type d -exec rmdir {} + 2>/dev/null
    [ -d "$top" ] && left=1
  done
  [ -z "$left" ] && break
  sleep 0.1
done
[ -z "$left" ] || echo "cgroups $CGROUP are still in use" >&2

rm -rf --one-file-system "$STATE"
