package commands_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/commands"
	"agent-stop-and-go/mcpservers/commands/profile"
	"agent-stop-and-go/mcpservers/commands/sandbox"
	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755))
	must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
}

// connect serves a folder to a client in this process.
func connect(t *testing.T, folder string, options commands.Options) (*commands.Server, *client.Client) {
	t.Helper()
	options.Load = func() (profile.Set, error) { return profile.Collect([]profile.Source{{Path: folder}}) }
	s, err := commands.New(options)
	must(t, err)
	m := commands.NewMCPServer()
	must(t, s.Register(m))
	c, err := client.NewInProcessClient(m)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	must(t, c.Start(t.Context()))
	var request mcp.InitializeRequest
	request.Params.ProtocolVersion = "2025-11-25"
	_, err = c.Initialize(t.Context(), request)
	must(t, err)
	return s, c
}

func call(t *testing.T, c *client.Client, name string, args map[string]any, key string) *mcp.CallToolResult {
	t.Helper()
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = name, args
	if key != "" {
		request.Params.Meta = mcp.NewMetaFromMap(map[string]any{hosting.IdempotencyKey: key})
	}
	result, err := c.CallTool(t.Context(), request)
	must(t, err)
	return result
}

func text(result *mcp.CallToolResult) string {
	return result.Content[0].(mcp.TextContent).Text
}

// Keys do not outlive the server, so a caller that repeats a call after a crash would run it twice.
func TestIdempotencyIsNotDeclared(t *testing.T) {
	_, c := connect(t, t.TempDir(), commands.Options{})
	if got := c.GetServerCapabilities(); got.Tools == nil || got.Experimental[hosting.IdempotencyCapability] != nil {
		t.Errorf("%+v", got)
	}
}

func TestAKilledCommandMayHaveUsedUpItsCPUTime(t *testing.T) {
	for signal, want := range map[string]bool{"killed": true, "CPU time limit exceeded": true, "terminated": false} {
		if got := commands.AnswerOf(commands.Tool{}, sandbox.Command{Time: time.Minute}, sandbox.Result{Signal: signal}); !got.Failed || strings.Contains(got.Text, "more CPU time than") != want {
			t.Errorf("%s: %+v", signal, got)
		}
	}
}

func TestToolsPromptsAndResourcesAreServed(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a-b.yaml", "name: a-b\nshort: Say\nlong: More.\nflags: [{name: word, type: string, help: What, required: true}, {name: n, type: int, default: 1}]\ncommand: [echo, \"{word}\", \"{n}\"]\nhints: {read-only: true}\n")
	write(t, folder, "deep/c.yml", "name: c\nshort: No hints\ncommand: [\"true\"]\n")
	write(t, folder, ".hidden.yaml", "not: a definition\n")
	write(t, folder, "p.yaml", "name: p\nshort: Ask\narguments: [{name: who, required: true}]\nmessages: [{text: \"Greet {who}\"}]\n")
	write(t, folder, "r.yaml", "uri: \"notes:today\"\nname: today\nfile: note.txt\nmime-type: text/plain\n")
	write(t, folder, "note.txt", "buy milk")
	_, c := connect(t, folder, commands.Options{ConvertDashes: true})
	tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	must(t, err)
	if len(tools.Tools) != 2 || tools.Tools[0].Name != "a_b" || !strings.HasPrefix(tools.Tools[0].Description, "Say\n\nMore.") {
		t.Fatalf("%+v", tools.Tools)
	}
	if a := tools.Tools[0].Annotations; !*a.ReadOnlyHint || *a.DestructiveHint || !*a.IdempotentHint || *a.OpenWorldHint {
		t.Errorf("%+v", a)
	}
	if a := tools.Tools[1].Annotations; *a.ReadOnlyHint || !*a.DestructiveHint {
		t.Errorf("without hints: %+v", a)
	}
	if got := call(t, c, "a_b", map[string]any{"word": "$(id)"}, ""); got.IsError || text(got) != "$(id) 1\n" {
		t.Errorf("%+v", got)
	}
	if got := call(t, c, "a_b", map[string]any{"word": "-n"}, ""); !got.IsError || !strings.Contains(text(got), "must not begin") {
		t.Errorf("%+v", got)
	}
	var prompt mcp.GetPromptRequest
	prompt.Params.Name, prompt.Params.Arguments = "p", map[string]string{"who": "Ann"}
	filled, err := c.GetPrompt(t.Context(), prompt)
	if err != nil || filled.Messages[0].Content.(mcp.TextContent).Text != "Greet Ann" {
		t.Errorf("%+v %v", filled, err)
	}
	var read mcp.ReadResourceRequest
	read.Params.URI = "notes:today"
	contents, err := c.ReadResource(t.Context(), read)
	if err != nil || contents.Contents[0].(mcp.TextResourceContents).Text != "buy milk" {
		t.Errorf("%+v %v", contents, err)
	}
}

func TestWhatAMachineCannotLimitIsSaid(t *testing.T) {
	all := sandbox.Abilities{Files: true, TCP: true, Network: true, Children: true, Memory: true, Death: true}
	withoutSpaces := all
	withoutSpaces.Network, withoutSpaces.Children = false, false
	for want, c := range map[string]struct {
		can     sandbox.Abilities
		network bool
	}{
		"": {all, false},
		"only TCP is blocked, other network traffic of the command is not; processes that leave the command's group may go on after it":                                                                                    {withoutSpaces, false},
		"processes that leave the command's group may go on after it":                                                                                                                                                      {withoutSpaces, true},
		"the command can use every file of the server's user; the network is not blocked; memory is not limited; processes that leave the command's group may go on after it; the command goes on if the server is killed": {},
	} {
		if got := strings.Join(commands.Missing(c.can, c.network), "; "); got != want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestAFailureShowsBothStreamsAndIsNotRepeated(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "out/log", "")
	write(t, folder, "f.yaml", "name: f\nshort: Fail\nflags: [{name: x, type: string}]\nwrite: [out]\nenvironment: {LOG: \""+folder+"/out/log\"}\nshell-script: |\n  echo \"$ARG_X\" >>\"$LOG\"; echo out; echo err >&2; exit 3\n")
	_, c := connect(t, folder, commands.Options{})
	for range 2 {
		got := call(t, c, "f", map[string]any{"x": "a"}, "key")
		if !got.IsError || text(got) != "exit status 3\nout\n\nstandard error:\nerr\n" {
			t.Errorf("%q", text(got))
		}
	}
	if got := call(t, c, "f", map[string]any{"x": "b"}, "key"); !got.IsError || !strings.Contains(text(got), hosting.ErrKeyReused.Error()) {
		t.Errorf("%q", text(got))
	}
	if data, _ := os.ReadFile(filepath.Join(folder, "out", "log")); string(data) != "a\n" {
		t.Errorf("it ran as %q", data)
	}
}

func TestFaultsOfAllFilesAreReportedTogether(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a.yaml", "name: a\nshort: s\ncommand: [no-such-program-here]\n")
	write(t, folder, "b.yaml", "name: b\nshort: s\n")
	write(t, folder, "c.yaml", "name: c\nshort: s\nshell-script: echo {{ .Args.x }}\n")
	_, err := profile.Collect([]profile.Source{{Path: folder}})
	for _, want := range []string{"b.yaml: line 1: either", "c.yaml:3: {{ .Args.x }}", "mcp-commands convert"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	must(t, os.Remove(filepath.Join(folder, "b.yaml")))
	must(t, os.Remove(filepath.Join(folder, "c.yaml")))
	s, err := commands.New(commands.Options{Load: func() (profile.Set, error) { return profile.Collect([]profile.Source{{Path: folder}}) }})
	must(t, err)
	if err := s.Register(commands.NewMCPServer()); err == nil || !strings.Contains(err.Error(), "a.yaml: program no-such-program-here is not in") {
		t.Error(err)
	}
}

func TestChangedFilesAreReadAndClientsAreTold(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a.yaml", "name: a\nshort: s\ncommand: [\"true\"]\n")
	s, c := connect(t, folder, commands.Options{})
	changed := make(chan string, 100)
	c.OnNotification(func(n mcp.JSONRPCNotification) { changed <- n.Method })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Watch(ctx, func() ([]string, error) { return []string{folder}, nil }) }()
	names := func() string {
		tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
		must(t, err)
		var list []string
		for _, tool := range tools.Tools {
			list = append(list, tool.Name)
		}
		return strings.Join(list, " ")
	}
	for n, want := range []string{"a b", "a b c"} {
		name := []string{"b.yaml", "new/c.yaml"}[n]
		write(t, folder, name, "name: "+want[len(want)-1:]+"\nshort: s\ncommand: [\"true\"]\n")
		for end := time.Now().Add(20 * time.Second); names() != want; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the tools are %s, want %s", names(), want)
			}
		}
	}
	select {
	case method := <-changed:
		if method != "notifications/tools/list_changed" {
			t.Error(method)
		}
	case <-time.After(20 * time.Second):
		t.Error("clients were not told")
	}
	write(t, folder, "b.yaml", "name: b\n")
	if err := s.Reload(); err == nil || names() != "a b c" {
		t.Errorf("a fault changed the tools to %s: %v", names(), err)
	}
	stop()
	must(t, <-ended)
}
