package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/config/feed/feedtest"
	"agent-stop-and-go/config/ledger"
	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/quota"
	"agent-stop-and-go/workflows/contract"
)

// newLimitedAPIs are two gateways of one agent that share a Redis server, and the number of
// their conversations.
func newLimitedAPIs(t *testing.T, limits quota.Limits) (one, two *api, started *sync.Map) {
	t.Helper()
	redis, started := feedtest.NewServer(t, ""), &sync.Map{}
	open := func() *api {
		shared, err := ledger.Open(redis.URL(), "helper", time.Hour) // notes must outlast the test, as the search never catches up
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = shared.Close() })
		return newAPI(t, &fakeBackend{}, func(d *gateway.Deps) {
			d.Backend, d.Callers = tenancy{d.Backend.(*fakeBackend), started}, badgesOnly
			d.Quota = quota.New(quota.Options{
				Limits: limits, Shared: shared, Logger: d.Logger,
				Open: func(context.Context, string, []string) (int64, error) { return 0, nil }, // the search lags
			})
		})
	}
	return open(), open(), started
}

var limited = badge(person("alice", contract.ScopeConverse, contract.ScopeRead))

// starts are the ways in which a caller starts a conversation.
var starts = map[string]func(a *api, n int) reply{
	"REST": func(a *api, n int) reply {
		return a.do("POST", "/conversations", `{}`, limited, fmt.Sprint("Idempotency-Key: ", n))
	},
	"AG-UI": func(a *api, n int) reply {
		return a.do("POST", "/ag-ui", fmt.Sprintf(`{"threadId":"t%d","runId":"r","messages":[{"id":"m","role":"user","content":"x"}],"tools":[],"context":[],"state":{},"forwardedProps":{}}`, n), limited)
	},
	"A2A 1.0": func(a *api, n int) reply {
		return a.do("POST", "/a2a", fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":{"messageId":"m%d","role":"ROLE_USER","parts":[{"text":"x"}]}}}`, n), limited)
	},
	"A2A 1.0 as a stream": func(a *api, n int) reply {
		return a.do("POST", "/a2a", fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"SendStreamingMessage","params":{"message":{"messageId":"m%d","role":"ROLE_USER","parts":[{"text":"x"}]}}}`, n), limited)
	},
	"A2A 0.3 as a stream": func(a *api, n int) reply {
		return a.do("POST", "/a2a", fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m%d","role":"user","parts":[{"kind":"text","text":"x"}]}}}`, n), limited)
	},
}

func TestTwoGatewaysLimitTheOpenConversationsOfACaller(t *testing.T) {
	for name, start := range starts {
		t.Run(name, func(t *testing.T) {
			one, two, started := newLimitedAPIs(t, quota.Limits{Conversations: 2})
			for n, a := range []*api{one, two} {
				if r := start(a, n); r.status >= 400 || strings.Contains(r.raw, `"error"`) {
					t.Fatalf("conversation %d: %d %s", n, r.status, r.raw)
				}
			}
			for _, a := range []*api{one, two} {
				wantTooMany(t, name, start(a, 2), "10", "2 of your conversations are open")
				if r := start(a, 1); r.status >= 400 || strings.Contains(r.raw, `"error"`) {
					t.Errorf("a start that was sent again: %d %s", r.status, r.raw)
				}
			}
			if n := lengthOf(started); n != 2 {
				t.Errorf("%d conversations were started", n)
			}
		})
	}
}

func TestTwoGatewaysLimitTheRequestsOfACaller(t *testing.T) {
	for name, start := range starts {
		t.Run(name, func(t *testing.T) {
			one, two, started := newLimitedAPIs(t, quota.Limits{Requests: 1, Burst: 4})
			for n, a := range []*api{one, two, two, one} {
				if n%2 == 0 {
					a.want(200, a.do("GET", "/me", "", limited))
				} else if r := start(a, n); r.status >= 400 {
					t.Errorf("%d %s", r.status, r.raw)
				}
			}
			before := lengthOf(started)
			for _, a := range []*api{one, two} {
				wantTooMany(t, name, start(a, 5), "60", "a caller may send 1 a minute, and 4 at once")
				wantTooMany(t, "GET", a.do("GET", "/conversations/"+ofAlice.id+"/events", "", limited), "60", "")
				a.want(200, a.do("GET", "/me", "", badge(person("bob")))) // another caller
				a.want(200, a.do("GET", "/health", ""))
			}
			if lengthOf(started) != before {
				t.Error("a refused request started a conversation")
			}
		})
	}
}

// wantTooMany checks a refusal in the words of its protocol.
func wantTooMany(t *testing.T, protocol string, r reply, retryAfter, text string) {
	t.Helper()
	if r.status != 429 || r.header.Get("Retry-After") != retryAfter || !strings.Contains(r.raw, text) {
		t.Errorf("%s: %d, Retry-After %q, %s", protocol, r.status, r.header.Get("Retry-After"), r.raw)
	}
	if !strings.HasPrefix(protocol, "A2A") {
		return
	}
	var answer struct {
		ID    int
		Error struct {
			Code int
			Data []map[string]any
		}
	}
	if err := json.Unmarshal([]byte(r.raw), &answer); err != nil || answer.ID != 7 || answer.Error.Code != -32000 || !strings.Contains(r.raw, `"retryDelay":"`+retryAfter+`s"`) {
		t.Errorf("%s: %v in %s", protocol, err, r.raw)
	}
	if info := strings.Contains(r.raw, "google.rpc.ErrorInfo"); info != strings.HasPrefix(protocol, "A2A 1.0") {
		t.Errorf("%s: details of the other version in %s", protocol, r.raw)
	}
}

func lengthOf(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}
