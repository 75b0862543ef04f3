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
