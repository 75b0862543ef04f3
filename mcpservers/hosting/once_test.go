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

// counted returns a new number for each call.
type counted struct{ n atomic.Int64 }

func (c *counted) do() (any, error) { return map[string]any{"n": c.n.Add(1), "text": "<&>"}, nil }

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
	var calls counted
	for i, want := range []struct {
		once hosting.Once
		n    int
	}{{hosting.Once{}, 1}, {hosting.Once{}, 2}, {hosting.Once{Key: "k"}, 3}, {hosting.Once{Key: "k"}, 3}, {hosting.Once{Key: "l"}, 4}, {hosting.Once{Key: "k"}, 3}} {
		result, err := results.Once(t.Context(), "tool", want.once, calls.do)
		if got := asText(t, result, err); got != fmt.Sprintf(`{"n":%d,"text":"<&>"}`, want.n) {
			t.Errorf("%d: %s", i, got)
		}
	}
	for _, other := range []struct {
		tool string
		once hosting.Once
	}{{"other", hosting.Once{Key: "k"}}, {"tool", hosting.Once{Key: "k", ArgsSHA256: "x"}}} {
		if _, err := results.Once(t.Context(), other.tool, other.once, calls.do); !errors.Is(err, hosting.ErrKeyReused) {
			t.Errorf("%v: %v", other, err)
		}
	}
}

func TestOnceWaitsForTheFirstCall(t *testing.T) {
	var results hosting.Results
	var calls counted
	started, release := make(chan struct{}), make(chan struct{})
	texts := make([]string, 20)
	var group sync.WaitGroup
	group.Go(func() {
		result, err := results.Once(t.Context(), "tool", hosting.Once{Key: "k"}, func() (any, error) {
			close(started)
			<-release
			return calls.do()
		})
		texts[0] = asText(t, result, err)
	})
	<-started
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := results.Once(ended, "tool", hosting.Once{Key: "k"}, calls.do); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for i := 1; i < len(texts); i++ {
		group.Go(func() {
			result, err := results.Once(t.Context(), "tool", hosting.Once{Key: "k"}, calls.do)
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

func TestWhatFailedCanBeCalledAgain(t *testing.T) {
	var results hosting.Results
	var calls counted
	wrong := errors.New("wrong")
	if _, err := results.Once(t.Context(), "tool", hosting.Once{Key: "k"}, func() (any, error) { return nil, wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = results.Once(t.Context(), "tool", hosting.Once{Key: "k"}, func() (any, error) { panic("x") })
	}()
	result, err := results.Once(t.Context(), "tool", hosting.Once{Key: "k"}, calls.do)
	if got := asText(t, result, err); got != `{"n":1,"text":"<&>"}` {
		t.Errorf("got %s", got)
	}
}

func TestResultsAreForgottenByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var results hosting.Results
		var calls counted
		call := func(key string) string {
			result, err := results.Once(t.Context(), "tool", hosting.Once{Key: key}, calls.do)
			return asText(t, result, err)
		}
		first := call("k")
		time.Sleep(hosting.KeepResults - time.Second)
		if again := call("k"); again != first {
			t.Errorf("%s is not %s", again, first)
		}
		time.Sleep(time.Second)
		if again := call("k"); again == first {
			t.Errorf("still %s", again)
		}
	})
}

func TestTooManyResultsAreForgotten(t *testing.T) {
	var results hosting.Results
	var calls counted
	call := func(key string, do func() (any, error)) any {
		result, err := results.Once(t.Context(), "tool", hosting.Once{Key: key}, do)
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
		_, err := hosting.OnceOf(request, nil)
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
