// Command mcp-client is a small program around the client of tool servers, for foreign suites
// and servers.
//
//	mcp-client URL              Streamable HTTP
//	mcp-client -sse URL         HTTP with SSE, the transport of 2024-11-05
//	mcp-client -- COMMAND ARGS  stdio
//
// It lists the tools and calls those that a suite expects to be called: add_numbers, echo and
// test_*, test-tool; with -call NAME -args JSON it calls that tool instead. -list also prints resources
// and prompts. Elicitations are accepted with the defaults of their schema. A server that wants an
// access token gets one, for which a person logs in who agrees to everything. The exit code is 1
// if a call has no result.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"time"

	"agent-stop-and-go/activities/toolbox"
)

const patience = 25 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "mcp-client:", err)
		os.Exit(1)
	}
}

type options struct {
	sse, list  bool
	call, args string
	target     []string
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("mcp-client", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.BoolVar(&o.sse, "sse", false, "the URL is that of an SSE stream")
	f.BoolVar(&o.list, "list", false, "list resources and prompts too")
	f.StringVar(&o.call, "call", "", "the tool to call")
	f.StringVar(&o.args, "args", "{}", "its arguments, a JSON object")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.target = f.Args(); len(o.target) == 0 {
		return o, errors.New("a URL or -- COMMAND is wanted")
	}
	return o, nil
}

func (o options) server() toolbox.Server {
	s := toolbox.Server{Name: "server", MayAsk: true, Roots: []string{"."}}
	switch {
	case !strings.HasPrefix(o.target[0], "http"):
		s.Command, s.Args = o.target[0], o.target[1:]
	case o.sse:
		s.URL, s.Transport = o.target[0], toolbox.SSE
	default:
		s.URL = o.target[0]
	}
	return s
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	server := o.server()
	who := &person{}
	if server.URL != "" {
		client, personal, err := newClient(server.URL, getenv)
		switch {
		case err != nil:
			return err
		case personal:
			who = newPerson(client)
		default:
			server.Credential = client // as a worker does
		}
	}
	box := toolbox.New(toolbox.Options{
		Servers: []toolbox.Server{server}, Elicitor: defaults{}, FirstWait: patience,
		Logger: slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	defer func() { err = cmp.Or(err, box.Close()) }()
	tools, err := who.tools(ctx, box)
	if err != nil {
		return err
	}
	for _, tool := range tools {
		fmt.Fprintf(stdout, "%s  %s\n", tool.Name, tool.InputSchema)
	}
	if o.list {
		if err := list(ctx, box, stdout); err != nil {
			return err
		}
	}
	for _, c := range o.calls(tools) {
		c.Progress = func(p toolbox.Progress) {
			fmt.Fprintf(stderr, "progress %v of %v %s\n", p.Progress, p.Total, p.Message)
		}
		result, err := who.call(ctx, box, c)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: %s\n", c.Tool, result.Text)
	}
	return nil
}

func list(ctx context.Context, box *toolbox.Toolbox, w io.Writer) error {
	resources, err := box.Resources(ctx)
	if err != nil {
		return err
	}
	for _, r := range resources {
		fmt.Fprintf(w, "resource %s %s\n", r.URI, r.Name)
	}
	prompts, err := box.Prompts(ctx)
	if err != nil {
		return err
	}
	for _, p := range prompts {
		fmt.Fprintf(w, "prompt %s\n", p.Name)
	}
	return nil
}

// known has the arguments of tools that suites expect to be called.
var known = map[string]string{"add_numbers": `{"a":5,"b":3}`, "echo": `{"message":"hello"}`}

func (o options) calls(tools []toolbox.Tool) []toolbox.Call {
	if o.call != "" {
		return []toolbox.Call{{Server: "server", Tool: o.call, Arguments: json.RawMessage(o.args)}}
	}
	var out []toolbox.Call
	for _, tool := range tools {
		args, expected := known[tool.Name]
		if expected || strings.HasPrefix(tool.Name, "test_") || tool.Name == "test-tool" {
			out = append(out, toolbox.Call{Server: "server", Tool: tool.Name, Arguments: json.RawMessage(args)})
		}
	}
	return out
}

// defaults accepts every elicitation with the proposed values.
type defaults struct{}

func (defaults) Elicit(_ context.Context, q toolbox.Question) (toolbox.Answer, error) {
	var schema struct {
		Properties map[string]struct {
			Default any `json:"default"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(q.Schema, &schema); err != nil {
		return toolbox.Answer{}, fmt.Errorf("decode the question: %w", err)
	}
	content := map[string]any{}
	for name, p := range schema.Properties {
		if p.Default != nil {
			content[name] = p.Default
		}
	}
	return toolbox.Answer{Action: toolbox.Accept, Content: content}, nil
}
