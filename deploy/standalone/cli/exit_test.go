package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agent-stop-and-go/deploy/standalone/cli"
	"agent-stop-and-go/gateway/identity"
)

// A refused request says what would prove who calls: only what the agent accepts.
func TestARefusedCallerLearnsWhatToDo(t *testing.T) {
	keys, device := identity.Method{Type: "keys"}, identity.Method{Type: "oidc", Device: &identity.Device{ClientID: "cli"}}
	for name, tc := range map[string]struct {
		methods []identity.Method
		key     string
		want    string
	}{
		"nothing shown, and keys":         {[]identity.Method{keys}, "", "The agent wants to know who you are: put a key into AGENT_KEY."},
		"nothing shown, and a login":      {[]identity.Method{keys, device}, "", "run 'agent login', or put a key into AGENT_KEY."},
		"a key that does not hold":        {[]identity.Method{keys, device}, "asg_x", "The key of --key or AGENT_KEY does not hold here: put a key into AGENT_KEY that does."},
		"an agent that names no ways now": {nil, "", "The agent wants to know who you are: put a key into AGENT_KEY."},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/auth/methods" && tc.methods != nil {
				_ = json.NewEncoder(w).Encode(map[string]any{"methods": tc.methods}) // the client may be gone
				return
			}
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":"who are you?"}`))
		}))
		t.Cleanup(s.Close)
		_, _, err := terminal{t, t.TempDir(), tc.key}.run("tools", "--url", s.URL)
		if err == nil || !strings.HasSuffix(cli.Describe(err), tc.want) {
			t.Errorf("%s: got %q, want %q", name, cli.Describe(err), tc.want)
		}
	}
}

// --set sends JSON, or else a text, and what a rule says of the call is no matter of rights.
func TestAnApprovalWithChanges(t *testing.T) {
	const uuid = "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e"
	var sent struct{ Edit map[string]any }
	status, text := http.StatusForbidden, `{"error":"edit: the rule never refuses the changed call. No."}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_ = json.NewDecoder(r.Body).Decode(&sent) // checked below
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	approve := func(args ...string) string {
		_, _, err := terminal{t, t.TempDir(), ""}.run(append([]string{"approvals", "approve", "--url", s.URL}, args...)...)
		if err == nil {
			t.Fatalf("%v: no error", args)
		}
		return cli.Describe(err)
	}
	if got := approve(uuid, "--set", "amount=400", "--set", `to.city="7"`, "--set", "note=a=b"); got != "edit: the rule never refuses the changed call. No." {
		t.Errorf("%q", got)
	}
	if sent.Edit["amount"] != 400.0 || sent.Edit["to.city"] != "7" || sent.Edit["note"] != "a=b" || len(sent.Edit) != 3 {
		t.Errorf("sent %+v", sent.Edit)
	}
	for _, args := range [][]string{{uuid, "--set", "amount"}, {uuid, "--set", "=1"}, {uuid, "--set", "a=1", "--set", "a=2"}, {uuid, uuid, "--set", "a=1"}} {
		if got := approve(args...); !strings.Contains(got, "--set") {
			t.Errorf("%v: %q", args, got)
		}
	}
	if text = `{"error":"no"}`; !strings.Contains(approve(uuid), "not allowed to do that") {
		t.Error("a missing right says nothing of rights")
	}
}
