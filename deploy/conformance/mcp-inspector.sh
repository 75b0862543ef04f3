#!/usr/bin/env bash
# Runs the MCP inspector without its user interface and its files in your home.
#
#   mcp-inspector.sh URL --method tools/list
#   mcp-inspector.sh URL --method tools/call --tool-name NAME --tool-arg a=1 b=2
#
# A URL that ends in /sse is spoken to over HTTP+SSE.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[[ $# -ge 1 ]] || usage
need_node
home=$(mktemp -d) || exit 1
trap 'rm -rf "$home"' EXIT
HOME=$home node "$modules/.bin/mcp-inspector" --cli "$@"
