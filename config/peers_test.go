package config_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/workflows/contract"
)

func TestTheTimeoutOfAnAgentBelongsToItsEntry(t *testing.T) {
	c := parse(t, `
agent:
  name: all
  type: sequential
  agents:
    - {name: b, type: a2a, url: "http://b", timeout: 2h}
    - {name: ask, a2a: [{name: b, url: "http://b", timeout: 5m}, {name: d, url: "http://d"}]}
`)
	tree, err := c.Tree(t.Context(), blobstore.Memory())
	if err != nil {
		t.Fatal(err)
	}
	if got := tree.Nodes[0].Peer.Patience(); got != 2*time.Hour {
		t.Errorf("the node's agent may work %s", got)
	}
	want := []contract.Peer{{Name: "b", URL: "http://b", Timeout: 5 * time.Minute}, {Name: "d", URL: "http://d"}}
	if diff := cmp.Diff(want, tree.Nodes[1].Peers); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	if got := want[1].Patience(); got != time.Hour {
		t.Errorf("without a time it may work %s", got)
	}
}

func TestAFileThatDelegatesRuns(t *testing.T) {
	for name, text := range map[string]string{
		"at the top": "a2a: [{name: b, url: 'http://b'}]", "a lone node": "agent: {a2a: [{name: b, url: 'http://b'}]}",
		"an a2a root": "agent: {name: b, type: a2a, url: 'http://b'}",
	} {
		t.Run(name, func(t *testing.T) {
			c := parse(t, text)
			if _, err := c.Agent(t.Context(), blobstore.Memory()); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff([]string{"b"}, names(c.Delegates())); diff != "" {
				t.Errorf("delegates (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAHistoryHasNoSecretsOfURLs(t *testing.T) {
	for name, text := range map[string]string{
		"at the top": "a2a: [{name: b, url: 'http://b/x?key=s3cr3t'}]", "a lone node": "agent: {a2a: [{name: b, url: 'http://b/x?q=1&sig=s3cr3t'}]}",
		"in a tree": "agent: {type: sequential, agents: [{name: b, type: a2a, url: 'http://b/x?key=s3cr3t'}, {name: c, prompt: hi}]}",
	} {
		t.Run(name, func(t *testing.T) {
			a, err := parse(t, text).Agent(t.Context(), blobstore.Memory())
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(data), "http://b/x") || strings.Contains(string(data), "s3cr3t") {
				t.Errorf("a workflow begins with %s", data)
			}
		})
	}
}

func names(agents []config.A2AAgent) []string {
	var out []string
	for _, a := range agents {
		out = append(out, a.Name)
	}
	return out
}
