package programtest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// Running is a command that serves HTTP, with a client of it.
type Running struct {
	*client.Client
	cmd *exec.Cmd
	// Deduplicates reports whether the server says that it recognises repeated calls by their keys.
	Deduplicates bool
}

var address = regexp.MustCompile(` url=(\S+)`)

// Serve starts the command in a folder, with --port 0, and connects to it. The test ends it.
func Serve(t *testing.T, dir string, args ...string) *Running {
	t.Helper()
	cmd := Command(t, append(args, "--port", "0")...)
	cmd.Dir = dir
	pipe, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &Running{cmd: cmd}
	t.Cleanup(r.Kill)
	log := bufio.NewReader(pipe)
	var begin string
	for !address.MatchString(begin) {
		line, err := log.ReadString('\n')
		if begin += line; err != nil {
			t.Fatalf("it does not start: %v\n%s", err, begin)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	c, err := client.NewStreamableHttpClient(address.FindStringSubmatch(begin)[1])
	if err == nil {
		err = c.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	var initialize mcp.InitializeRequest
	initialize.Params.ProtocolVersion = "2025-11-25"
	about, err := c.Initialize(t.Context(), initialize)
	if err != nil {
		t.Fatal(err)
	}
	r.Client = c
	_, r.Deduplicates = about.Capabilities.Experimental[hosting.IdempotencyCapability]
	return r
}

// Kill ends the server with SIGKILL, once, and waits for its end.
func (r *Running) Kill() {
	if r.cmd.ProcessState == nil {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
	}
}

// Call calls a tool with an idempotency key and returns the text. A result with isError is an error.
func (r *Running) Call(ctx context.Context, tool, key string, arguments map[string]any) (string, error) {
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, arguments
	request.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{hosting.IdempotencyKey: key}}
	result, err := r.CallTool(ctx, request)
	if err != nil {
		return "", err
	}
	text := result.Content[0].(mcp.TextContent).Text
	if result.IsError {
		return text, errors.New(text)
	}
	return text, nil
}
