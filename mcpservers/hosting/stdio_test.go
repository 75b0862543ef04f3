package hosting_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
)

// pipe is a client connected to stdin and stdout.
type pipe struct {
	*example
	in     *io.PipeWriter
	out    *bufio.Scanner
	stop   context.CancelFunc
	served chan error
}

func overStdio(t *testing.T, grace time.Duration) pipe {
	t.Helper()
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	p := pipe{newExample(), in, bufio.NewScanner(out), stop, make(chan error, 1)}
	go func() {
		settings := hosting.DefaultSettings(0)
		settings.Transport = hosting.TransportStdio
		p.served <- hosting.Run(ctx, hosting.Options{Settings: settings, Grace: grace, Stdin: stdin, Stdout: stdout}, p.MCPServer)
		stdout.Close()
	}()
	t.Cleanup(func() {
		stop()
		in.Close()
	})
	p.send(t, initialize)
	if got := p.read(t); !strings.Contains(got, `"serverInfo"`) {
		t.Fatal(got)
	}
	return p
}

func (p pipe) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Error(err)
	}
}

func (p pipe) read(t *testing.T) string {
	t.Helper()
	if !p.out.Scan() {
		t.Errorf("no more output: %v", p.out.Err())
	}
	return p.out.Text()
}

func callOf(tool string) string {
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": map[string]any{"name": tool}})
	return string(text)
}

func TestStdioHasASessionAndSubscriptions(t *testing.T) {
	p := overStdio(t, time.Minute)
	for _, want := range []string{`"text":"1"`, `"text":"2"`} {
		p.send(t, callOf("count"))
		if got := p.read(t); !strings.Contains(got, want) {
			t.Errorf("got %s", got)
		}
	}
	p.send(t, `{"jsonrpc":"2.0","id":9,"method":"resources/subscribe","params":{"uri":"thing://1"}}`)
	p.read(t)
	p.subscriptions.Updated("thing://2", "thing://1")
	if got := p.read(t); !strings.Contains(got, "notifications/resources/updated") || !strings.Contains(got, "thing://1") {
		t.Errorf("got %s", got)
	}
	p.in.Close()
	if err := <-p.served; err != nil {
		t.Error(err)
	}
}

func TestStdioAnswersRunningCallsBeforeTheEnd(t *testing.T) {
	for name, end := range map[string]func(pipe){
		"input ends": func(p pipe) { p.in.Close() },
		"told to":    func(p pipe) { p.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			p := overStdio(t, time.Minute)
			p.send(t, callOf("wait"))
			<-p.started
			end(p)
			close(p.release)
			if got := p.read(t); !strings.Contains(got, `"text":"released"`) {
				t.Errorf("got %s", got)
			}
			if err := <-p.served; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStdioCancelsCallsThatTakeTooLong(t *testing.T) {
	p := overStdio(t, 50*time.Millisecond)
	p.send(t, callOf("wait"))
	<-p.started
	go p.read(t) // the refusal
	p.stop()
	if err := <-p.ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestStdioSpeaksTheStatelessProtocolToo(t *testing.T) {
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	e := newExample()
	served := make(chan error, 1)
	go func() {
		served <- hosting.ServeStdio(t.Context(), hosting.Options{Stdin: stdin, Stdout: stdout}, e.MCPServer)
		stdout.Close()
	}()
	c := handshake(t, client.NewClient(transport.NewIO(out, in, io.NopCloser(strings.NewReader("")))), "2026-07-28")
	if got := use(t, c, "count"); got != "1" {
		t.Errorf("got %s", got)
	}
	in.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestStdioRefusesALineThatIsTooLongAndContinues(t *testing.T) {
	const refused = `"error":{"code":-32600,"message":"the message is too long: the limit is 1 MiB"}`
	long := strings.Repeat("x", 1<<20)
	p := overStdio(t, time.Minute)
	for line, id := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"text":"` + long + `"}}`:        `"id":7,`,
		`{"jsonrpc":"2.0","id":"a b","method":"tools/call","params":{"text":"` + long + `"}}`:    `"id":"a b",`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"id":8,"text":"` + long + `"},"id":9}`: `"id":null,`,
		long: `"id":null,`,
		strings.Repeat(" ", 3<<20) + callOf("count"):          `"id":null,`,
		`{"id":{"a":[` + strings.Repeat("1,", 1<<20) + `1]}}`: `"id":null,`,
	} {
		p.send(t, line)
		if got := p.read(t); !strings.Contains(got, id) || !strings.Contains(got, refused) {
			t.Errorf("%.60s…: got %s", line, got)
		}
	}
	p.send(t, callOf("count"))
	if got := p.read(t); !strings.Contains(got, `"text":"1"`) {
		t.Errorf("after it: %s", got)
	}
	if _, err := io.WriteString(p.in, long+long); err != nil { // without newline
		t.Error(err)
	}
	go p.in.Close()
	if got := p.read(t); !strings.Contains(got, refused) {
		t.Errorf("at the end: %s", got)
	}
	if err := <-p.served; err != nil {
		t.Error(err)
	}
}
