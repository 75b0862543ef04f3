#!/usr/bin/env bash
# Uses the page in a real browser, against agents that really run.
#
#   run.sh             the tests
#   run.sh DIR         pictures of every view, into DIR
#   run.sh --measure   how soon the first of many approvals is on the screen
#
# Needs Go, npm and Chromium. The packages are installed when package-lock.json
# changed, Chromium where this is Debian and the user may; everything after that
# stays on this machine.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source "$here/../conformance/install.sh"

install_packages "$here"
[[ $# -gt 0 ]] || install_packages "$here/../conformance" # the OpenID provider
install_browser "$work/apt.log"
echo "building"
(cd "$root" && go build -o "$work/" ./mcpservers/cmd/mcp-resources ./gateway/cmd/web)
(cd "$root/deploy/standalone" && go build -tags sqlite_fts5 -o "$work/agent" .)
if [[ ${1:-} == --measure ]]; then
  node "$here/firstcard.mjs" "$work"
elif [[ $# -gt 0 ]]; then
  mkdir -p "$1" && node "$here/screenshots.mjs" "$work" "$1"
else
  node "$here/page.mjs" "$work"
  node "$here/login.mjs" "$work"
  node "$here/web.mjs" "$work"
fi
