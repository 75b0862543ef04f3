package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/reset"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/deploy/standalone/process"
	"agent-stop-and-go/gateway/server"
	"agent-stop-and-go/gateway/service/backend/snapshot"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/worker/calls"
	"agent-stop-and-go/workflows/board"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential/header"
)

const taskQueue = contract.DefaultTaskQueue

// stack is an agent whose model and tool take no time, unless configured otherwise.
type stack struct {
	*platform.Platform
	*site  // an agent without a tree
	mode   contract.Execution
	model  *model
	holds  *calls.WorkflowTasks
	config *config.Config
	logger *slog.Logger
	undo   []func() error

	changes snapshot.Changes
	board   *board.Board
}

// site is a gateway connected to the stack's server.
type site struct {
	url  string
	http *http.Client
	// ollama, agent and shell are the URLs of the ports for clients of other programs.
	ollama, agent, shell string
}

func newStack(ctx context.Context, mode contract.Execution) (*stack, error) {
	s := &stack{mode: mode, model: &model{}, holds: calls.NewWorkflowTasks()}
	s.board = board.New(s.changes.Count)
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *stack) start(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { return os.RemoveAll(dir) })
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	server, err := embedded.Start(ctx, embedded.Options{
		DataDir: dir, SearchAttributes: connect.SearchAttributes(), Intercept: s.holds.Interceptor(), Logger: logger,
	})
	if err != nil {
		return err
	}
	s.undo = append(s.undo, server.Stop)
	c := config.Default()
	c.DataDir, c.Execution = dir, s.mode
	c.UseModel(contract.DemoModel)
	getenv := func(string) string { return "" }
	if s.Platform, err = platform.Open(ctx, c, platform.Options{
		Embedded: server.Address(), OneProcess: true, Getenv: getenv, Logger: logger,
		Propagators: []workflow.ContextPropagator{header.Propagator()},
		Intercept:   []grpc.UnaryClientInterceptor{s.board.Interceptor(), s.changes.Interceptor()},
	}); err != nil {
		return err
	}
	s.undo = append(s.undo, s.Platform.Close)
	s.config, s.logger = c, logger
	if err := s.work(c); err != nil {
		return err
	}
	s.site, err = s.open(ctx, nil)
	return err
}

func (s *stack) work(c *config.Config) error {
	w := worker.New(s.Client, worker.Place{TaskQueue: taskQueue, Keyring: s.Keyring, Calls: calls.New(taskQueue+"-calls", s.holds), Board: s.board, Pollers: process.Pollers}, worker.Activities{
		Models: &activities.Models{Model: s.model, Offer: tool{}, Blobs: s.Blobs, Feed: s.Feed.Publisher()},
		Tools:  &activities.Tools{Caller: tool{}, Blobs: s.Blobs, Claims: s.Blobs, Keyring: s.Keyring, Now: time.Now, Feed: s.Feed.Publisher()},
		Peers:  &activities.Peers{Blobs: s.Blobs, Claims: s.Blobs, Keyring: s.Keyring, Now: time.Now},
		Texts:  &activities.Texts{Blobs: s.Blobs},
		Resets: &reset.Activities{},
		Files:  &activities.Files{Dir: c.DataDir, Blobs: s.Blobs, Feed: s.Feed.Publisher()},
	}, func(err error) { fmt.Fprintln(os.Stderr, "bench: worker:", err) })
	registerBare(w)
	if err := w.Start(); err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { w.Stop(); return nil })
	return nil
}

// open starts a gateway whose agent has the given tree, or no tree.
func (s *stack) open(ctx context.Context, root *config.Node) (*site, error) {
	c := *s.config
	c.Root = root
	g, err := server.New(ctx, &c, server.Parts{
		Client: s.Client, Namespace: s.Namespace, Blobs: s.Blobs, Keyring: s.Keyring, Feed: s.Feed, Logger: s.logger,
		Changes: &s.changes, Board: s.board,
	})
	if err != nil {
		return nil, err
	}
	web, ollama, agent, shell := httptest.NewServer(g), httptest.NewServer(g.Ollama()), httptest.NewServer(g.AgentAPI()), httptest.NewServer(g.Shell())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 500, DialContext: (&net.Dialer{}).DialContext}}
	s.undo = append(s.undo, func() error {
		g.Close()
		client.CloseIdleConnections()
		for _, port := range []*httptest.Server{web, ollama, agent, shell} {
			port.Close()
		}
		return nil
	})
	return &site{web.URL, client, ollama.URL, agent.URL, shell.URL}, nil
}

func (s *stack) stop() error {
	var errs []error
	for i := len(s.undo) - 1; i >= 0; i-- {
		errs = append(errs, s.undo[i]())
	}
	return errors.Join(errs...)
}

// call sends a request and decodes the response into out, unless that is nil.
func (s *site) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode > 201 {
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, data)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}

// chat is a client that talks over HTTP, in conversations of a usual length.
type chat struct {
	*site
	id    string
	turns int
}

const usualLength = 25 // turns

type message struct {
	Message string `json:"message,omitempty"`
}

func (s *site) newChat(ctx context.Context, first string) (*chat, error) {
	var out struct {
		Conversation struct{ ID string }
	}
	err := s.call(ctx, "POST", "/conversations", message{first}, &out)
	return &chat{site: s, id: out.Conversation.ID}, err
}

// turn runs a turn. The start of a new conversation counts as part of it.
func (c *chat) turn(ctx context.Context) error {
	if c.turns++; c.turns%usualLength == 0 {
		next, err := c.newChat(ctx, "")
		if err != nil {
			return err
		}
		c.id = next.id
	}
	return c.call(ctx, "POST", "/conversations/"+c.id+"/messages", message{"go"}, nil)
}

// model calls the tool once in every turn of an agent without a tree. It takes no
// time unless hold is set; then it waits until hold is closed. A node's prompt
// says "write", or how long its call takes.
type model struct {
	hold   chan struct{}
	asked  chan struct{} // closed when a call waits for hold; may be nil
	remote llm.Model     // called for the message "remote"
}

func (m *model) Generate(ctx context.Context, r llm.Request) (llm.Reply, error) {
	last := r.Messages[len(r.Messages)-1]
	did := last.Role == contract.RoleTool
	takes, err := time.ParseDuration(r.System)
	switch {
	case err == nil:
		pause(ctx, time.After(takes))
		return done, nil
	case did:
		return done, nil
	case last.Content.Inline == "write" || r.System == "write":
		return callOf("write"), nil
	case last.Content.Inline == "remote":
		r.Model = "bench"
		return m.remote.Generate(ctx, r)
	case last.Content.Inline == "hold":
		if m.asked != nil {
			close(m.asked)
		}
		pause(ctx, m.hold)
	}
	return callOf("noop"), nil
}

var done = llm.Reply{Text: "done", Finish: llm.FinishStop}

func callOf(tool string) llm.Reply {
	return llm.Reply{Calls: []llm.Call{{ID: "1", Name: tool, Arguments: json.RawMessage(`{"name":"n"}`)}}}
}

func pause[T any](ctx context.Context, until <-chan T) {
	select {
	case <-until:
	case <-ctx.Done():
	}
}

// tool offers a call that does nothing and one that needs an approval.
type tool struct{}

func (tool) Tools(context.Context) []toolbox.Tool {
	schema := json.RawMessage(`{"type":"object"}`)
	return []toolbox.Tool{
		{Tool: contract.Tool{Name: "noop", Server: "bench", InputSchema: schema}},
		{Tool: contract.Tool{Name: "write", Server: "bench", InputSchema: schema, DestructiveHint: true}},
	}
}

func (tool) Check(_ context.Context, _ string, args json.RawMessage) (json.RawMessage, string) {
	return args, ""
}

func (tool) Call(context.Context, toolbox.Call) (toolbox.Result, error) {
	return toolbox.Result{Text: "ok"}, nil
}

func (tool) States() []contract.ServerState { return nil }
func (tool) Conflicts() []string            { return nil }
func (tool) Challenges(string) []string     { return nil }

func (tool) Resources(context.Context) ([]toolbox.Resource, error) { return nil, nil }

func (tool) ReadResource(context.Context, toolbox.Access, string) (toolbox.Result, error) {
	return toolbox.Result{}, errors.New("there are no resources")
}

func (tool) Prompts(context.Context) ([]toolbox.Prompt, error) { return nil, nil }
