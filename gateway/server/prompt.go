package server

import (
	"context"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/promptversion"
	"agent-stop-and-go/workflows/record/transcript"
)

// promptReader starts conversations with the prompt that is in its directory, or at its tool server, then.
// One that cannot be read is logged. Of a directory the one before counts. Without the one of a server,
// conversations have the text of the file, and are refused if it has none.
type promptReader struct {
	service.Backend
	config config.Config
	blobs  transcript.Store
	logger *slog.Logger
	first  contract.Agent // which the gateway knows
	server func(ctx context.Context, name string) (promptversion.Reading, error)

	mu    sync.Mutex // not held while the prompt is read
	now   contract.Agent
	text  string
	built time.Time
	fault string    // last logged
	last  error     // of the last read
	begun uint64    // reads
	read  uint64    // the one that now is of
	until time.Time // then the prompt is read again, after it could not be for long
}

// slow is a read that failed after waiting. The prompt before counts for pause then, so that no other
// conversation waits for the same thing.
const (
	slow  = time.Second
	pause = 5 * time.Second
)

// withPrompt returns the backend itself for an agent whose prompt is in the file, or at a server although its nodes
// have prompts of their own. Workers read that of a server.
func withPrompt(b service.Backend, c *config.Config, agent contract.Agent, p Parts, server func(context.Context, string) (promptversion.Reading, error)) service.Backend {
	if c.Prompt.Directory == "" && (c.Prompt.Server == "" || !usesPrompt(c)) {
		return b
	}
	return &promptReader{Backend: b, config: *c, blobs: p.Blobs, logger: p.Logger, first: agent, now: agent, text: c.Prompt.System(), built: time.Now(), server: server}
}

// usesPrompt reports whether a model gets the prompt at the top of the file.
func usesPrompt(c *config.Config) bool {
	return c.Root == nil || c.Root.Type == config.LLMNode && c.Root.Prompt == ""
}

func (r *promptReader) Start(ctx context.Context, in service.StartInput) (service.StartResult, error) {
	if err := r.prepare(ctx, &in); err != nil {
		return service.StartResult{}, err
	}
	return r.Backend.Start(ctx, in)
}

func (r *promptReader) StartAndAwait(ctx context.Context, in service.StartInput) (contract.AwaitResult, error) {
	if err := r.prepare(ctx, &in); err != nil {
		return contract.AwaitResult{}, err
	}
	return r.Backend.StartAndAwait(ctx, in)
}

// prepare gives a conversation the prompt of now. One that has begun, whose start is repeated, needs none.
func (r *promptReader) prepare(ctx context.Context, in *service.StartInput) error {
	a, err := r.agent(ctx, in.Conversation.Agent)
	if err == nil {
		in.Conversation.Agent = a
		return nil
	}
	if _, unknown := r.Conversation(ctx, in.Conversation.ID, ""); unknown != nil {
		return err
	}
	return nil
}

// agent returns the agent with the prompt of now. It may be a part of the gateway's.
func (r *promptReader) agent(ctx context.Context, a contract.Agent) (contract.Agent, error) {
	now, err := r.current(ctx)
	if err != nil {
		return a, service.Errorf(service.KindUnavailable, "the prompt of the agent cannot be read from the tool server %s, so no conversation begins: %v", r.config.Prompt.Server, err).Because(err)
	}
	if reflect.DeepEqual(a.Prompt, r.first.Prompt) {
		a.Prompt, a.PromptVersion = now.Prompt, now.PromptVersion
	}
	if reflect.DeepEqual(a.Tree, r.first.Tree) {
		a.Tree = now.Tree
	}
	return a, nil
}

// current reads the prompt. Each conversation reads it itself: what another has begun to read may be older.
// The error is that of a server without which no conversation begins.
func (r *promptReader) current(ctx context.Context) (contract.Agent, error) {
	start := time.Now()
	r.mu.Lock()
	last, wait, err := r.now, start.Before(r.until), r.last
	r.begun++
	n := r.begun
	r.mu.Unlock()
	c := r.config
	if !wait {
		if err = r.readPrompt(ctx, &c); ctx.Err() == nil {
			r.note(err, start)
		}
	}
	server := c.Prompt.Server != ""
	if err == nil || server && ctx.Err() == nil && c.Prompt.FallBack(err.Error()) {
		if last, err = r.build(ctx, &c, n); err != nil && ctx.Err() == nil {
			r.note(err, start)
		}
	}
	if !server { // that of a server may have been read by nobody yet
		err = nil
	}
	return last, err
}

func (r *promptReader) readPrompt(ctx context.Context, c *config.Config) error {
	if c.Prompt.Server == "" {
		return c.ReadPrompt(ctx)
	}
	reading, err := r.server(ctx, c.Prompt.Server)
	if err == nil {
		err = c.Prompt.Take(reading)
	}
	return err
}

// build returns the agent with the prompt of the n-th read. Long prompts are stored, and again before a
// collection may take them.
func (r *promptReader) build(ctx context.Context, c *config.Config, n uint64) (contract.Agent, error) {
	text := c.Prompt.System()
	r.mu.Lock()
	now, same := r.now, text == r.text && reflect.DeepEqual(c.Prompt.Version(), r.now.PromptVersion) && time.Since(r.built) <= deletion.Grace/4
	if same {
		r.read = max(r.read, n)
	}
	r.mu.Unlock()
	if same {
		return now, nil
	}
	agent, err := c.Agent(ctx, r.blobs)
	if err != nil {
		return now, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > r.read {
		r.now, r.text, r.built, r.read = agent, text, time.Now(), n
	}
	return agent, nil
}

// instead says what happens while the prompt cannot be read.
func (r *promptReader) instead() string {
	switch p := r.config.Prompt; {
	case p.Server == "":
		return "new conversations have the one before"
	case p.Text != "":
		return "new conversations have the text of the file"
	}
	return "new conversations are refused"
}

// note logs a failure once.
func (r *promptReader) note(err error, start time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fault := ""
	r.last = err
	if err == nil {
		r.until = time.Time{}
	} else {
		fault = err.Error()
		if now := time.Now(); now.Sub(start) > slow {
			r.until = now.Add(pause)
		}
	}
	if fault != r.fault {
		if r.fault = fault; fault != "" {
			r.logger.Error("the prompt cannot be read; "+r.instead(), "error", fault)
		}
	}
}
