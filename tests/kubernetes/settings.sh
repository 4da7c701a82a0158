# What the scripts here share: where things are, and which process is the cluster.
# Sourced, with `set -u`.

# Outside every checkout, since it takes twenty minutes of processor to make: the sources and the programs.
CACHE=${BELLJAR_KUBERNETES:-/var/cache/belljar-kubernetes}
# The cluster's own state. Sockets lie below it, whose paths must be short.
STATE=${BELLJAR_KUBERNETES_STATE:-/var/lib/belljar-kubernetes}

BIN=$CACHE/bin
PROGRAMS="kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl"

# The control plane has the first address of this network, node N the one that ends in 10 + N.
NETWORK=10.88.0
NODES="1 2"
# Nodes' containers are below it in every hierarchy, apart from those of a cluster with another state.
CGROUP=belljar-$(printf %s "$STATE" | cksum | cut -d' ' -f1)
CONTROLLERS="cpu cpuacct cpuset memory devices freezer blkio pids systemd unified"

# When a process began, in the kernel's ticks: with its id this is one process for ever, and none after it.
began() {
  local line
  read -r line 2>/dev/null <"/proc/$1/stat" || return 1
  # The name may have anything in it; the state follows its bracket, and this is the 20th word from there.
  set -- ${line##*) }
  [ "$1" != Z ] && echo "${20}"
}

# Prints the id of the process that is the cluster, while it lives.
cluster() {
  local id start
  read -r id start 2>/dev/null <"$STATE/cluster" || return 1
  [ "$(began "$id")" = "$start" ] && echo "$id"
}

# Runs a command among the cluster's mounts and in one of its networks.
within() {
  local network=$1 id
  shift
  id=$(cluster) || return 1
  nsenter --target "$id" --mount --net="/proc/$id/root$STATE/net/$network" -- "$@"
}

# kubectl as whoever may do all.
admin() {
  within control "$BIN/kubectl" --kubeconfig "$STATE/admin" "$@"
}
