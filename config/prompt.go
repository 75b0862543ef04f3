package config

import (
	"context"
	"path/filepath"
	"slices"
)

// checkPrompt checks the keys of the prompt.
func (c *Config) checkPrompt(r *report) {
	for _, f := range c.Prompt.Check() {
		r.at("prompt"+f.Key, "%s", f.Message)
	}
	if s := c.Prompt.Server; s != "" && !slices.ContainsFunc(c.MCPServers, func(m MCPServer) bool { return m.Name == s }) {
		r.at("prompt.server", "%q is no server in mcp_servers", s)
	}
}

// ReadPrompt reads the files of the prompt again. The error is an Errors.
func (c *Config) ReadPrompt(ctx context.Context) error {
	if errs := c.readPrompt(ctx); len(errs) > 0 {
		return errs
	}
	return ctx.Err()
}

// readPrompt reads the files of the prompt. A mistake in one of them is reported there.
func (c *Config) readPrompt(ctx context.Context) (errs Errors) {
	r := newReport(c.file, c.lines)
	for _, f := range c.Prompt.Read(ctx, filepath.Dir(c.file)) {
		if f.File == "" {
			r.at("prompt"+f.Key, "%s", f.Message)
			continue
		}
		errs = append(errs, &Error{File: f.File, Line: f.Line, Message: f.Message})
	}
	return append(r.sorted(), errs...)
}
