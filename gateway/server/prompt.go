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
	"agent-stop-and-go/workflows/record/transcript"
)

// promptReader starts conversations with the prompt that is in its directory then. One that cannot be
// read is logged, and the one before counts.
type promptReader struct {
	service.Backend
	config config.Config
	blobs  transcript.Store
	logger *slog.Logger
	first  contract.Agent // which the gateway knows

	mu    sync.Mutex // not held while the prompt is read
	now   contract.Agent
	text  string
	built time.Time
	fault string    // last logged
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

// withPrompt returns the backend itself for an agent whose prompt is in no directory.
func withPrompt(b service.Backend, c *config.Config, agent contract.Agent, p Parts) service.Backend {
	if c.Prompt.Directory == "" {
		return b
	}
	return &promptReader{Backend: b, config: *c, blobs: p.Blobs, logger: p.Logger, first: agent, now: agent, text: c.Prompt.System(), built: time.Now()}
}

func (r *promptReader) Start(ctx context.Context, in service.StartInput) (service.StartResult, error) {
	in.Conversation.Agent = r.agent(ctx, in.Conversation.Agent)
	return r.Backend.Start(ctx, in)
}

func (r *promptReader) StartAndAwait(ctx context.Context, in service.StartInput) (contract.AwaitResult, error) {
	in.Conversation.Agent = r.agent(ctx, in.Conversation.Agent)
	return r.Backend.StartAndAwait(ctx, in)
}

// agent returns the agent with the prompt of now. It may be a part of the gateway's.
func (r *promptReader) agent(ctx context.Context, a contract.Agent) contract.Agent {
	now := r.current(ctx)
	if reflect.DeepEqual(a.Prompt, r.first.Prompt) {
		a.Prompt = now.Prompt
	}
	if reflect.DeepEqual(a.Tree, r.first.Tree) {
		a.Tree = now.Tree
	}
	return a
}

// current reads the prompt. Each conversation reads it itself: what another has begun to read may be older.
func (r *promptReader) current(ctx context.Context) contract.Agent {
	start := time.Now()
	r.mu.Lock()
	last, wait := r.now, start.Before(r.until)
	r.begun++
	n := r.begun
	r.mu.Unlock()
	if wait {
		return last
	}
	c := r.config
	err := c.ReadPrompt(ctx)
	if ctx.Err() != nil {
		return last
	}
	if err == nil {
		last, err = r.build(ctx, &c, n)
	}
	r.note(err, start)
	return last
}

// build returns the agent with the prompt of the n-th read. Long prompts are stored, and again before a
// collection may take them.
func (r *promptReader) build(ctx context.Context, c *config.Config, n uint64) (contract.Agent, error) {
	text := c.Prompt.System()
	r.mu.Lock()
	now, same := r.now, text == r.text && time.Since(r.built) <= deletion.Grace/4
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

// note logs a failure once.
func (r *promptReader) note(err error, start time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fault := ""
	if err != nil {
		fault = err.Error()
		if now := time.Now(); now.Sub(start) > slow {
			r.until = now.Add(pause)
		}
	}
	if fault != r.fault {
		if r.fault = fault; fault != "" {
			r.logger.Error("the prompt cannot be read; new conversations have the one before", "error", fault)
		}
	}
}
