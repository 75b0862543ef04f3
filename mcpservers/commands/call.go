package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"time"

	"agent-stop-and-go/mcpservers/commands/definition"
	"agent-stop-and-go/mcpservers/commands/sandbox"
	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Answer is what a caller gets of a command that was started.
type Answer struct {
	Text   string `json:"text"`
	Failed bool   `json:"failed"`
}

func (s *Server) handler(t Tool) server.ToolHandlerFunc {
	readOnly := *annotation(t).ReadOnlyHint
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		start := time.Now()
		answer, err := s.callOnce(ctx, t, request, readOnly)
		s.options.Log.With(hosting.CallerAttrs(request)...).Info("tool", "tool", t.Name, "ok", err == nil && !answer.Failed, "latency", time.Since(start))
		switch {
		case err != nil:
			return mcp.NewToolResultError(err.Error()), nil
		case answer.Failed:
			return mcp.NewToolResultError(answer.Text), nil
		}
		return mcp.NewToolResultText(answer.Text), nil
	}
}

// callOnce runs a call, unless a writing call with the same key was already started.
func (s *Server) callOnce(ctx context.Context, t Tool, request mcp.CallToolRequest, readOnly bool) (Answer, error) {
	args := map[string]json.RawMessage{}
	if err := request.BindArguments(&args); err != nil {
		return Answer{}, errors.New("arguments must be a JSON object")
	}
	if readOnly {
		return s.Call(ctx, t, args)
	}
	key, err := hosting.ParseCallKey(request, args)
	if err != nil {
		return Answer{}, err
	}
	result, err := s.results.Do(ctx, t.Name, key, func() (any, error) { return s.Call(ctx, t, args) })
	if err != nil {
		return Answer{}, err
	}
	if stored, ok := result.(json.RawMessage); ok {
		var answer Answer
		err := json.Unmarshal(stored, &answer)
		return answer, err
	}
	return result.(Answer), nil
}

// Call checks the arguments and runs the command. An error means that it was not started.
func (s *Server) Call(ctx context.Context, t Tool, args map[string]json.RawMessage) (Answer, error) {
	command, err := s.command(t, args)
	if err != nil {
		return Answer{}, err
	}
	result, err := s.box.Run(ctx, command)
	if err != nil {
		return Answer{}, err
	}
	return answerOf(t, command, result), nil
}

// command turns arguments into a process.
func (s *Server) command(t Tool, args map[string]json.RawMessage) (sandbox.Command, error) {
	values, err := t.Parameters.Values(args)
	if err != nil {
		return sandbox.Command{}, err
	}
	c := sandbox.Command{
		Program: t.Program, Dir: t.Cwd, Read: t.Read, Write: t.Write, Network: t.Network, SHA256: t.SHA256, Script: t.Script,
		Time: orElse(time.Duration(t.Limits.Time), DefaultTime), Memory: orElse(t.Limits.MemoryBytes(), DefaultMemory), Output: orElse(t.Limits.Output, DefaultOutput),
	}
	if t.Script == "" {
		if c.Args, err = t.Argv(values); err != nil {
			return c, err
		}
	}
	if c.Env, err = t.Variables(values, s.options.Getenv); err != nil {
		return c, err
	}
	return c, definition.CheckSize(c.Args, c.Env)
}

func orElse[T int | int64 | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

// answerOf words a result. A failure shows both streams; a success shows errors only if the
// definition wants them.
func answerOf(t Tool, c sandbox.Command, r sandbox.Result) Answer {
	var failure string
	switch {
	case r.TimedOut:
		failure = fmt.Sprintf("the command took longer than %v and was ended", c.Time)
	case r.Cancelled:
		failure = "the call was cancelled and the command ended"
	case r.Signal != "":
		failure = "the command was ended by a signal: " + r.Signal
		if r.Signal == syscall.SIGKILL.String() || r.Signal == syscall.SIGXCPU.String() {
			failure += fmt.Sprintf(", perhaps because all its threads together took more CPU time than %d processors have in %v", runtime.NumCPU(), c.Time)
		}
	case r.Code != 0:
		failure = fmt.Sprintf("exit status %d", r.Code)
	}
	var parts []string
	if failure != "" {
		parts = append(parts, failure)
	}
	if text := worded(r.Stdout); text != "" {
		parts = append(parts, text)
	}
	if text := worded(r.Stderr); text != "" && (t.CaptureStderr || failure != "") {
		parts = append(parts, "standard error:\n"+text)
	}
	return Answer{Text: strings.Join(parts, "\n"), Failed: failure != ""}
}

func worded(o sandbox.Output) string {
	text := o.Text
	if o.Cut {
		text += fmt.Sprintf("\n[cut: the command wrote %d bytes]", o.Size)
	}
	return text
}
