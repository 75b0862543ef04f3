package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// catalogueOf returns the catalogue and the log of a worker with a configuration and an
// environment.
func catalogueOf(t *testing.T, text string, env map[string]string) (c contract.Catalogue, log *journal) {
	t.Helper()
	parsed, err := config.Parse("agent.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	store, err := blobstore.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	log = &journal{}
	a, release, err := worker.Assemble(t.Context(), parsed, worker.Parts{
		Blobs: store, Getenv: func(name string) string { return env[name] }, Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	result, err := a.Tools.ListTools(context.Background(), contract.ListToolsInput{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := transcript.ReadJSON(t.Context(), store, result.Body)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, log
}

func TestWhatTheEnvironmentLacksIsInTheCatalogueAndTheLog(t *testing.T) {
	const token = `headers: {Authorization: "Bearer ${THE_TOKEN}"}`
	tests := map[string]struct {
		text            string
		problems, notes []string
	}{
		"nothing": {text: "llm: {model: 'demo:rules'}"},
		"a model without its key": {
			text:     "llm: {model: 'openai:m'}",
			problems: []string{"model openai:m needs OPENAI_API_KEY, which is not set; it cannot be called until it is"},
		},
		"a model without its key that another stands in for": {
			text:  "llm: {model: fast}\nmodels: {fast: {provider: openai, model: m, fallback: ['demo:rules']}}",
			notes: []string{"model fast (openai:m) needs OPENAI_API_KEY, which is not set; others are asked in its place until it is"},
		},
		"a variable in the headers of a model": {
			text:     "llm: {model: fast}\nmodels: {fast: {provider: ollama, model: m, " + token + "}}",
			problems: []string{"model fast cannot be called: headers: not set in the environment: [THE_TOKEN]"},
		},
		"a variable in the headers of a model that is off": {
			text: "llm: {model: 'demo:rules'}\nmodels: {fast: {provider: ollama, model: m, enabled: false, " + token + "}}",
		},
		"a variable in the headers of another agent": {
			text:     "llm: {model: 'demo:rules'}\na2a: [{name: b, url: 'http://b.example', " + token + "}]",
			problems: []string{"agent b cannot be asked: headers: not set in the environment: [THE_TOKEN]"},
		},
		"the secret by which tokens are exchanged": {
			text: "llm: {model: 'demo:rules'}\na2a: [{name: b, url: 'http://b.example', credential: exchange}]\n" +
				"token_exchange: {token_url: 'https://login.example', client_id: a, client_secret: '${THE_TOKEN}'}",
			problems: []string{"tokens cannot be exchanged: token_exchange.client_secret: ${THE_TOKEN} is not set in the environment"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, log := catalogueOf(t, tt.text, nil)
			if diff := cmp.Diff([][]string{tt.problems, tt.notes}, [][]string{c.Problems, c.Notes}); diff != "" {
				t.Errorf("problems and notes (-want +got):\n%s", diff)
			}
			for _, line := range append(tt.problems, tt.notes...) {
				if !strings.Contains(log.String(), fmt.Sprintf("level=WARN msg=%q", line)) {
					t.Errorf("the log has no %q:\n%s", line, log)
				}
			}
		})
	}
}

func TestAServerWithAnUnsetVariableIsNotStarted(t *testing.T) {
	c, log := catalogueOf(t, "llm: {model: 'demo:rules'}\nmcp_servers: [{name: files, command: /no/such, env: {A: '${THE_TOKEN}', B: '${OTHER}'}}]", nil)
	want := []contract.ServerState{{Name: "files", Error: "env: not set in the environment: [THE_TOKEN OTHER]"}}
	if diff := cmp.Diff(want, c.Servers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "[THE_TOKEN OTHER]") {
		t.Errorf("the log does not say so:\n%s", log)
	}
}
