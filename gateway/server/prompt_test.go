package server

import (
	"bytes"
	"context"
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
	"agent-stop-and-go/workflows/contract"
)

// starts is a backend that remembers what was started.
type starts struct {
	service.Backend
	agents []contract.Agent
}

func (s *starts) Start(_ context.Context, in service.StartInput) (service.StartResult, error) {
	s.agents = append(s.agents, in.Conversation.Agent)
	return service.StartResult{}, nil
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
		b := withPrompt(inner, c, agent, Parts{Blobs: blobstore.Memory(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
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
		if got := withPrompt(inner, config.Default(), agent, Parts{}); got != service.Backend(inner) {
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
	r := withPrompt(&starts{}, c, agent, Parts{Blobs: blobstore.Memory(), Logger: slog.New(slog.NewTextHandler(&log, nil))}).(*promptReader)
	start := time.Now()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if got := r.agent(ctx, agent).Root().Prompt.Inline; got != "One.\n" {
				t.Errorf("%q", got)
			}
		})
	}
	wg.Wait()
	if took := time.Since(start); took > 1500*time.Millisecond {
		t.Errorf("20 conversations waited %v", took)
	}
	r.note(context.DeadlineExceeded, start.Add(-2*slow)) // one that waited for long
	start = time.Now()
	if r.current(t.Context()); time.Since(start) > slow {
		t.Errorf("the next one waited %v", time.Since(start))
	}
	if n := strings.Count(log.String(), "cannot be read"); n != 1 {
		t.Errorf("logged %d times: %s", n, &log)
	}
}
