package hosting_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestTheIdlestOfTooManySessionsAreDeleted(t *testing.T) {
	eachStore(t, func(t *testing.T, store hosting.SessionStore) {
		s := serve(t, hosting.Options{Sessions: store, MaxSessions: 10})
		listening, idle := newSession(t, s.url), newSession(t, s.url)
		ask(t, "GET", s.url+"/mcp", "", listening)
		var last string
		for range 30 {
			time.Sleep(2 * time.Millisecond) // files store milliseconds
			last = newSession(t, s.url)
		}
		for header, want := range map[string]int{listening: 200, idle: 404, last: 200} {
			if response, body := ask(t, "POST", s.url+"/mcp", listTools, header); response.StatusCode != want {
				t.Errorf("%d %s, want %d", response.StatusCode, body, want)
			}
		}
		if n, err := store.Count(t.Context()); n > 10 || err != nil {
			t.Errorf("%d sessions, %v", n, err)
		}
	})
}

func TestTrimDeletesAndNamesTheIdlest(t *testing.T) {
	eachStore(t, func(t *testing.T, store hosting.SessionStore) {
		create(t, store, "a", "b", "c")
		for i, id := range []string{"b", "c", "a"} {
			if err := store.Use(t.Context(), id, noon.Add(time.Duration(i)*time.Minute), time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, test := range []struct {
			most int
			want []string
		}{{3, nil}, {1, []string{"b", "c"}}, {0, []string{"a"}}} {
			got, err := store.Trim(t.Context(), test.most)
			if slices.Sort(got); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%d: got %v, %v", test.most, got, err)
			}
		}
	})
}

func TestInitializeIsShort(t *testing.T) {
	s := serve(t, hosting.Options{})
	long := func(body string) string { return strings.Replace(body, "{", "{"+strings.Repeat(" ", 70_000), 1) }
	response, body := ask(t, "POST", s.url+"/mcp", long(initialize))
	if response.StatusCode != 413 || body != "Request body of initialize over 64 KiB\n" {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if response, body := ask(t, "POST", s.url+"/mcp", long(listTools), newSession(t, s.url)); response.StatusCode != 200 {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

// addLargeTool adds a tool whose result is larger than all buffers of a connection.
func addLargeTool(e *example) {
	e.AddTool(mcp.NewTool("much"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Repeat("x", 32<<20)), nil
	})
}

// callLargeTool calls that tool on its own connection.
func callLargeTool(t *testing.T, url, session string) net.Conn {
	t.Helper()
	address := strings.TrimPrefix(url, "http://")
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	body := callOf("much")
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\n%s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s",
		address, session, len(body), body)
	return conn
}

func TestAClientThatDoesNotReadIsDisconnected(t *testing.T) {
	s := serve(t, hosting.Options{WriteTimeout: 100 * time.Millisecond})
	addLargeTool(s.example)
	session := newSession(t, s.url)
	s.log.waitFor(t, "path=/mcp")
	callLargeTool(t, s.url, session)
	done := make(chan string, 1)
	go func() { done <- s.log.waitFor(t, "path=/mcp") }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Error("the handler still waits")
	}
}

func TestAClientThatReadsSlowlyGetsAll(t *testing.T) {
	retryLimits(t, 300*time.Millisecond, func(limit time.Duration) error {
		s := serve(t, hosting.Options{WriteTimeout: limit})
		addLargeTool(s.example)
		conn := bufio.NewReaderSize(callLargeTool(t, s.url, newSession(t, s.url)), 1<<20)
		for n := int64(0); n < 32<<20; time.Sleep(limit / 3) { // longer in total than the limit
			more, err := io.CopyN(io.Discard, conn, 4<<20)
			if n += more; err != nil && n < 32<<20 {
				return fmt.Errorf("got %d bytes: %w", n, err)
			}
		}
		return nil
	})
}

// retryLimits tries limits, each four times the previous one, until f succeeds. On a busy machine a
// client cannot meet a short limit.
func retryLimits(t *testing.T, limit time.Duration, f func(limit time.Duration) error) {
	t.Helper()
	err := f(limit)
	for ; err != nil && limit < 20*time.Second; err = f(limit) {
		limit *= 4
	}
	if err != nil {
		t.Error(err)
	}
}

func TestAConnectionServesTheNextRequestAfterTheTimeout(t *testing.T) {
	retryLimits(t, time.Second, func(limit time.Duration) error {
		s := serve(t, hosting.Options{WriteTimeout: limit})
		id := newSession(t, s.url)
		for range 2 {
			time.Sleep(limit + limit/5)
			if response, body := ask(t, "POST", s.url+"/mcp", listTools, id); response.StatusCode != 200 {
				return fmt.Errorf("%d %s", response.StatusCode, body)
			}
		}
		return nil
	})
}
