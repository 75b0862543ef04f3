package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/mcpservers/prompt/sections"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/promptversion"
)

// starts is a backend that remembers what was started.
type starts struct {
	service.Backend
	agents []contract.Agent
	known  string // a conversation that has begun
}

func (s *starts) Conversation(_ context.Context, id, _ string) (contract.ConversationView, error) {
	if id == "" || id != s.known {
		return contract.ConversationView{}, service.NoConversation(id)
	}
	return contract.ConversationView{ID: id}, nil
}

func (s *starts) Start(_ context.Context, in service.StartInput) (service.StartResult, error) {
	s.agents = append(s.agents, in.Conversation.Agent)
	return service.StartResult{}, nil
}

func (s *starts) StartAndAwait(_ context.Context, in service.StartInput) (contract.AwaitResult, error) {
	s.agents = append(s.agents, in.Conversation.Agent)
	return contract.AwaitResult{}, nil
}

func TestNewConversationsHaveThePromptOfTheDirectory(t *testing.T) {
	for kind, tree := range map[string]string{"an agent": "", "a single node": "agent: {type: llm, name: a}\n"} {
		dir := t.TempDir()
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("index.md", "One.")
		write("agent.yaml", "prompt: {directory: .}\n"+tree)
		c, err := config.Load(filepath.Join(dir, "agent.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		agent, err := c.Agent(t.Context(), blobstore.Memory())
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		inner := &starts{}
		b := withPrompt(inner, c, agent, Parts{Blobs: blobstore.Memory(), Logger: slog.New(slog.NewTextHandler(&log, nil))}, nil)
		start := func(a contract.Agent) string {
			var in service.StartInput
			in.Conversation.Agent = a
			if _, err := b.Start(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			return inner.agents[len(inner.agents)-1].Root().Prompt.Inline
		}
		fewer := agent
		fewer.Model = "other"
		first := start(agent)
		write("index.md", "Two.")
		second, part := start(agent), start(fewer)
		write("index.md", "[SECTIONS]\ngone")
		third := start(agent)
		fourth := start(agent)
		if first != "One.\n" || second != "Two.\n" || part != "Two.\n" || third != "Two.\n" || fourth != "Two.\n" {
			t.Errorf("%s: %q %q %q %q %q", kind, first, second, part, third, fourth)
		}
		if strings.Count(log.String(), "gone.md is missing") != 1 {
			t.Errorf("%s: logged %s", kind, &log)
		}
		if got := withPrompt(inner, config.Default(), agent, Parts{}, nil); got != service.Backend(inner) {
			t.Errorf("%s: a prompt in no directory is read", kind)
		}
	}
}

// A change that does not end delays each conversation only by what it may wait itself.
func TestConversationsDoNotQueueForALockedPrompt(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"index.md": "One.", "agent.yaml": "prompt: {directory: .}\n", ".lock": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(filepath.Join(dir, "agent.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	agent, err := c.Agent(t.Context(), blobstore.Memory())
	if err != nil {
		t.Fatal(err)
	}
	lock := flock.New(filepath.Join(dir, ".lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	var log bytes.Buffer
	r := withPrompt(&starts{}, c, agent, Parts{Blobs: blobstore.Memory(), Logger: slog.New(slog.NewTextHandler(&log, nil))}, nil).(*promptReader)
	start := time.Now()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if got, err := r.agent(ctx, agent); err != nil || got.Root().Prompt.Inline != "One.\n" {
				t.Errorf("%q %v", got.Root().Prompt.Inline, err)
			}
		})
	}
	wg.Wait()
	if took := time.Since(start); took > 1500*time.Millisecond {
		t.Errorf("20 conversations waited %v", took)
	}
	r.note(context.DeadlineExceeded, start.Add(-2*slow)) // one that waited for long
	start = time.Now()
	if _, err := r.current(t.Context()); err != nil || time.Since(start) > slow {
		t.Errorf("the next one waited %v", time.Since(start))
	}
	if n := strings.Count(log.String(), "cannot be read"); n != 1 {
		t.Errorf("logged %d times: %s", n, &log)
	}
}

// Without the prompt of its server an agent begins no conversation, unless its file has a text for that.
func TestNewConversationsHaveThePromptOfTheServer(t *testing.T) {
	for text, fallback := range map[string]string{"prompt: {server: p}\n": "", "prompt: {server: p, text: Help.}\n": "Help."} {
		file := filepath.Join(t.TempDir(), "agent.yaml")
		if err := os.WriteFile(file, []byte(text+"mcp_servers: [{name: p, url: \"http://127.0.0.1:1/mcp\"}]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		agent, err := c.Agent(t.Context(), blobstore.Memory())
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		inner := &starts{}
		var reading promptversion.Reading
		var failure error
		b := withPrompt(inner, c, agent, Parts{Blobs: blobstore.Memory(), Logger: slog.New(slog.NewTextHandler(&log, nil))},
			func(_ context.Context, server string) (promptversion.Reading, error) {
				if server != "p" {
					t.Errorf("read from %q", server)
				}
				return reading, failure
			})
		prompt := func(text string, version int) promptversion.Reading {
			data, err := json.Marshal(sections.NewReading(sections.Prompt{Text: text}, version))
			if err != nil {
				t.Fatal(err)
			}
			return promptversion.Reading{Prompt: data}
		}
		start := func() (contract.Agent, error) {
			var in service.StartInput
			in.Conversation.Agent = agent
			if _, err := b.Start(t.Context(), in); err != nil {
				_, again := b.StartAndAwait(t.Context(), in)
				if again == nil || again.Error() != err.Error() {
					t.Errorf("StartAndAwait: %v, Start: %v", again, err)
				}
				return contract.Agent{}, err
			}
			return inner.agents[len(inner.agents)-1], nil
		}
		for _, step := range []struct {
			reading promptversion.Reading
			failure error
			want    string
			version int
		}{
			{reading: promptversion.Reading{Problem: "down"}}, {reading: prompt("One.", 1), want: "One.\n", version: 1}, {reading: prompt("One.", 2), want: "One.\n", version: 2},
			{reading: prompt("", 3)}, {failure: errors.New("no worker")}, {reading: promptversion.Reading{Prompt: json.RawMessage("null")}}, {reading: prompt("Two.", 4), want: "Two.\n", version: 4},
		} {
			reading, failure = step.reading, step.failure
			got, err := start()
			switch {
			case step.want != "":
				if err != nil || got.Prompt.Inline != step.want || got.PromptVersion.Number != step.version || got.PromptVersion.Source != "server p" || got.PromptVersion.Fallback != "" {
					t.Errorf("%+v: %v %+v %+v", step, err, got.Prompt, got.PromptVersion)
				}
			case fallback != "":
				if err != nil || got.Prompt.Inline != fallback || got.PromptVersion.Fallback == "" {
					t.Errorf("%+v: %v %+v %+v", step, err, got.Prompt, got.PromptVersion)
				}
			default:
				var refused *service.Error
				if !errors.As(err, &refused) || refused.Kind != service.KindUnavailable || !strings.Contains(err.Error(), "the prompt of the agent cannot be read from the tool server p, so no conversation begins: ") {
					t.Errorf("%+v: %v", step, err)
				}
			}
		}
		if !strings.Contains(log.String(), map[bool]string{true: "are refused", false: "have the text of the file"}[fallback == ""]) {
			t.Errorf("logged %s", &log)
		}
	}
}

// atServer returns an agent whose prompt is at a server that is away, and its backend.
func atServer(t *testing.T, more string, inner *starts, asked *int) (contract.Agent, service.Backend) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agent.yaml")
	text := "prompt: {server: p}\nmcp_servers: [{name: p, url: \"http://127.0.0.1:1/mcp\"}]\n" + more
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	agent, err := c.Agent(t.Context(), blobstore.Memory())
	if err != nil {
		t.Fatal(err)
	}
	return agent, withPrompt(inner, c, agent, Parts{Blobs: blobstore.Memory(), Logger: slog.New(slog.DiscardHandler)},
		func(context.Context, string) (promptversion.Reading, error) {
			*asked++
			return promptversion.Reading{}, errors.New("down")
		})
}

// A start that is repeated while the server is away answers like the first.
func TestARepeatedStartNeedsNoPrompt(t *testing.T) {
	inner, asked := &starts{known: "begun"}, 0
	agent, b := atServer(t, "", inner, &asked)
	for id, want := range map[string]int{"new": 0, "begun": 1} {
		inner.agents = nil
		in := service.StartInput{Conversation: contract.ConversationInput{ID: id, Agent: agent}}
		if _, err := b.Start(t.Context(), in); (err == nil) != (want == 1) || len(inner.agents) != want {
			t.Errorf("%s: %v, started %d", id, err, len(inner.agents))
		}
		if _, err := b.StartAndAwait(t.Context(), in); (err == nil) != (want == 1) || len(inner.agents) != 2*want {
			t.Errorf("%s: %v, started %d", id, err, len(inner.agents))
		}
	}
}

// Nobody asks the server for a prompt that no model gets.
func TestAPromptThatNoNodeUsesIsNotRead(t *testing.T) {
	for more, want := range map[string]int{
		"agent: {name: a, type: llm}\n":                                                      1,
		"agent: {name: a, type: llm, prompt: Own.}\n":                                        0,
		"agent: {name: a, type: sequential, agents: [{name: b, type: llm, prompt: Own.}]}\n": 0,
	} {
		inner, asked := &starts{}, 0
		agent, b := atServer(t, more, inner, &asked)
		_, err := b.Start(t.Context(), service.StartInput{Conversation: contract.ConversationInput{ID: "new", Agent: agent}})
		if asked != want || (err == nil) != (want == 0) {
			t.Errorf("%s: asked %d times, %v", more, asked, err)
		}
	}
}
