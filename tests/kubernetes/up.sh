#!/bin/bash
# Starts the cluster, where it does not run: a control plane and two nodes, each with a network, a host name, a
# dockerd and a kubelet of its own. It is one process with what is below it, in a process namespace, among mounts and
# networks that nobody else sees: when that process ends, for whatever reason, nothing of it is left but files.
#
# Prints nothing and succeeds when it runs. What it takes: build.sh's programs, etcd-server, docker.io,
# containernetworking-plugins, busybox-static, iproute2, openssl.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/settings.sh"

exec 9>"$STATE.lock"
flock 9

# One that other scripts made is another one.
made_by=$(cat "$here"/*.sh | cksum)
ready() {
  [ "$(cat "$STATE/ready" 2>/dev/null)" = "$made_by" ] && cluster >/dev/null && admin get --raw /readyz >/dev/null 2>&1
}
ready && exit 0

# One that is not ready was killed, or its start was.
"$here/down.sh" locked
mkdir -p "$STATE"/{log,net,identity}
"$here/identities.sh"

# The parent, which does nothing but wait, is what is remembered: with it the kernel ends the whole.
setsid unshare --pid --fork --kill-child --mount --propagation private --mount-proc \
  "$here/cluster.sh" >"$STATE/log/cluster" 2>&1 </dev/null 9>&- &
id=$!
echo "$id $(began "$id")" >"$STATE/cluster"

failed() {
  echo "the cluster does not start: $1"
  tail -n 5 "$STATE"/log/* | cut -c 1-300
  "$here/down.sh" locked
  exit 1
} >&2

deadline=$((SECONDS + 120))
wanted=$(set -- $NODES; echo $#)
# A node that is ready takes Pods when it is not marked any more as one that is not.
nodes='{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{.spec.taints}{"\n"}{end}'
until [ "$(admin get nodes --output "jsonpath=$nodes" 2>/dev/null | grep -cx True)" = "$wanted" ]; do
  cluster >/dev/null || failed "it ended"
  [ "$SECONDS" -lt "$deadline" ] || failed "its nodes are not ready after two minutes"
  sleep 0.3
done
echo "$made_by" >"$STATE/ready"
