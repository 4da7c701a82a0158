#!/bin/bash
# Builds the programs of Kubernetes that a cluster takes, from Debian's own source package, which holds everything
# that they are made of. Some twenty minutes of processor and 3 GB, once; what is there is not built again.
set -euo pipefail
. "$(dirname "$0")/settings.sh"

missing() {
  local name
  for name in $PROGRAMS; do
    [ -x "$BIN/$name" ] || return 0
  done
  return 1
}
missing || { echo "Kubernetes is built, in $BIN"; exit 0; }

apt-get install --yes --no-install-recommends golang-go rsync jq gcc make dpkg-dev
mkdir -p "$BIN" "$CACHE/home" "$CACHE/apt/parts" "$CACHE/apt/lists/partial"
cd "$CACHE"

sources=(kubernetes_*.dsc)
if [ ! -e "${sources[0]}" ]; then
  # The machine's own archives, asked for sources, without a change to what it is set up to ask them for.
  sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >apt/parts/sources.sources
  apt=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$CACHE/apt/parts" -o "Dir::State::lists=$CACHE/apt/lists")
  apt-get "${apt[@]}" update
  apt-get "${apt[@]}" source --download-only kubernetes
  sources=(kubernetes_*.dsc)
fi
archives=(kubernetes_*.orig.tar.gz)
folder=$(tar --list --gzip --file "${archives[0]}" | head -n 1 || true)
folder=${folder%%/*}
version=${folder#kubernetes-}
[ -d "$folder" ] || tar --extract --gzip --file "${archives[0]}"

# What the programs say they are: there is no git here to ask.
cat >version.sh <<VERSION
KUBE_GIT_COMMIT='unknown'
KUBE_GIT_TREE_STATE='archive'
KUBE_GIT_VERSION='v$version'
KUBE_GIT_MAJOR='$(cut -d. -f1 <<<"$version")'
KUBE_GIT_MINOR='$(cut -d. -f2 <<<"$version")'
VERSION

cd "$folder"
# Its Go is older than modules: the tree must be found at its import path.
mkdir -p .go/src/k8s.io
[ -L .go/src/k8s.io/kubernetes ] || ln -s ../../.. .go/src/k8s.io/kubernetes
export HOME=$CACHE/home GOPATH=$PWD/.go KUBE_GIT_VERSION_FILE=$CACHE/version.sh PATH=/usr/lib/go/bin:/usr/bin:/bin
GOFLAGS=-p=$(nproc) make WHAT="$(printf 'cmd/%s ' $PROGRAMS)"
for name in $PROGRAMS; do
  cp "_output/local/go/bin/$name" "$BIN/$name.new"
  mv "$BIN/$name.new" "$BIN/$name"
done
echo "Kubernetes $version is built, in $BIN"
