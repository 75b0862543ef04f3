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

	mu    sync.Mutex
	now   contract.Agent
	text  string
	built time.Time
	fault string // last logged
}

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

// current reads the prompt. Long ones are stored, and again before a collection may take them.
func (r *promptReader) current(ctx context.Context) contract.Agent {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.config
	err := c.ReadPrompt(ctx)
	if text := c.Prompt.System(); err == nil && (text != r.text || time.Since(r.built) > deletion.Grace/4) {
		var agent contract.Agent
		if agent, err = c.Agent(ctx, r.blobs); err == nil {
			r.now, r.text, r.built = agent, text, time.Now()
		}
	}
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	if fault != r.fault && ctx.Err() == nil {
		if r.fault = fault; fault != "" {
			r.logger.Error("the prompt cannot be read; new conversations have the one before", "error", fault)
		}
	}
	return r.now
}
