package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "agent-stop-and-go/"

// arrows says what the packages below each room may import of ours. A room is
// named by its path; the longest one that fits a package counts.
var arrows = map[string][]string{
	"workflows/contract":      {"workflows/contract"},
	"workflows/decide":        {"workflows/contract", "workflows/wording"},
	"workflows/wording":       {"workflows/contract", "workflows/answer"},
	"workflows/record":        {"workflows/contract", "workflows/wording", "workflows/record"},
	"workflows/answer":        {"workflows/contract"},
	"workflows/credential":    {"workflows/contract", "workflows/credential"},
	"workflows/attribute":     {"workflows/contract"},
	"workflows/adoption":      {"workflows/contract", "workflows/attribute", "workflows/signal"},
	"workflows/handover":      {"workflows/contract"},
	"workflows/approval":      {"workflows/contract", "workflows/hooks", "workflows/ledger", "workflows/activity", "workflows/answer", "workflows/attribute", "workflows/console", "workflows/decide", "workflows/proof", "workflows/run", "workflows/signal", "workflows/telemetry", "workflows/wording"},
	"workflows/telemetry":     {"workflows/contract"},
	"workflows/signal":        {"workflows/contract", "workflows/wording"},
	"workflows/console":       {"workflows/wording"},
	"workflows/board":         {"workflows/contract"},
	"workflows/deputies":      {"workflows/contract", "workflows/ledger", "workflows/proof", "workflows/run"},
	"workflows/control":       {"workflows/contract", "workflows/ledger", "workflows/wording", "workflows/signal", "workflows/proof", "workflows/run"},
	"workflows/ledger":        {"workflows/contract"},
	"workflows/proof":         {"workflows/contract", "workflows/attribute", "workflows/credential", "workflows/wording"},
	"workflows/hooks":         {"workflows/contract", "workflows/attribute", "workflows/activity", "workflows/run", "workflows/wording"},
	"workflows/numbers":       {"workflows/contract", "workflows/run"},
	"workflows/grants":        {"workflows/contract", "workflows/ledger", "workflows/proof", "workflows/run"},
	"workflows/rates":         {"workflows/contract", "workflows/run", "workflows/signal"},
	"workflows/activity":      {"workflows/contract", "workflows/wording", "workflows/handover"},
	"workflows/appender":      {"workflows/activity", "workflows/contract", "workflows/run", "workflows/signal"},
	"workflows/run":           {"workflows/contract", "workflows/decide"},
	"workflows/reset":         {"workflows/contract", "workflows/wording", "workflows/activity", "workflows/run"},
	"workflows/panel":         {"workflows/contract", "workflows/decide", "workflows/wording"},
	"workflows/doubt":         {"workflows/contract", "workflows/decide", "workflows/wording"},
	"workflows/listing":       {"workflows/contract", "workflows/run", "workflows/wording"},
	"workflows/push":          {"workflows/contract", "workflows/decide", "workflows/wording", "workflows/signal", "workflows/activity", "workflows/run"},
	"workflows":               {"workflows/activity", "workflows/adoption", "workflows/approval", "workflows/board", "workflows/run", "workflows/reset", "workflows/push", "workflows/deletion", "workflows/deputies", "workflows/listing", "workflows/panel", "workflows/doubt", "workflows/catalogue", "workflows/contract", "workflows/attribute", "workflows/decide", "workflows/wording", "workflows/record", "workflows/answer", "workflows/credential", "workflows/handover", "workflows/signal", "workflows/console", "workflows/proof", "workflows/telemetry"},
	"activities":              {"workflows/contract", "workflows/record", "workflows/answer", "workflows/credential", "activities", "workflows/telemetry"},
	"config":                  {"workflows/contract", "workflows/record", "workflows/credential", "config", "workflows/telemetry"},
	"config/prompt":           {"mcpservers/prompt/sections", "workflows/contract/promptversion"},
	"worker":                  {"workflows", "activities", "config", "worker"},
	"worker/program":          {"workflows", "activities", "config", "worker", "gateway/server/hooks"},
	"worker/cmd":              {"workflows", "activities", "config", "worker", "gateway/server/hooks"},
	"gateway":                 {"workflows/contract", "workflows/record", "workflows/answer", "workflows/credential", "gateway", "mcpservers/hosting/guard", "workflows/telemetry"},
	"gateway/service":         {"gateway/service/idle", "workflows/contract", "workflows/record", "workflows/credential"},
	"gateway/service/idle":    {"workflows/contract"},
	"gateway/service/backend": {"workflows/contract", "workflows/attribute", "workflows/board", "workflows/record", "workflows/credential", "gateway/service", "workflows/telemetry"},
	"gateway/service/graves":  {"workflows/contract", "gateway/service"},
	"gateway/service/search":  {"workflows/contract", "gateway/service"},
	"gateway/service/access":  {"workflows/contract", "gateway/service"},
	"gateway/service/shortid": {"workflows/contract", "gateway/service"},
	"gateway/identity":        {"workflows/contract", "gateway/identity"},
	"gateway/request":         {"workflows/contract", "gateway/service", "mcpservers/hosting/guard"},
	"gateway/slackchat":       {"workflows/contract", "workflows/record", "workflows/credential", "gateway/command", "gateway/identity", "gateway/live", "gateway/passcode", "gateway/request", "gateway/service", "gateway/slackchat"},
	"gateway/desk":            {"workflows/contract", "gateway/service", "gateway/request"},
	"gateway/command":         {"workflows/contract", "workflows/record", "workflows/answer", "gateway/service"},
	"gateway/page":            {},
	"gateway/home":            {"workflows/contract", "gateway/page", "gateway/request"},
	"gateway/live":            {"workflows/contract", "workflows/record", "gateway/service", "workflows/telemetry"},
	"gateway/sse":             {},
	"gateway/bulk":            {"workflows/contract", "gateway/service", "gateway/request"},
	"gateway/witness":         {"workflows/contract", "workflows/credential", "gateway/service"},
	"gateway/control":         {"workflows/contract", "gateway/service", "gateway/request"},
	"gateway/codec":           {"workflows/contract", "gateway/service", "gateway/request", "mcpservers/hosting/guard"},
	"gateway/agui":            {"workflows/contract", "workflows/record"},
	"gateway/client":          {"gateway/agui"},
	"gateway/agui/endpoint":   {"workflows/contract", "workflows/record", "workflows/answer", "gateway/service", "gateway/request", "gateway/live", "gateway/sse", "gateway/agui", "gateway/turn"},
	"gateway/turn":            {"workflows/contract", "workflows/record", "gateway/service", "gateway/live"},
	"gateway/offers":          {"workflows/contract", "gateway/service"},
	"gateway/a2a/protocol":    {"workflows/contract", "gateway/sse"},
	"gateway/a2a/task":        {"workflows/contract", "workflows/record", "workflows/answer"},
	"gateway/a2a/handler":     {"workflows/contract", "workflows/record", "gateway/service", "gateway/request", "gateway/live", "gateway/identity", "gateway/a2a"},
	"gateway/a2a/hook":        {"workflows/contract", "workflows/record", "gateway/service", "gateway/a2a"},
	"gateway/server/hooks":    {"workflows/record", "gateway/a2a/hook", "gateway/service", "config"},
	"gateway/server":          {"workflows/contract", "workflows/board", "workflows/record", "workflows/credential", "gateway", "config", "workflows/telemetry"},
	"gateway/program":         {"workflows/contract", "config", "gateway", "worker/accounts"},
	"gateway/cmd":             {"workflows/contract", "workflows/record", "workflows/credential", "gateway", "config", "worker/accounts"},
	"mcpservers":              {"mcpservers"},
	"deploy":                  {},
	"deploy/conformance":      {"activities", "workflows/contract", "workflows/credential"},

	// Front ends whose clients send a chat, and get one text.
	"gateway/history":          {"workflows/contract", "workflows/record", "gateway/service"},
	"gateway/passcode":         {"workflows/contract", "gateway/history"},
	"gateway/exchange":         {"workflows/contract", "workflows/record", "gateway/service", "gateway/live", "gateway/turn", "gateway/history"},
	"gateway/openai":           {"workflows/contract", "workflows/record", "config/outputschema", "gateway/service", "gateway/request", "gateway/history", "gateway/passcode", "gateway/offers"},
	"gateway/openai/talk":      {"workflows/contract", "workflows/record", "gateway/service", "gateway/request", "gateway/history", "gateway/passcode", "gateway/exchange", "gateway/offers", "gateway/openai"},
	"gateway/openai/chat":      {"workflows/contract", "workflows/record", "gateway/service", "gateway/request", "gateway/sse", "gateway/exchange", "gateway/offers", "gateway/openai"},
	"gateway/ollama":           {"workflows/contract", "workflows/record", "gateway/service", "gateway/request", "gateway/sse", "gateway/exchange", "gateway/offers", "gateway/openai"},
	"gateway/agentapi":         {"workflows/contract", "workflows/record", "gateway/service", "gateway/request", "gateway/sse", "gateway/live", "gateway/turn", "gateway/history", "gateway/passcode", "gateway/exchange", "gateway/command"},
	"gateway/mcpserver":        {"workflows/contract", "workflows/record", "gateway/service", "gateway/request", "gateway/passcode", "gateway/exchange", "gateway/offers", "mcpservers/hosting"},
	"gateway/openai/responses": {"workflows/contract", "workflows/record", "gateway/service", "gateway/request", "gateway/sse", "gateway/history", "gateway/passcode", "gateway/exchange", "gateway/offers", "gateway/openai"},

	// Logins seal what they keep, and are served beside the API.
	"gateway/identity/session": {"workflows/contract", "workflows/credential", "gateway/identity"},
	"gateway/identity/cookie":  {"workflows/credential", "gateway/identity/forwarded"},
	"gateway/login":            {"workflows/contract", "gateway/service", "gateway/request", "gateway/identity"},
	"gateway/serverlogin":      {"workflows/contract", "gateway/service", "gateway/request", "gateway/identity/session"},
	"worker/accounts":          {"workflows/contract", "workflows/credential", "activities/oauth", "config"},

	// The page alone, in front of an agent that is elsewhere.
	"gateway/web": {"gateway/web", "gateway/page", "gateway/identity", "mcpservers/hosting/guard"},

	// The client of other agents has its own types, which its parent uses.
	"activities/rates":    {"workflows/contract", "workflows/attribute"},
	"activities/standing": {"workflows/contract", "workflows/attribute"},
	"activities/peer":     {"workflows/contract", "workflows/telemetry", "activities/peer", "activities/mask", "activities/outbound"},

	// What wire formats share knows none of them, nor the router that knows all.
	"activities/llm":           {"workflows/contract", "workflows/record", "activities/mask", "activities/outbound"},
	"activities/llm/openai":    {"workflows/contract", "activities/llm"},
	"activities/llm/anthropic": {"workflows/contract", "activities/llm"},
	"activities/llm/gemini":    {"workflows/contract", "activities/llm", "activities/outbound"},
	"activities/llm/demo":      {"workflows/contract", "activities/llm"},
	"activities/llm/router":    {"workflows/contract", "workflows/telemetry", "activities/llm"},
	"activities/llm/llmtest":   {"workflows/contract", "activities/llm"},
}

// foreign says which modules of others a room must not import, itself.
var foreign = map[string][]string{
	"workflows/contract":      {"."}, // the standard library only
	"workflows/decide":        {"."},
	"workflows/wording":       {"."},
	"workflows/record":        {"."},
	"workflows/answer":        {"."},
	"workflows/activity":      {"workflows/contract", "workflows/wording", "workflows/handover"},
	"workflows/run":           {"workflows/decide"},
	"workflows/reset":         {"workflows/contract", "workflows/wording", "workflows/activity", "workflows/run"},
	"workflows/push":          {"workflows/contract", "workflows/decide", "workflows/wording", "workflows/signal", "workflows/activity", "workflows/run"},
	"workflows":               {"github.com/openai/", "github.com/mark3labs/", "github.com/labstack/"},
	"gateway":                 {"github.com/openai/", "github.com/mark3labs/", "go.temporal.io/"},
	"gateway/server":          {"github.com/openai/", "github.com/mark3labs/"},
	"gateway/mcpserver":       {"github.com/openai/", "go.temporal.io/"}, // it is an MCP server
	"gateway/live":            {"."},
	"gateway/turn":            {"."},
	"gateway/sse":             {"."},
	"gateway/client":          {"."},
	"gateway/page":            {"."},
	"gateway/service":         {"github.com/labstack/", "github.com/a2aproject/", "go.temporal.io/", "net/http"},
	"gateway/web":             {"github.com/labstack/", "github.com/a2aproject/", "go.temporal.io/"},
	"gateway/identity":        {"github.com/labstack/", "github.com/a2aproject/", "go.temporal.io/"},
	"gateway/login":           {"github.com/a2aproject/", "go.temporal.io/"},
	"gateway/serverlogin":     {"github.com/a2aproject/", "go.temporal.io/"},
	"gateway/service/backend": {"github.com/labstack/", "github.com/a2aproject/", "net/http"},
	"gateway/agui":            {"github.com/labstack/", "github.com/a2aproject/", "go.temporal.io/", "net/http"},
	"gateway/agui/endpoint":   {"github.com/a2aproject/", "go.temporal.io/"},
	"gateway/a2a":             {"github.com/labstack/", "go.temporal.io/"},
	"gateway/request":         {"github.com/labstack/", "github.com/a2aproject/", "go.temporal.io/"},
	"activities/toolbox":      {"go.temporal.io/"},
	"mcpservers":              {"go.temporal.io/"},

	// Only a wire format knows its provider's SDK.
	"activities":               {"github.com/openai/", "github.com/anthropics/", "google.golang.org/genai"},
	"activities/llm":           {"go.temporal.io/", "github.com/openai/", "github.com/anthropics/", "google.golang.org/genai"},
	"activities/llm/openai":    {"go.temporal.io/", "github.com/anthropics/", "google.golang.org/genai"},
	"activities/llm/anthropic": {"go.temporal.io/", "github.com/openai/", "google.golang.org/genai"},
	"activities/llm/gemini":    {"go.temporal.io/", "github.com/openai/", "github.com/anthropics/"},
}

// withOpenTelemetry are the packages that know OpenTelemetry. All others record through the first one.
var withOpenTelemetry = []string{"workflows/telemetry", "config/telemetry"}

func TestOnlyTelemetryKnowsOpenTelemetry(t *testing.T) {
	for _, p := range list(t) {
		if own := strings.TrimPrefix(p.ImportPath, module); !slices.Contains(withOpenTelemetry, own) {
			checkForeign(t, own, p.Imports, []string{"go.opentelemetry.io/"})
		}
	}
}

type pkg struct {
	ImportPath string
	GoFiles    []string
	Imports    []string
	Standard   bool
}

func TestImportsFollowTheArrows(t *testing.T) {
	packages := list(t)
	if len(packages) < 8 {
		t.Fatalf("go list found %d packages; expected the whole module", len(packages))
	}
	for _, p := range packages {
		own := strings.TrimPrefix(p.ImportPath, module)
		room, ok := roomOf(own, keys(arrows))
		if !ok {
			t.Errorf("%s is in no room: name it in arrows", own)
			continue
		}
		for _, imported := range p.Imports {
			if rest, ours := strings.CutPrefix(imported, module); ours && !allowed(rest, arrows[room]) {
				t.Errorf("%s imports %s; %s may import %v of ours", own, rest, room, arrows[room])
			}
		}
		if room, ok := roomOf(own, keys(foreign)); ok {
			checkForeign(t, own, p.Imports, foreign[room])
		}
	}
}

// checkForeign reports imports of forbidden modules. "." stands for all of them:
// their paths begin with a host name.
func checkForeign(t *testing.T, own string, imports, forbidden []string) {
	t.Helper()
	for _, imported := range imports {
		host, _, _ := strings.Cut(imported, "/")
		for _, f := range forbidden {
			if f == "." && strings.Contains(host, ".") || f != "." && strings.HasPrefix(imported, f) {
				t.Errorf("%s imports %s", own, imported)
			}
		}
	}
}

func TestNoRoomIsCalledUtil(t *testing.T) {
	for _, p := range list(t) {
		for _, part := range strings.Split(p.ImportPath, "/") {
			if slices.Contains([]string{"internal", "pkg", "util", "utils", "common", "helpers"}, part) {
				t.Errorf("%s: name a package after what it provides, not %q", p.ImportPath, part)
			}
		}
	}
}

func allowed(imported string, rooms []string) bool {
	return slices.ContainsFunc(rooms, func(r string) bool {
		return imported == r || strings.HasPrefix(imported, r+"/")
	})
}

func roomOf(own string, rooms []string) (string, bool) {
	for dir := own; dir != "."; dir = path.Dir(dir) {
		if slices.Contains(rooms, dir) {
			return dir, true
		}
	}
	return "", false
}

func keys(m map[string][]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,GoFiles,Imports,Standard", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages
		case err != nil:
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// links says which binaries must not contain what; paths are of modules and packages.
var links = map[string][]string{
	"./worker/cmd/worker":             {"github.com/labstack/", "github.com/swaggest/", "agent-stop-and-go/gateway/agui", "agent-stop-and-go/gateway/live", "agent-stop-and-go/gateway/request", "agent-stop-and-go/gateway/a2a/handler"},
	"./gateway/cmd/gateway":           {"github.com/openai/", "github.com/anthropics/", "agent-stop-and-go/activities/llm", "agent-stop-and-go/activities/toolbox", "agent-stop-and-go/activities/peer"},
	"./gateway/cmd/web":               {"github.com/labstack/", "github.com/a2aproject/", "go.temporal.io/", "go.opentelemetry.io/", "agent-stop-and-go/gateway/service", "agent-stop-and-go/activities"},
	"./mcpservers/cmd/mcp-resources":  {"agent-stop-and-go/workflows", "agent-stop-and-go/gateway", "agent-stop-and-go/config", "go.temporal.io/"},
	"./mcpservers/cmd/mcp-filesystem": {"agent-stop-and-go/workflows", "agent-stop-and-go/gateway", "agent-stop-and-go/config", "go.temporal.io/"},
	"./mcpservers/cmd/mcp-openapi":    {"agent-stop-and-go/workflows", "agent-stop-and-go/gateway", "agent-stop-and-go/config", "go.temporal.io/"},
	"./mcpservers/cmd/mcp-prompt":     {"agent-stop-and-go/workflows", "agent-stop-and-go/gateway", "agent-stop-and-go/config", "go.temporal.io/"},
	"./mcpservers/cmd/mcp-web":        {"agent-stop-and-go/workflows", "agent-stop-and-go/gateway", "agent-stop-and-go/config", "go.temporal.io/"},
	"./mcpservers/cmd/mcp-commands":   {"agent-stop-and-go/workflows", "agent-stop-and-go/gateway", "agent-stop-and-go/config", "go.temporal.io/"},
}

func TestBinariesContainOnlyWhatTheyNeed(t *testing.T) {
	for binary, forbidden := range links {
		cmd := exec.Command("go", "list", "-deps", binary)
		cmd.Dir = ".."
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list -deps %s: %v", binary, err)
		}
		for _, dep := range strings.Fields(string(out)) {
			for _, f := range forbidden {
				if strings.HasPrefix(dep, f) {
					t.Errorf("%s contains %s", binary, dep)
				}
			}
		}
	}
}

// A package that is larger than this takes too long to know.
const (
	maxFiles = 25
	maxLines = 3000
)

// large says how large the packages may be that are larger all the same, and why. Numbers here
// only become smaller: what is added makes room first, by moving something out or deleting it.
var large = map[string]struct {
	files, lines int
	why          string
}{
	"activities/toolbox":    {35, 5154, "one client of MCP with three transports"},
	"config":                {38, 4185, "one file: load, validate, describe, schema"},
	"mcpservers/filesystem": {27, 3272, "one server with a tool in each file"},
	"workflows":             {41, 4802, "one state machine: conversation, turn, leaf, node"},
}

func TestPackagesAreSmall(t *testing.T) {
	for _, p := range list(t) {
		own := strings.TrimPrefix(p.ImportPath, module)
		files, lines := sizeOf(t, filepath.Join("..", filepath.FromSlash(own)), p.GoFiles)
		most, listed := large[own]
		switch {
		case !listed && (files > maxFiles || lines > maxLines):
			t.Errorf("%s has %d files and %d lines, more than %d or %d: part it", own, files, lines, maxFiles, maxLines)
		case listed && (files > most.files || lines > most.lines):
			t.Errorf("%s has %d files and %d lines, more than the %d and %d that it may have because it is %s: "+
				"move something out of it or delete it", own, files, lines, most.files, most.lines, most.why)
		case listed && files <= maxFiles && lines <= maxLines:
			t.Errorf("%s is small now: take it from the list", own)
		}
	}
}

// sizeOf is the size of a package without its doc.go, which makes it shorter to know.
func sizeOf(t *testing.T, dir string, names []string) (files, lines int) {
	t.Helper()
	for _, name := range names {
		if name == "doc.go" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files++
		lines += bytes.Count(data, []byte("\n"))
	}
	return files, lines
}
