#!/bin/bash
# Who is who in the cluster: an authority of its own with the API server's certificate, and a token for each client.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
cd "$STATE/identity"
umask 077

openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=belljar-tests authority" \
  -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign" \
  -keyout authority.key -out authority.crt 2>/dev/null
openssl req -new -newkey rsa:2048 -nodes -subj "/CN=belljar-tests API server" \
  -keyout server.key -out server.csr 2>/dev/null
# Tests come by a listener on loopback.
openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 30 -out server.crt \
  -extfile <(echo "subjectAltName=IP:$NETWORK.1,IP:127.0.0.1,IP:10.96.0.1,DNS:kubernetes.default.svc
extendedKeyUsage=serverAuth") 2>/dev/null
openssl genrsa -out accounts.key 2048 2>/dev/null
openssl rsa -in accounts.key -pubout -out accounts.pub 2>/dev/null

# One that may do all, one that may do what it is given, the control plane's parts, and the nodes.
client() {
  local name=$1 user=$2 group=$3 token
  token=$(openssl rand -hex 24)
  echo "$token,$user,$user,\"$group\"" >>tokens.csv
  cat >"$STATE/$name" <<CONFIG
apiVersion: v1
kind: Config
clusters: [{name: tests, cluster: {server: "https://$NETWORK.1:6443", certificate-authority-data: "$(base64 -w0 authority.crt)"}}]
users: [{name: tests, user: {token: "$token"}}]
contexts: [{name: tests, context: {cluster: tests, user: tests}}]
current-context: tests
CONFIG
}
client admin admin system:masters
client tests belljar-tests belljar-tests
client controllers system:kube-controller-manager controllers
client scheduler system:kube-scheduler schedulers
for node in $NODES; do
  client "kubelet$node" "system:node:node$node" system:nodes
done
