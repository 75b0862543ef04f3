#!/usr/bin/env bash
# Runs the official MCP conformance suite against a Streamable HTTP MCP server.
#
#   mcp-server.sh URL [SCENARIO...]
#
# Without scenarios: those that any server can pass, chosen by what it says it
# can do, and the MCP inspector's check of its tool schemas. The others of the
# suite call tools, resources and prompts of fixed names (test_simple_text, ...)
# and only make sense against a server made for them.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[[ $# -ge 1 ]] || usage
need_node
url=$1; shift
results=${RESULTS:-$here/results}/mcp-server
schemas=
if [[ $# -eq 0 ]]; then
  words=$(node "$here/mcp-probe.mjs" "$url" --capabilities) || { echo "no MCP server answers at $url"; exit 1; }
  set -- server-initialize ping server-sse-multiple-streams dns-rebinding-protection
  for word in $words; do
    case $word in
      tools) set -- "$@" tools-list; schemas=1 ;;
      resources) set -- "$@" resources-list ;;
      prompts) set -- "$@" prompts-list ;;
      logging) set -- "$@" logging-set-level ;;
    esac
  done
fi
for scenario in "$@"; do
  out=$(node "$suite" server --url "$url" -o "$results" --scenario "$scenario" 2>&1); code=$?
  tell $code "$scenario"
  [[ $code -eq 0 ]] || sed 's/^/      /' <<<"$out"
done
if [[ $schemas ]]; then
  out=$("$here/mcp-inspector.sh" "$url" --method tools/list --strict 2>&1 >/dev/null); code=$?
  tell $code "tool schemas (inspector --strict)"
  [[ -z $out ]] || sed 's/^/      /' <<<"$out"
fi
total
