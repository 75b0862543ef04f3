#!/usr/bin/env bash
# Runs the official MCP conformance suite against an MCP client.
#
#   mcp-client.sh COMMAND [SCENARIO...]
#
# The suite starts a server of its own for each scenario and runs COMMAND with
# that server's URL as last argument and the scenario's name in
# MCP_CONFORMANCE_SCENARIO. COMMAND must connect, list the tools, call
# add_numbers({a,b}) or the server's test_* tool, and exit 0.
# Without scenarios the core: initialize, tools_call, sse-retry, and defaults of
# elicitation. The rest of the suite is about OAuth.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[[ $# -ge 1 ]] || usage
need_node
command=$1; shift
[[ $# -gt 0 ]] || set -- initialize tools_call sse-retry elicitation-sep1034-client-defaults
results=${RESULTS:-$here/results}/mcp-client
try() { out=$(node "$suite" client --command "$command" --scenario "$1" -o "$results" 2>&1); }
for scenario in "$@"; do
  try "$scenario"; code=$? name=$scenario
  if [[ $code -ne 0 && $scenario == sse-retry ]]; then
    # It measures a pause of 500 ms, which a busy machine can stretch.
    try "$scenario"; code=$? name="$scenario (second try)"
  fi
  tell $code "$name"
  [[ $code -eq 0 ]] || sed 's/^/      /' <<<"$out"
done
total
