package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machine writes the configuration of a home for a process with its own data directory, and
// returns its path.
func (h *home) machine(name string) string {
	h.t.Helper()
	data, err := os.ReadFile(h.configFile())
	if err != nil {
		h.t.Fatal(err)
	}
	text := strings.Replace(string(data), filepath.Join(h.dir, "data"), filepath.Join(h.dir, name), 1)
	path := filepath.Join(h.dir, name+".yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// Worker and gateway run on separate machines, which at first share no folder.
func TestTwoMachinesNeedOneBlobStore(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.outside() // its Temporal server is used
	g := h.apart()
	env := append(g.environ(), fmt.Sprintf("TEMPORAL_ADDRESS=127.0.0.1:%d", h.ports.grpc),
		"AGENT_CREDENTIAL_KEYS=k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	api := newAPI(t, fmt.Sprintf("http://127.0.0.1:%d", g.ports.api))
	const problem = "do not share a blob store: set blobs.url in the YAML files of both"
	long := "say " + strings.Repeat("All of this has to arrive. ", 10<<10/27)

	worker := start(t, g.dir, "worker", env, "--config", g.machine("one"))
	gateway := start(t, g.dir, "gateway", env, "--config", g.machine("two"))
	if r := api.do("GET", "/health/ready", ""); r.Status != http.StatusServiceUnavailable || !contains(r.Raw, problem) {
		t.Errorf("readiness: %d %s", r.Status, r.Raw)
	}
	eventually(t, "the gateway's log says so", func() bool { return contains(gateway.out.String(), problem) })
	if contains(gateway.out.String(), "is ready") {
		t.Error("the gateway says that it is ready")
	}
	for _, text := range []string{long, "hello"} {
		if r := api.do("POST", "/conversations", messageJSON(text)); r.Status != http.StatusServiceUnavailable || !contains(r.Body.Error, problem) {
			t.Errorf("a message of %d bytes: %d %s", len(text), r.Status, r.Raw)
		}
	}
	if list := api.want(http.StatusOK, "GET", "/conversations", ""); len(list.Conversations) > 0 {
		t.Errorf("conversations %+v", list.Conversations)
	}

	for _, p := range []*proc{gateway, worker} {
		if err := p.terminate(); err != nil {
			t.Fatal(err)
		}
	}
	g.extra = fmt.Sprintf("blobs: {url: %q}\n", "file://"+filepath.ToSlash(filepath.Join(g.dir, "shared")))
	start(t, g.dir, "worker", env, "--config", g.machine("one"))
	gateway = start(t, g.dir, "gateway", env, "--config", g.machine("two"))
	eventually(t, "the gateway says that it is ready", func() bool { return contains(gateway.out.String(), "is ready") })
	api.want(http.StatusOK, "GET", "/health/ready", "")
	first := api.ask(long)
	for _, said := range []string{first.Result.Response, api.say(first.Conversation.ID, long).Result.Response} {
		if "say "+said != strings.TrimSpace(long) && "say "+said != long {
			t.Errorf("the answer to a long message has %d bytes: %.100q", len(said), said)
		}
	}
}
