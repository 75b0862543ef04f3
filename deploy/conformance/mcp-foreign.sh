#!/usr/bin/env bash
# Runs an MCP server that others wrote, for our client to talk to.
#
#   mcp-foreign.sh everything-stdio         stdio
#   mcp-foreign.sh everything-http [PORT]   http://127.0.0.1:PORT/mcp
#   mcp-foreign.sh everything-sse [PORT]    http://127.0.0.1:PORT/sse
#   mcp-foreign.sh filesystem DIR...        stdio
#
# server-everything listens on every address; the port is 3001 without one.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[[ $# -ge 1 ]] || usage
need_node
kind=$1; shift
case $kind in
  everything-stdio) exec node "$mcp/server-everything/dist/index.js" stdio ;;
  everything-http) PORT=${1:-3001} exec node "$mcp/server-everything/dist/index.js" streamableHttp ;;
  everything-sse) PORT=${1:-3001} exec node "$mcp/server-everything/dist/index.js" sse ;;
  filesystem) exec node "$mcp/server-filesystem/dist/index.js" "$@" ;;
  *) usage ;;
esac
