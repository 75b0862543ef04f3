#!/usr/bin/env bash
# Runs code that others wrote against this project, and the project against it.
#
#   run.sh            everything
#   run.sh --no-agent without the turns of a whole agent, which take a build of it
#
# Needs Go, npm, Chromium and a Redis server. The packages are installed when
# package-lock.json changed, the other two where this is Debian and the user may;
# everything after that stays on this machine. What was started is ended by its
# process id. Prints a table, keeps the output of every check in results/, and
# exits 1 when one failed.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$here/install.sh"
agent=1
case ${1:-} in
  '') ;;
  --no-agent) agent= ;;
  *) usage ;;
esac
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d) || exit 1
bin=$work/bin
started=()

end() {
  for pid in ${started[@]+"${started[@]}"}; do kill "$pid" 2>/dev/null; done
  for pid in ${started[@]+"${started[@]}"}; do wait "$pid" 2>/dev/null; done
  rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

build() {
  echo "building"
  (cd "$root" && go build -o "$bin/" ./mcpservers/cmd/mcp-resources ./mcpservers/cmd/mcp-filesystem ./mcpservers/cmd/mcp-commands ./mcpservers/cmd/mcp-web ./mcpservers/cmd/mcp-openapi ./mcpservers/cmd/mcp-prompt ./deploy/conformance/mcp-client) || die "go build failed"
  (cd "$root/mcpservers/sql" && go build -o "$bin/" ./cmd/mcp-sql) || die "go build failed"
  (cd "$root/mcpservers/drive" && go build -o "$bin/" ./cmd/mcp-drive) || die "go build failed"
  [[ $agent ]] || return 0
  (cd "$here/ollama-client" && go build -o "$bin/" .) || die "go build of the client of Ollama failed" # the test runs it from its source
  (cd "$root" && go build -o "$bin/" ./worker/cmd/worker ./gateway/cmd/gateway) || die "go build failed"
  (cd "$root/deploy/standalone" && go build -tags sqlite_fts5 -o "$bin/agent" . && go test -c -tags foreign,sqlite_fts5 -o "$work/e2e" ./e2e) ||
    die "go build of the agent failed"
}

# soon tries a command for ten seconds.
soon() {
  for _ in {1..100}; do
    "$@" && return
    sleep 0.1
  done
  return 1
}

# serve starts a server of ours on a free port and sets url: serve NAME ARGS...
serve() {
  local name=$1; shift
  LOG_FORMAT=text "$bin/$name" --port 0 "$@" 2>"$work/$name.log" &
  started+=($!)
  soon grep -q 'url=http' "$work/$name.log" || die "$name does not start: $(cat "$work/$name.log")"
  url=$(sed -n 's/.* url=\([^ ]*\).*/\1/p' "$work/$name.log" | head -1)
}

# free prints a port that nobody listens on.
free() { node -e 'const s = require("net").createServer(); s.listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'; }

# tour starts an agent like that of make run and sets url and ui.
tour() {
  local api=$(free) grpc=$(free) web=$(free)
  url=http://127.0.0.1:$api ui=http://127.0.0.1:$web
  printf 'host: 127.0.0.1\nport: %s\ndata_dir: "%s"\ntemporal: {port: %s, ui_port: %s}\nllm: {model: "demo:rules"}\nmcp_servers: [{name: resources, command: "%s", args: [--stdio, --db, "%s"]}]\n' \
    "$api" "$work/tour" "$grpc" "$web" "$bin/mcp-resources" "$work/tour.db" >"$work/tour.yaml"
  "$bin/agent" --config "$work/tour.yaml" >"$work/tour.log" 2>&1 &
  started+=($!)
  soon grep -q 'is ready' "$work/tour.log" || die "the agent does not start: $(cat "$work/tour.log")"
}

# stand_in starts a stand-in for the API behind a tool server and sets stand_in to its address: stand_in NAME
stand_in() {
  local port=$(free)
  node "$here/stand-in.mjs" "$port" >"$work/$1-stand-in.log" 2>&1 &
  started+=($!)
  soon answers "$port" || die "the stand-in for $1 does not start: $(cat "$work/$1-stand-in.log")"
  stand_in=http://127.0.0.1:$port
}

# foreign starts a server of others on a free port and sets port: foreign KIND
foreign() {
  port=$(free)
  "$here/mcp-foreign.sh" "$1" "$port" >"$work/$1.log" 2>&1 &
  started+=($!)
  soon answers "$port" || die "$1 does not start: $(cat "$work/$1.log")"
}

answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

table=()
# check runs a command and adds a line to the table: check SUBJECT WHAT COMMAND...
check() {
  local subject=$1 what=$2 log code begin=$SECONDS note
  shift 2
  log="$RESULTS/$subject $what.log"; log=${log//[^A-Za-z0-9._\/-]/_}
  printf '%s: %s ... ' "$subject" "$what"
  "$@" >"$log" 2>&1; code=$?
  note=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -1)
  tell $code "$note"
  [[ $code -eq 0 ]] || { sed 's/^/    /' "$log" | tail -60; echo "    ($log)"; }
  table+=("$(printf '%-18s %-42s %-5s %4ss  %s' "$subject" "$what" "$([[ $code -eq 0 ]] && echo ok || echo FAIL)" $((SECONDS - begin)) "$note")")
}

# left adds a line to the table about a check that cannot run here: left SUBJECT WHAT WHY
left() {
  echo "$1: $2 ... not run: $3"
  table+=("$(printf '%-18s %-42s %-5s %5s  %s' "$1" "$2" skip "" "$3")")
}

# says runs a command and wants a text in its output: says TEXT COMMAND...
says() {
  local text=$1 out code; shift
  out=$("$@" 2>&1); code=$?
  printf '%s\n' "$out"
  [[ $code -eq 0 ]] || return 1
  grep -qF -- "$text" <<<"$out" || { echo "expected: $text"; return 1; }
}

# within runs a command in a folder: within DIR COMMAND...
within() { (cd "$1" && shift && "$@"); }

# inspect lists the tools with the inspector and calls one: inspect URL TOOL TEXT ARGS...
inspect() {
  local url=$1 tool=$2 text=$3; shift 3
  says "\"name\": \"$tool\"" "$here/mcp-inspector.sh" "$url" --method tools/list &&
    says "$text" "$here/mcp-inspector.sh" "$url" --method tools/call --tool-name "$tool" ${@+--tool-arg "$@"}
}

# ours checks one of our servers: ours NAME TOOL JSON TEXT STDIO-ARGS...
ours() {
  local name=$1 tool=$2 json=$3 text=$4; shift 4
  local probe=(node "$here/mcp-probe.mjs")
  check "$name" "MCP suite, server side" "$here/mcp-server.sh" "$url"
  check "$name" "TypeScript SDK over HTTP" says "$text" "${probe[@]}" "$url" --call "$tool" "$json"
  check "$name" "TypeScript SDK over SSE" says "$text" "${probe[@]}" "${url%/mcp}/sse" --sse --call "$tool" "$json"
  check "$name" "TypeScript SDK over stdio" says "$text" "${probe[@]}" --call "$tool" "$json" -- "$bin/$name" --stdio "$@"
}

# foreign_go runs the Go tests that need code of others: foreign_go MODULE PACKAGE [PATTERN]
foreign_go() { tested "$1" go test -tags foreign -count=1 -timeout 12m -v -run "${3:-^TestForeign}" "$2"; }

# whole runs tests of whole agents, which are built: whole [PATTERN]
whole() { E2E_BIN=$bin tested "$root/deploy/standalone/e2e" "$work/e2e" -test.timeout 12m -test.v -test.run "${1:-^TestForeign}"; }

# tested runs Go tests in a folder: tested DIR COMMAND...
tested() {
  local out code
  out=$(cd "$1" && shift && "$@" 2>&1); code=$?
  printf '%s\n' "$out"
  echo "$(grep -c '^ *--- PASS' <<<"$out") passed, $(grep -c '^ *--- FAIL' <<<"$out") failed"
  [[ $code -eq 0 ]] && grep -q '^--- PASS' <<<"$out" && ! grep -q -e '--- SKIP' <<<"$out"
}

# find_redis sets FEED_REDIS to a redis-server, which it installs where it may.
find_redis() {
  export FEED_REDIS=${FEED_REDIS:-$(command -v redis-server)}
  if [[ -z $FEED_REDIS && $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    apt-get update && apt-get install -y --no-install-recommends redis-server
    FEED_REDIS=$(command -v redis-server)
  fi
  [[ -x $FEED_REDIS ]] && return
  echo "there is no Redis server: install one (apt-get install redis-server, brew install redis), or set FEED_REDIS to the path of redis-server"
  return 1
}

# on_redis runs Go tests with a real Redis server: on_redis foreign_go|whole ARGS...
on_redis() { find_redis && "$@"; }

# on_databases runs Go tests with PostgreSQL and MariaDB, which it installs where it may: on_databases foreign_go ARGS...
on_databases() {
  if { ! ls /usr/lib/postgresql/*/bin/initdb || ! command -v mariadbd; } >/dev/null 2>&1 && [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql mariadb-server
  fi
  ls /usr/lib/postgresql/*/bin/initdb && command -v mariadbd || { echo "there is no PostgreSQL or no MariaDB: install both (apt-get install postgresql mariadb-server)"; return 1; }
  "$@"
}

# on_tmux runs Go tests with tmux, which it installs where it may: on_tmux whole PATTERN
on_tmux() {
  if ! command -v tmux && [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    apt-get update && apt-get install -y --no-install-recommends tmux
  fi
  command -v tmux || { echo "there is no tmux: install it (apt-get install tmux, brew install tmux)"; return 1; }
  "$@"
}

# on_glewlwyd runs a command with the OpenID provider glewlwyd, which it installs where it may. It fails without.
on_glewlwyd() {
  if ! command -v glewlwyd >/dev/null && [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends glewlwyd; } >"$work/glewlwyd.log" 2>&1
  fi
  command -v glewlwyd >/dev/null || return
  "$@"
}

# on_prometheus runs Go tests with Prometheus, which it installs where it may: on_prometheus whole PATTERN
on_prometheus() {
  if ! command -v promtool && [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    apt-get update && apt-get install -y --no-install-recommends prometheus
  fi
  command -v promtool || { echo "there is no Prometheus: install it (apt-get install prometheus, brew install prometheus)"; return 1; }
  "$@"
}

install_packages "$here"
need_node
[[ ! $agent ]] || install_browser "$work/apt.log"
build
export RESULTS=$here/results
rm -rf "$RESULTS" && mkdir -p "$RESULTS"
mkdir "$work/files" && echo 'a line to find' >"$work/files/note.txt"
printf 'roots:\n  - {name: work, path: "%s", allowed_tools: ["*"]}\n' "$work/files" >"$work/filesystem.yaml"

serve mcp-resources --db "$work/resources.db"
ours mcp-resources resources_add '{"name":"apple","value":42}' '"name": "apple"' --db "$work/resources.db"
check mcp-resources "inspector" inspect "$url" resources_list '\"name\": \"apple\"' pattern=apple
serve mcp-filesystem --config "$work/filesystem.yaml"
ours mcp-filesystem grep '{"root":"work","path":"","pattern":"line"}' 'a line to find' --config "$work/filesystem.yaml"
check mcp-filesystem "inspector" inspect "$url" read_file 'a line to find' root=work path=note.txt
serve mcp-commands --transport http --directories "$root/config/examples/commands"
ours mcp-commands count-words '{"text":"a line to find"}' '4 words' --directories "$root/config/examples/commands"
check mcp-commands "inspector" inspect "$url" count-words '4 words' text="a line to find"
serve mcp-sql --sqlite "$work/shop.db"
ours mcp-sql query '{"sql":"SELECT 6 * 7 AS answer"}' 'answer' --sqlite "$work/stdio.db"
check mcp-sql "inspector" inspect "$url" query '42' 'sql=SELECT 6 * 7 AS answer'
check mcp-sql "PostgreSQL and MariaDB" on_databases foreign_go "$root/mcpservers/sql" ./databases

stand_in mcp-web
serve mcp-web --search "searxng=$stand_in"
ours mcp-web search '{"query":"a line"}' '1. A line to find' --search "searxng=$stand_in"
check mcp-web "inspector" inspect "$url" search '1. A line to find' 'query=a line'

serve mcp-openapi --api "$root/config/examples/openapi/agent-api.yaml" --base-url "$stand_in"
ours mcp-openapi list_conversations '{"limit":5}' 'a line to find' --api "$root/config/examples/openapi/agent-api.yaml" --base-url "$stand_in"
check mcp-openapi "inspector" inspect "$url" list_conversations 'a line to find' limit=5

mkdir "$work/prompt" && printf 'You help.\n[SECTIONS]\ntone\n' >"$work/prompt/index.md" && echo 'a line to find' >"$work/prompt/tone.md"
serve mcp-prompt --directory "$work/prompt"
ours mcp-prompt read_prompt '{"section":"tone"}' 'a line to find' --directory "$work/prompt"
check mcp-prompt "inspector" inspect "$url" read_prompt 'a line to find' section=tone

serve mcp-drive --path "$work/files"
ours mcp-drive read_file '{"id":"note.txt"}' 'a line to find' --path "$work/files"
check mcp-drive "inspector" inspect "$url" read_file 'a line to find' id=note.txt

client=$bin/mcp-client
check "our client" "MCP suite, client side" "$here/mcp-client.sh" "$client"
check "our client" "server-everything over stdio" says 'echo: Echo: hello' "$client" -list -- "$here/mcp-foreign.sh" everything-stdio
foreign everything-http
check "our client" "server-everything over HTTP" says 'echo: Echo: hello' "$client" -list "http://127.0.0.1:$port/mcp"
foreign everything-sse
check "our client" "server-everything over SSE" says 'echo: Echo: hello' "$client" -list -sse "http://127.0.0.1:$port/sse"
# It works in the roots that the client offers, which is the folder it runs in.
check "our client" "server-filesystem over stdio" says 'read_text_file: a line to find' within "$work/files" \
  "$client" -call read_text_file -args "{\"path\":\"$work/files/note.txt\"}" -- "$here/mcp-foreign.sh" filesystem "$work/files"
check "our client" "A2A agents of the JavaScript SDKs" foreign_go "$root" ./activities/peer
check "our events" "AG-UI clients of 1.0 and 0.0.59" foreign_go "$root" ./gateway/agui
check "the Slack of tests" "an app made with Bolt" foreign_go "$root" ./gateway/slackchat/fakeslack
check "the audit log" "witness and client of transparency.dev" foreign_go "$here/witness" .
check "the feed" "a real Redis server" on_redis foreign_go "$root" ./config/feed .
check "limits of callers" "a real Redis server" on_redis foreign_go "$root" ./config/ledger .
check "limits of callers" "two gateways on a real Redis server" on_redis foreign_go "$root" ./gateway '^TestTwoGateways'
[[ $agent ]] && check "an agent" "worker and gateway on a real Redis server" \
  on_redis whole '^TestRepliesAreFollowedAcross|^TestAWorkerKilledInTheMiddle'
[[ $agent ]] && check "an agent" "turns on foreign servers, AG-UI and A2A clients" whole
[[ $agent ]] && check "an agent" "logins and tokens at oidc-provider" whole '^TestOIDCProvider'
[[ $agent ]] && { on_glewlwyd check "an agent" "logins and tokens at glewlwyd" whole '^TestGlewlwyd$' || left "an agent" "logins and tokens at glewlwyd" "there is no glewlwyd: apt-get install glewlwyd"; }
[[ $agent ]] && check "an agent" "metrics and alerts in Prometheus" on_prometheus whole '^TestPrometheus'
[[ $agent ]] && check "an agent" "chat at a terminal (tmux)" on_tmux whole '^TestAChatAtATerminal$'
if [[ $agent ]]; then
  tour
  check "an agent" "MCP suite, server side" "$here/mcp-server.sh" "$url/mcp"
  check "an agent" "TypeScript SDK over HTTP" says 'The tool resources_list answered' node "$here/mcp-probe.mjs" "$url/mcp" --call agent '{"message":"list the resources"}'
  check "a browser" "attacks by web pages" node "$here/browser.mjs" "$url" "$ui"
  check "a browser" "the picture in the README" node "$here/screenshot.mjs" "$url" "$ui" "$work/picture.png"
fi

echo
printf '%s\n' "${table[@]}"
echo
total
