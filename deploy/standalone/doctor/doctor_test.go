package doctor_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/config"
	"agent-stop-and-go/deploy/standalone/doctor"
	"agent-stop-and-go/gateway/client"
)

const (
	ready    = `{"status":"ok","problems":[],"servers":[{"name":"files","ready":true,"tools":3},{"name":"extra","ready":false,"optional":true,"error":"gone","tools":0}],"version":"1.2.3"}`
	notReady = `{"status":"unavailable","problems":["no worker is answering"],"servers":[]}`
	offer    = `{"tools":[],"servers":[],"model":{"name":"demo:rules","note":"an offline stand-in"}}`
)

// examine returns the findings about a file, a line each. The agent answers these bodies by
// path; without any, none runs.
func examine(t *testing.T, text string, answers map[string]string, connect ...string) string {
	t.Helper()
	return examineWith(t, text, answers, doctor.Patient{Connect: func(context.Context, *config.Config) ([]string, error) { return connect, nil }})
}

func examineWith(t *testing.T, text string, answers map[string]string, p doctor.Patient) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		} else if body == notReady {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprint(w, body)
	}))
	defer server.Close()
	if answers == nil {
		server.Close()
	}
	var out strings.Builder
	p.File, p.Getenv = file, func(string) string { return "" }
	p.Client = func(*config.Config) (*client.Client, error) { return client.New(server.URL, client.Options{}) }
	for _, f := range doctor.Examine(t.Context(), p) {
		fmt.Fprintf(&out, "%s %s: %s → %s\n", f.State, f.Part, f.Text, f.Advice)
	}
	return out.String()
}

func TestExaminations(t *testing.T) {
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/agent-card.json" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer peer.Close()
	const demo = "llm: {model: 'demo:rules'}\n"
	both := map[string]string{"/health/ready": ready, "/tools": offer}
	cases := map[string]struct {
		text    string
		answers map[string]string
		connect []string
		want    []string
	}{
		"a file with a mistake":          {text: "nmae: x", want: []string{"problem file: ", "nmae", "→ correct it"}},
		"a key that is missing":          {text: "", answers: both, want: []string{"ok file: ", "problem environment: ", "GEMINI_API_KEY"}},
		"all is well":                    {text: demo, answers: both, want: []string{"ok environment", "ok agent: ready at http://", "version 1.2.3", "ok Temporal", "ok tool server files: 3 tools"}},
		"what may be missing":            {text: demo, answers: both, want: []string{"note tool server extra: gone → the agent runs without it"}},
		"another model than one thinks":  {text: demo, answers: both, want: []string{"note model: demo:rules: an offline stand-in"}},
		"an agent that is not ready":     {text: demo, answers: map[string]string{"/health/ready": notReady}, want: []string{"problem agent: no worker is answering"}},
		"something that is no agent":     {text: demo, answers: map[string]string{"/": "x"}, want: []string{"problem agent: ", "is it an agent"}},
		"no agent":                       {text: demo, want: []string{"note agent: no agent answers at http://127.0.0.1:", "→ start it: agent run --config", "ok Temporal: the agent starts its own"}},
		"no Temporal":                    {text: demo + "temporal: {address: '127.0.0.1:1'}", want: []string{"problem Temporal: ", "refused", "TEMPORAL_ADDRESS"}},
		"a tool server without an agent": {text: demo + "mcp_servers: [{name: a, url: 'http://127.0.0.1:1/mcp'}]", connect: []string{"tool server a: refused"}, want: []string{"problem tool servers: tool server a: refused"}},
		"tool servers that answer":       {text: demo + "mcp_servers: [{name: a, url: 'http://127.0.0.1:1/mcp'}]", want: []string{"ok tool servers"}},
		"another agent":                  {text: demo + "a2a: [{name: b, url: '" + peer.URL + "/some/path'}]", answers: both, want: []string{"ok agent b: "}},
		"another agent that is gone":     {text: demo + "a2a: [{name: b, url: 'http://127.0.0.1:1'}]", answers: both, want: []string{"problem agent b: ", "→ start it, or correct its url"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := examine(t, c.text, c.answers, c.connect...)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
		})
	}
}
