package peer_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/deploy/standalone/bench/peer"
)

// small is the peer of the repository that needs nothing else.
func small(t *testing.T) peer.Peer {
	t.Helper()
	peers, err := peer.Read("../peers")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range peers {
		if filepath.Base(p.Dir) == "memory" {
			return p
		}
	}
	t.Fatal("no peer in the directory memory")
	return peer.Peer{}
}

func TestAPeerRunsTurns(t *testing.T) {
	model := llmtest.NewServer()
	defer model.Close()
	called := llmtest.CallTools("", llm.Call{ID: "call", Name: "look", Arguments: []byte(`{}`)})
	model.Reply(called, llmtest.Say("done"), called, llmtest.Say("done"))
	s, err := small(t).Start(t.Context(), t.TempDir(), map[string]string{"MODEL_URL": model.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if err := s.List(t.Context()); err != nil {
		t.Error(err)
	}
	waiting, err := s.Ask(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := model.Served(); n != 3 {
		t.Errorf("the model was asked %d times before the decision, expected 3", n)
	}
	if err := waiting.Decide(t.Context()); err != nil {
		t.Error(err)
	}
	if err := waiting.Decide(t.Context()); err == nil || !strings.Contains(err.Error(), http.StatusText(http.StatusNotFound)) {
		t.Errorf("a second decision: %v", err)
	}
	if u, err := s.Usage(); err != nil || u.Resident < 1<<20 {
		t.Errorf("usage %+v, %v", u, err)
	}
}

func TestAPeerThatEndsSaysWhy(t *testing.T) {
	p := small(t)
	p.Command = []string{"sh", "-c", "echo no license; exit 1"}
	if _, err := p.Start(t.Context(), t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "no license") {
		t.Error(err)
	}
}

func TestAnUnknownVariableIsAnError(t *testing.T) {
	p := small(t)
	p.Command = []string{"sh", "${HOUSE}"}
	if _, err := p.Start(t.Context(), t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "no variable ${HOUSE}") {
		t.Error(err)
	}
}

func TestFreePortsAreApartFromThoseOfConnections(t *testing.T) {
	ports, err := peer.FreePorts(20)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range ports {
		if seen[port] || port < 1024 || port >= 32768 { // the first that Linux gives to connections
			t.Errorf("port %d in %v", port, ports)
		}
		seen[port] = true
	}
}
