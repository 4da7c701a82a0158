#!/bin/bash
# One node: a host name, mounts and a network of its own, and in them a dockerd and a kubelet. It ends when one of
# them does.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/settings.sh"
node=$1
name=node$node
own=$STATE/$name

if [ "${2:-}" != entered ]; then
  exec nsenter --net="/run/netns/$name" unshare --uts --mount --propagation private "$0" "$node" entered
fi
# Volumes and network namespaces of containers go from the kubelet's mounts to dockerd's.
mount --make-rshared /
hostname "$name"
mkdir -p "$own"/{docker,kubelet,cni,certificates,plugins}

# Places that a kubelet takes for itself, wherever its other files are.
for place in /var/lib/dockershim /var/log/pods /var/log/containers; do
  mkdir -p "$place" "$own$place"
  mount --bind "$own$place" "$place"
done

# A kubelet sets these for the whole machine. Here it finds files that have what it wants.
while read -r setting value; do
  file=$own/settings/$setting
  mkdir -p "${file%/*}"
  echo "$value" >"$file"
  mount --bind "$file" "/proc/sys/$setting"
done <<SETTINGS
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
SETTINGS

for controller in $CONTROLLERS; do
  group=/sys/fs/cgroup/$controller/$CGROUP/$name
  mkdir -p "$group"
  if [ "$controller" = cpuset ]; then
    # A set that is empty takes no process.
    for set in cpuset.cpus cpuset.mems; do
      cat "/sys/fs/cgroup/cpuset/$set" >"/sys/fs/cgroup/cpuset/$CGROUP/$set"
      cat "/sys/fs/cgroup/cpuset/$set" >"$group/$set"
    done
  fi
done

# A kubelet wants some containers to be spared when memory is short, which not every root may ask for.
runtime=runc
if ! (echo -1 >/proc/self/oom_score_adj) 2>/dev/null; then
  runtime=unspared
  cat >"$own/runc" <<'RUNTIME'
#!/bin/sh
creates= bundle= last=
for word in "$@"; do
  [ "$word" = create ] && creates=1
  [ "$last" = --bundle ] && bundle=$word
  last=$word
done
# The quotes are not escaped, so this is no text of the container's.
[ -n "$creates" ] && sed -i 's/"oomScoreAdj":-[0-9]*/"oomScoreAdj":0/' "$bundle/config.json"
exec runc "$@"
RUNTIME
  chmod +x "$own/runc"
fi

dockerd --host "unix://$own/docker.sock" --data-root "$own/docker" --exec-root "$own/run" --pidfile "$own/docker.pid" \
  --iptables=false --ip6tables=false --bridge=none --ip-forward=false --ip-masq=false --cgroup-parent="/$CGROUP/$name" \
  --add-runtime "unspared=$own/runc" --default-runtime "$runtime" >"$STATE/log/$name-dockerd" 2>&1 &
dockerd=$!
docker() { command docker --host "unix://$own/docker.sock" "$@"; }
until docker version >/dev/null 2>&1; do
  kill -0 "$dockerd" || exit 1
  sleep 0.2
done

# What holds a Pod's namespaces: any program that waits for ever.
mkdir -p "$own/pause"
cp /bin/busybox "$own/pause/sleep"
tar --directory "$own/pause" --create . |
  docker import --change 'ENTRYPOINT ["/sleep", "infinity"]' - belljar-test:pause >/dev/null

cat >"$own/cni/pods.conf" <<CNI
{"cniVersion": "0.4.0", "name": "pods", "type": "bridge", "bridge": "pods", "isGateway": true, "ipMasq": false,
 "ipam": {"type": "host-local", "subnet": "10.89.$node.0/24", "dataDir": "$own/addresses"}}
CNI

"$BIN/kubelet" --kubeconfig="$STATE/kubelet$node" --hostname-override="$name" --node-ip="$NETWORK.$((10 + node))" \
  --root-dir="$own/kubelet" --cert-dir="$own/certificates" --volume-plugin-dir="$own/plugins" \
  --container-runtime=docker --docker-endpoint="unix://$own/docker.sock" --docker="unix://$own/docker.sock" \
  --container-runtime-endpoint="unix://$own/dockershim.sock" --pod-infra-container-image=belljar-test:pause \
  --cgroup-driver=cgroupfs --cgroup-root="/$CGROUP/$name" --enforce-node-allocatable= --pod-max-pids=1024 \
  --network-plugin=cni --cni-bin-dir=/usr/lib/cni --cni-conf-dir="$own/cni" --cni-cache-dir="$own/cni-cache" \
  --make-iptables-util-chains=false --anonymous-auth=true --authorization-mode=AlwaysAllow \
  --fail-swap-on=false --eviction-hard='nodefs.available<100Mi' --image-gc-high-threshold=100 --oom-score-adj=0 \
  --healthz-port=0 --read-only-port=0 --streaming-connection-idle-timeout=4h \
  --cluster-dns=10.96.0.10 \
  --node-status-update-frequency=4s --housekeeping-interval=20s --volume-stats-agg-period=10s \
  >"$STATE/log/$name-kubelet" 2>&1 &
wait -n
