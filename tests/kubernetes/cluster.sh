#!/bin/bash
# The cluster itself: process 1 of its process namespace. It ends when any of its parts does, and they with it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/settings.sh"

# A database that nobody needs after this process: in memory, where nothing waits for a disk.
mkdir -p "$STATE/etcd"
mount -t tmpfs -o mode=0700 etcd "$STATE/etcd"

# Networks are kept by name in a folder that is ours alone.
mount -t tmpfs netns /run/netns 2>/dev/null || { mkdir -p /run/netns; mount -t tmpfs netns /run/netns; }
network() {
  ip netns add "$1"
  ip -n "$1" link set lo up
  touch "$STATE/net/$1"
  mount --bind "/run/netns/$1" "$STATE/net/$1"
}
network control
ip -n control link add nodes type bridge
ip -n control addr add "$NETWORK.1/24" dev nodes
ip -n control link set nodes up
for node in $NODES; do
  network "node$node"
  ip -n control link add "node$node" type veth peer name eth0 netns "node$node"
  ip -n control link set "node$node" master nodes up
  ip -n "node$node" addr add "$NETWORK.$((10 + node))/24" dev eth0
  ip -n "node$node" link set eth0 up
  ip -n "node$node" route add default via "$NETWORK.1"
done

part() {
  local name=$1
  shift
  "$@" >"$STATE/log/$name" 2>&1 </dev/null &
}
control() {
  part "$1" nsenter --net=/run/netns/control "${@:2}"
}

control etcd etcd --data-dir "$STATE/etcd/data" --log-level warn \
  --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
  --listen-peer-urls http://127.0.0.1:2380 --heartbeat-interval 500 --election-timeout 5000

# PodNodeSelector: a namespace of a test says which node it is for, whatever the Pods in it ask.
control apiserver "$BIN/kube-apiserver" \
  --etcd-servers=http://127.0.0.1:2379 --bind-address="$NETWORK.1" --advertise-address="$NETWORK.1" \
  --secure-port=6443 --tls-cert-file="$STATE/identity/server.crt" --tls-private-key-file="$STATE/identity/server.key" \
  --token-auth-file="$STATE/identity/tokens.csv" --authorization-mode=Node,RBAC \
  --enable-admission-plugins=NodeRestriction,PodNodeSelector \
  --service-cluster-ip-range=10.96.0.0/16 --service-account-issuer=https://kubernetes.default.svc \
  --service-account-key-file="$STATE/identity/accounts.pub" \
  --service-account-signing-key-file="$STATE/identity/accounts.key" \
  --kubelet-preferred-address-types=InternalIP --allow-privileged=false --profiling=false
until nsenter --net=/run/netns/control "$BIN/kubectl" --kubeconfig "$STATE/admin" get --raw /readyz >/dev/null 2>&1; do
  # Whatever ended while this waits is the reason.
  [ "$(jobs -rp | wc -l)" = 2 ] || exit 1
  sleep 0.2
done

# The controllers that sessions have to do with; a node is given up within seconds, not within minutes.
control controllers "$BIN/kube-controller-manager" --kubeconfig="$STATE/controllers" --bind-address=127.0.0.1 --port=0 \
  --controllers=namespace,nodelifecycle,serviceaccount,serviceaccount-token,root-ca-cert-publisher,podgc,garbagecollector,resourcequota \
  --service-account-private-key-file="$STATE/identity/accounts.key" --root-ca-file="$STATE/identity/authority.crt" \
  --use-service-account-credentials=true --leader-elect=false \
  --node-monitor-grace-period=12s --node-monitor-period=2s --pod-eviction-timeout=5s
control scheduler "$BIN/kube-scheduler" --kubeconfig="$STATE/scheduler" --bind-address=127.0.0.1 --port=0 --leader-elect=false

for node in $NODES; do
  part "node$node" "$here/node.sh" "$node"
done
wait -n
