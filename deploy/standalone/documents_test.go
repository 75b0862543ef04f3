package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/syntax"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/switches"
)

const project = "../.."

// A document shows commands in blocks of sh and console, of which the latter have their output
// too.
var (
	shellBlocks = regexp.MustCompile("(?ms)^```(sh|console)\n(.*?)^```")
	nightRows   = regexp.MustCompile("(?m)^\\|.*\\| `([^`|]+)` *\\|$")
)

// shownCommand is a command that a document shows, as words without quotes. The value of what
// only a shell knows is *.
type shownCommand struct {
	file, folder string // folder is the working directory, from that of the project
	words        []string
}

// The commands of all documents are commands of this version: programs, commands and flags of
// agent, targets of make, paths of the API, signals, queries, files and folders.
func TestCommandsOfDocuments(t *testing.T) {
	seen := map[string]int{}
	for _, file := range shownFiles(t) {
		for _, c := range commandsOf(t, file) {
			if c.words[0] == "sudo" {
				c.words = c.words[1:]
			}
			name := filepath.Base(c.words[0])
			check, known := programs[name]
			if !known {
				t.Errorf("%s: there is no program %s: %q", file, name, c.words)
				continue
			}
			seen[name]++
			if check != nil {
				check(t, c)
			}
			c.checkFiles(t)
		}
	}
	for _, name := range []string{"agent", "make", "curl", "temporal", "helm"} {
		if seen[name] == 0 {
			t.Errorf("no document shows %s", name)
		}
	}
}

// programs are those that documents may show, with what to check besides files; nil for nothing.
var programs = map[string]func(*testing.T, shownCommand){
	"agent": checkAgent, "worker": checkFlags, "gateway": checkFlags, "web": checkFlags, "mcp-resources": checkFlags, "mcp-filesystem": checkFlags, "mcp-commands": checkFlags, "mcp-sql": checkFlags, "mcp-web": checkFlags, "mcp-openapi": checkFlags, "mcp-prompt": checkFlags, "mcp-drive": checkFlags,
	"make": checkMake, "curl": checkCurl, "temporal": checkTemporal, "tctl": checkTemporal, "promtool": nil, "prometheus": nil,
	"kubectl": nil, "helm": nil, "docker": nil, "systemctl": nil, "journalctl": nil, "psql": nil, "pg_dump": nil, "pg_restore": nil, "dropdb": nil, "createdb": nil, "pg_basebackup": nil, "redis-cli": nil,
	"cd": nil, "cp": nil, "df": nil, "du": nil, "install": nil, "mkdir": nil, "umask": nil, "echo": nil, "tee": nil, "cat": nil, "kill": nil, "grep": nil, "head": nil, "tail": nil, "sort": nil, "sed": nil, "tr": nil,
	"jq": nil, "openssl": nil, "sha256sum": nil, "tar": nil, "git": nil, "go": nil, "npm": nil, "bench": nil, "export": nil,
}

func shownFiles(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "*/*.md", "deploy/*/*.md", "deploy/standalone/*/*.md", ".github/*.md"} {
		found, err := filepath.Glob(filepath.Join(project, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 15 {
		t.Fatalf("only %v", files)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// commandsOf are the commands that a document shows, in its blocks and in tables that end with one.
func commandsOf(t *testing.T, file string) (out []shownCommand) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var scripts []string
	for _, m := range shellBlocks.FindAllStringSubmatch(string(data), -1) {
		if m[1] == "console" {
			m[2] = withoutOutput(m[2])
		}
		scripts = append(scripts, m[2])
	}
	if filepath.Base(file) == "NIGHT.md" {
		for _, m := range nightRows.FindAllStringSubmatch(string(data), -1) {
			scripts = append(scripts, m[1])
		}
	}
	for _, script := range scripts {
		out = append(out, commandsIn(t, file, script)...)
	}
	return out
}

// withoutOutput leaves the lines of a console that somebody types.
func withoutOutput(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if typed, ok := strings.CutPrefix(line, "$ "); ok {
			out.WriteString(typed)
		}
	}
	return out.String()
}

func commandsIn(t *testing.T, file, script string) (out []shownCommand) {
	t.Helper()
	parsed, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), file)
	if err != nil {
		t.Errorf("%s: a shell cannot read it: %v\n%s", file, err, script)
		return nil
	}
	folder := ""
	syntax.Walk(parsed, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		c := shownCommand{file: file, folder: folder}
		for _, w := range call.Args {
			c.words = append(c.words, plain(w))
		}
		if c.words[0] == "cd" {
			folder = filepath.Join(folder, c.words[1])
		}
		out = append(out, c)
		return true
	})
	return out
}

// plain is a word as the program gets it, with * for what only a shell knows.
func plain(w *syntax.Word) string {
	var text strings.Builder
	for _, part := range w.Parts {
		plainPart(&text, part)
	}
	return text.String()
}

func plainPart(text *strings.Builder, part syntax.WordPart) {
	switch p := part.(type) {
	case *syntax.Lit:
		text.WriteString(p.Value)
	case *syntax.SglQuoted:
		text.WriteString(p.Value)
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			plainPart(text, inner)
		}
	default:
		text.WriteString("*")
	}
}

// checkAgent parses a command line of agent.
func checkAgent(t *testing.T, c shownCommand) {
	t.Helper()
	root := newCommand(env())
	cmd, rest, err := root.Find(c.words[1:])
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil && err != pflag.ErrHelp {
		t.Errorf("%s: %q: %v", c.file, c.words, err)
	}
}

// checkFlags looks for the flags of another binary in its source.
func checkFlags(t *testing.T, c shownCommand) {
	t.Helper()
	name := filepath.Base(c.words[0])
	sources, err := filepath.Glob(filepath.Join(project, "*", "cmd", name, "*.go"))
	if nested, more := filepath.Glob(filepath.Join(project, "*", "*", "cmd", name, "*.go")); more == nil { // mcp-sql, mcp-drive
		sources = append(sources, nested...)
	}
	if programs, more := filepath.Glob(filepath.Join(project, name, "program", "*.go")); more == nil { // worker and gateway
		sources = append(sources, programs...)
	}
	if err != nil || len(sources) == 0 {
		t.Fatalf("%s: %v", name, err)
	}
	for _, word := range c.words[1:] {
		flag, _, _ := strings.Cut(word, "=")
		if !strings.HasPrefix(flag, "--") {
			continue
		}
		if !slices.ContainsFunc(sources, func(source string) bool { return strings.Contains(read(t, source), flag) }) {
			t.Errorf("%s: %s has no %s", c.file, name, flag)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// checkMake looks for targets and variables.
func checkMake(t *testing.T, c shownCommand) {
	t.Helper()
	makefile := read(t, filepath.Join(project, "Makefile"))
	for _, word := range c.words[1:] {
		name, _, assigns := strings.Cut(word, "=")
		found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `:`)
		if assigns {
			found = regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` *\?=`)
		}
		if !found.MatchString(makefile) {
			t.Errorf("%s: %q: the Makefile has no %s", c.file, c.words, name)
		}
	}
}

var variablePart = regexp.MustCompile(`^(UUID|ID|\*|[0-9a-f-]{36})$`)

// checkCurl looks for paths in the document of the API.
func checkCurl(t *testing.T, c shownCommand) {
	t.Helper()
	for _, word := range c.words[1:] {
		_, path, ours := strings.Cut(word, "127.0.0.1:8080")
		path, _, _ = strings.Cut(path, "?")
		if !ours || path == "*" { // a path from an answer before
			continue
		}
		if path = strings.TrimSuffix(path, "/"); path != "" && !hasPath(t, path) {
			t.Errorf("%s: %q: the API has no %s", c.file, c.words, path)
		}
	}
}

func hasPath(t *testing.T, path string) bool {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^  (/\S*):$`).FindAllStringSubmatch(read(t, filepath.Join(project, "gateway", "openapi.yaml")), -1) {
		if slices.EqualFunc(strings.Split(path, "/"), strings.Split(m[1], "/"), func(a, b string) bool {
			return a == b || strings.HasPrefix(b, "{") && variablePart.MatchString(a)
		}) {
			return true
		}
	}
	return false
}

// checkTemporal looks for the names of signals and queries.
func checkTemporal(t *testing.T, c shownCommand) {
	t.Helper()
	known := []string{
		contract.SignalMessage, contract.SignalCancel, contract.SignalClose, contract.SignalDecide, contract.SignalSet, contract.SignalDelete,
		contract.QueryConversation, contract.QueryPending, contract.QueryTree, switches.SignalPause, switches.SignalResume,
	}
	for i, word := range c.words[:len(c.words)-1] {
		signals := word == "--name" && slices.Contains(c.words, "signal")
		queries := word == "--type" && slices.Contains(c.words, "query")
		if (signals || queries) && !slices.Contains(known, c.words[i+1]) {
			t.Errorf("%s: %q: there is no %s", c.file, c.words, c.words[i+1])
		}
	}
}

var ownPath = regexp.MustCompile(`^(deploy|config|gateway|\.github)/[\w./-]+$`)

// checkFiles looks for the files and folders of the project.
func (c shownCommand) checkFiles(t *testing.T) {
	t.Helper()
	for _, word := range c.words[1:] {
		if _, value, ok := strings.Cut(word, "="); ok {
			word = value
		}
		if !ownPath.MatchString(word) && !(c.words[0] == "cd" && !filepath.IsAbs(word)) {
			continue
		}
		if _, err := os.Stat(filepath.Join(project, c.folder, word)); err != nil {
			t.Errorf("%s: %q: %v", c.file, c.words, err)
		}
	}
}
