#!/usr/bin/env bash
# Runs the official MCP conformance suite against an MCP client.
#
#   mcp-client.sh COMMAND [SCENARIO...]
#
# The suite starts a server of its own for each scenario and runs COMMAND with
# that server's URL as last argument, the scenario's name in
# MCP_CONFORMANCE_SCENARIO, and what the client must know in
# MCP_CONFORMANCE_CONTEXT. COMMAND must connect, list the tools, call
# add_numbers({a,b}) or the server's test tool, and exit 0.
# Without scenarios all of the suite but those in "left".
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[[ $# -ge 1 ]] || usage
need_node
command=$1; shift
# left: an identity provider exchanges a person's ID token for an assertion
# (ID-JAG, a draft), which another server takes for an access token (RFC 7523).
# The agent's token exchange has one step, at one provider.
left='^auth/cross-app-access-complete-flow$'
if [[ $# -eq 0 ]]; then
  set -- $(node "$suite" list --client | sed -n 's/^  - \([^ ]*\) .*/\1/p' | grep -v "$left")
  [[ $# -gt 20 ]] || { echo "the suite lists only $# scenarios" >&2; exit 1; }
fi
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
