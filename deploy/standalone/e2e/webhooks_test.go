package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"agent-stop-and-go/workflows/contract/hooks"
)

const hookSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

// receiver is a web hook that is away until it is opened.
type receiver struct {
	*httptest.Server

	mu      sync.Mutex
	open    bool
	refused int
	got     map[string]hooks.Message // by webhook-id
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(hookSecret)
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{got: map[string]hooks.Message{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err == nil {
			err = verifier.Verify(body, request.Header)
		}
		var m hooks.Message
		if err == nil {
			err = json.Unmarshal(body, &m)
		}
		if err != nil || strings.Contains(string(body), "topsecret") {
			t.Errorf("%v: %s", err, body)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.open {
			r.refused++
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		r.got[request.Header.Get("Webhook-Id")] = m
	}))
	t.Cleanup(r.Close)
	return r
}

// of returns the events of an approval.
func (r *receiver) of(uuid string) map[hooks.Event]hooks.Approval {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[hooks.Event]hooks.Approval{}
	for _, m := range r.got {
		if m.Data.UUID == uuid {
			out[m.Type] = m.Data
		}
	}
	return out
}

func (r *receiver) refusals() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// Web hooks hear of approvals that open, wait, are decided and expire, also those that are away while it
// happens, and after a crash. The decision does not wait for them.
func TestWebHooksHearOfApprovals(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := newReceiver(t)
	h.more = map[string]string{"HOOK_SECRET": hookSecret}
	h.extra = `public_url: http://agent.example.com
approval:
  webhooks: [{url: "` + r.URL + `", secrets: ["${HOOK_SECRET}"], allow_private: true}]
  rules: [{name: quick, when: 'tool == "note_list"', then: {ask: {expires: 2s, remind: 1s}}}]
`
	api, agent := h.outside()
	asked := api.ask(`call note_add {"name":"topsecret"}`)
	uuid := asked.Result.Approval.UUID
	eventually(t, "the web hook is tried", func() bool { return r.refusals() > 0 })
	if got := api.decide(uuid, `{"approved":true,"by":"ops"}`).Result; !strings.Contains(got.Response, "added topsecret") {
		t.Fatalf("%+v", got)
	}
	agent.kill()
	r.mu.Lock()
	r.open = true
	r.mu.Unlock()
	api, _ = h.outside()
	quick := api.ask(`call note_list`).Result.Approval.UUID
	eventually(t, "five events", func() bool { return len(r.of(uuid)) == 2 && len(r.of(quick)) == 3 })
	opened, decided, expired := r.of(uuid)[hooks.Opened], r.of(uuid)[hooks.Decided], r.of(quick)[hooks.Expired]
	if opened.Summary == "" || opened.Tool != "note_add" || opened.Risk != hooks.High || opened.Digest == "" || opened.Decision != nil || opened.Agent != "tester" ||
		opened.URL != "http://agent.example.com/#/a/"+uuid {
		t.Errorf("%+v", opened)
	}
	if d := decided.Decision; d == nil || d.Decision != "approved" || d.By != "ops" || d.Via != "rest" {
		t.Errorf("%+v", decided)
	}
	if reminded, there := r.of(quick)[hooks.Reminded]; !there || reminded.Tool != "note_list" || reminded.Decision != nil {
		t.Errorf("%+v", reminded)
	}
	if d := expired.Decision; d == nil || d.Decision != "expired" || expired.Rule != "quick" || expired.ExpiresAt == nil {
		t.Errorf("%+v", expired)
	}
}
