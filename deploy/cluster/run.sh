#!/usr/bin/env bash
# Builds the binaries, installs PostgreSQL and Redis where it may, and runs the cluster tests.
# Arguments go to go test: run.sh -run Works, or run.sh -args -load 20s.
set -euo pipefail
cd "$(dirname "$0")/../.."

install_stores() {
  if { ! ls /usr/lib/postgresql/*/bin/initdb || ! command -v redis-server; } >/dev/null 2>&1 &&
    [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    apt-get update && apt-get install -y --no-install-recommends postgresql redis-server
  fi
  ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null ||
    { echo "there is no PostgreSQL: install it (apt-get install postgresql)"; exit 1; }
  command -v redis-server >/dev/null || { echo "there is no Redis server: install it (apt-get install redis-server)"; exit 1; }
}

install_stores
make build
CLUSTER_BIN=$PWD/bin go test -tags cluster -count=1 -timeout 30m -v ./deploy/cluster "$@"
