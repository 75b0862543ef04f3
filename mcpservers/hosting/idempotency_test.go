package hosting_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/mcp"
)

// callCounter returns a new number for each call.
type callCounter struct{ n atomic.Int64 }

func (c *callCounter) do() (any, error) { return map[string]any{"n": c.n.Add(1), "text": "<&>"}, nil }

func asText(t *testing.T, result any, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if raw, ok := result.(json.RawMessage); ok {
		return string(raw)
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}

func TestOnceGivesTheFirstResultAgain(t *testing.T) {
	var results hosting.Results
	var calls callCounter
	for i, want := range []struct {
		once hosting.CallKey
		n    int
	}{{hosting.CallKey{}, 1}, {hosting.CallKey{}, 2}, {hosting.CallKey{Key: "k"}, 3}, {hosting.CallKey{Key: "k"}, 3}, {hosting.CallKey{Key: "l"}, 4}, {hosting.CallKey{Key: "k"}, 3}} {
		result, err := results.Do(t.Context(), "tool", want.once, calls.do)
		if got := asText(t, result, err); got != fmt.Sprintf(`{"n":%d,"text":"<&>"}`, want.n) {
			t.Errorf("%d: %s", i, got)
		}
	}
	for _, other := range []struct {
		tool string
		once hosting.CallKey
	}{{"other", hosting.CallKey{Key: "k"}}, {"tool", hosting.CallKey{Key: "k", ArgsSHA256: "x"}}} {
		if _, err := results.Do(t.Context(), other.tool, other.once, calls.do); !errors.Is(err, hosting.ErrKeyReused) {
			t.Errorf("%v: %v", other, err)
		}
	}
}

func TestOnceWaitsForTheFirstCall(t *testing.T) {
	var results hosting.Results
	var calls callCounter
	started, release := make(chan struct{}), make(chan struct{})
	texts := make([]string, 20)
	var group sync.WaitGroup
	group.Go(func() {
		result, err := results.Do(t.Context(), "tool", hosting.CallKey{Key: "k"}, func() (any, error) {
			close(started)
			<-release
			return calls.do()
		})
		texts[0] = asText(t, result, err)
	})
	<-started
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := results.Do(ended, "tool", hosting.CallKey{Key: "k"}, calls.do); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for i := 1; i < len(texts); i++ {
		group.Go(func() {
			result, err := results.Do(t.Context(), "tool", hosting.CallKey{Key: "k"}, calls.do)
			texts[i] = asText(t, result, err)
		})
	}
	close(release)
	group.Wait()
	for _, text := range texts {
		if text != `{"n":1,"text":"<&>"}` {
			t.Errorf("got %s", text)
		}
	}
}

func TestFailedCallsCanBeRepeated(t *testing.T) {
	var results hosting.Results
	var calls callCounter
	wrong := errors.New("wrong")
	if _, err := results.Do(t.Context(), "tool", hosting.CallKey{Key: "k"}, func() (any, error) { return nil, wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = results.Do(t.Context(), "tool", hosting.CallKey{Key: "k"}, func() (any, error) { panic("x") })
	}()
	result, err := results.Do(t.Context(), "tool", hosting.CallKey{Key: "k"}, calls.do)
	if got := asText(t, result, err); got != `{"n":1,"text":"<&>"}` {
		t.Errorf("got %s", got)
	}
}

func TestOldResultsAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var results hosting.Results
		var calls callCounter
		call := func(key string) string {
			result, err := results.Do(t.Context(), "tool", hosting.CallKey{Key: key}, calls.do)
			return asText(t, result, err)
		}
		first := call("k")
		time.Sleep(hosting.ResultRetention - time.Second)
		if again := call("k"); again != first {
			t.Errorf("%s is not %s", again, first)
		}
		time.Sleep(time.Second)
		if again := call("k"); again == first {
			t.Errorf("still %s", again)
		}
	})
}

func TestResultsBeyondTheLimitAreDropped(t *testing.T) {
	var results hosting.Results
	var calls callCounter
	call := func(key string, do func() (any, error)) any {
		result, err := results.Do(t.Context(), "tool", hosting.CallKey{Key: key}, do)
		if err != nil {
			t.Error(err)
		}
		return result
	}
	for i := range 10_001 {
		call(fmt.Sprint(i), calls.do)
	}
	call("1", calls.do)
	if n := calls.n.Load(); n != 10_001 {
		t.Errorf("%d calls: the second was forgotten", n)
	}
	call("0", calls.do)
	if n := calls.n.Load(); n != 10_002 {
		t.Errorf("%d calls: the first was kept", n)
	}
	large := strings.Repeat("x", 20<<20)
	for range 2 {
		call("large", func() (any, error) { return large, nil })
		call("also large", func() (any, error) { calls.n.Add(1); return large, nil })
	}
	if n := calls.n.Load(); n != 10_004 {
		t.Errorf("%d calls", n)
	}
}

func TestKeysAreText(t *testing.T) {
	of := func(key any) error {
		var request mcp.CallToolRequest
		request.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{hosting.IdempotencyKey: key}}
		_, err := hosting.ParseCallKey(request, nil)
		return err
	}
	for _, key := range []any{5, "", nil, true, []any{}, strings.Repeat("k", 1025)} {
		if of(key) == nil {
			t.Errorf("%.20v was taken", key)
		}
	}
	if err := of(strings.Repeat("k", 1024)); err != nil {
		t.Error(err)
	}
}
