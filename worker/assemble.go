package worker

import (
	"context"
	"log/slog"
	"time"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/credential"
	"agent-stop-and-go/workflows/contract/transcript"
)

// Parts are what activities are made of besides the configuration.
type Parts struct {
	Blobs   transcript.Store
	Keyring *credential.Keyring
	Getenv  func(string) string
	Logger  *slog.Logger
}

// Assemble builds the activities that a configuration describes and begins to
// connect to its tool servers, in the background. Call release once the worker
// has stopped; it ends the tool servers that were started.
func Assemble(ctx context.Context, c *config.Config, p Parts) (a Activities, release func() error) {
	box := toolbox.New(toolbox.Options{Servers: servers(c), Logger: p.Logger})
	box.Start(ctx)
	router := llm.NewRouter(llm.Options{Getenv: p.Getenv, BaseURL: c.LLM.BaseURL})
	return Activities{
		Models: &activities.Models{Model: router, Offer: box, Blobs: p.Blobs},
		Tools: &activities.Tools{
			Caller: box, Blobs: p.Blobs, Keyring: p.Keyring, Model: model(c), Now: time.Now,
		},
		Files: &activities.Files{Dir: c.DataDir, Blobs: p.Blobs},
	}, box.Close
}

func servers(c *config.Config) []toolbox.Server {
	var out []toolbox.Server
	for _, s := range c.MCPServers {
		out = append(out, toolbox.Server{
			Name: s.Name, URL: s.URL, Command: s.Command, Args: s.Args, Env: s.Env, Unannotated: s.Unannotated,
		})
	}
	return out
}

func model(c *config.Config) contract.ModelState {
	m := contract.ModelState{Name: c.Model()}
	if m.Name == contract.DemoModel {
		m.Note = llm.DemoNote
	}
	return m
}
