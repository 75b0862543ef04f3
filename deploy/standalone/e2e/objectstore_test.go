package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// objectStore is a server that speaks the protocol of S3.
type objectStore struct {
	*httptest.Server
	away  atomic.Bool
	puts  atomic.Int32 // objects that were sent
	clear atomic.Bool  // one of them had a text of the test in clear
}

const objectSecret = "canary-secret-of-the-store"

func newObjectStore(t *testing.T) *objectStore {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("agents"); err != nil {
		t.Fatal(err)
	}
	s, serve := &objectStore{}, gofakes3.New(backend).Server()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.away.Load():
			http.Error(w, "away", http.StatusServiceUnavailable)
		case !strings.Contains(r.Header.Get("Authorization"), "Credential=AKIAOURS/"):
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<Error><Code>InvalidAccessKeyId</Code><Message>unknown</Message></Error>`)
		default:
			if r.Method == http.MethodPut {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				s.puts.Add(1)
				if bytes.Contains(body, []byte("has to arrive")) {
					s.clear.Store(true)
				}
			}
			serve.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *objectStore) environ(key string) []string {
	return []string{"AWS_ACCESS_KEY_ID=" + key, "AWS_SECRET_ACCESS_KEY=" + objectSecret, "AWS_REGION=us-east-1", "AWS_MAX_ATTEMPTS=2"}
}

// Two workers and a gateway share nothing but Temporal, a key and an object store, which goes away
// for a while.
func TestConversationsOnAnObjectStore(t *testing.T) {
	t.Parallel()
	store := newObjectStore(t)
	h := newHome(t)
	h.outside() // its Temporal server is used
	g := h.apart()
	g.encrypt("a")
	g.extra += fmt.Sprintf("blobs: {url: %q}\n", "s3://agents?use_path_style=true&prefix=team/&endpoint="+store.URL)
	env := append(g.environ(), fmt.Sprintf("TEMPORAL_ADDRESS=127.0.0.1:%d", h.ports.grpc), "AGENT_CREDENTIAL_KEYS="+sealingKey)
	one, two, three := g.machine("one"), g.machine("two"), g.machine("three")

	refused := launch(t, g.dir, "worker", append(env, store.environ("AKIAOTHER")...), "--config", one)
	<-refused.done
	if said := refused.out.String(); !contains(said, "InvalidAccessKeyId") || !contains(said, "credentials are from AWS_ACCESS_KEY_ID") || contains(said, objectSecret) {
		t.Errorf("with a wrong key: %s", said)
	}

	env = append(env, store.environ("AKIAOURS")...)
	first := start(t, g.dir, "worker", env, "--config", one)
	start(t, g.dir, "worker", env, "--config", two)
	gateway := start(t, g.dir, "gateway", env, "--config", three)
	eventually(t, "the gateway says that it is ready", func() bool { return contains(gateway.out.String(), "is ready") })
	api := newAPI(t, fmt.Sprintf("http://127.0.0.1:%d", g.ports.api))

	long := "say " + strings.Repeat("All of this has to arrive. ", 200<<10/27)
	said := func(r body) {
		t.Helper()
		if got := "say " + r.Result.Response; got != strings.TrimSpace(long) && got != long {
			t.Errorf("the answer to a long message has %d bytes", len(got))
		}
	}
	asked := api.ask(long)
	said(asked)
	first.kill()
	said(api.say(asked.Conversation.ID, long))

	waiting := api.ask(`call note_add {"name":"` + strings.Repeat("x", 5<<10) + `"}`)
	store.away.Store(true)
	if r := api.do("POST", "/conversations/"+asked.Conversation.ID+"/messages", messageJSON(long+" again")); r.Status < http.StatusInternalServerError {
		t.Errorf("without the store: %d %s", r.Status, r.Raw)
	}
	store.away.Store(false)
	said(api.say(asked.Conversation.ID, long))
	if done := api.decide(waiting.Result.Approval.UUID, `{"approved":true}`); !contains(done.Result.Response, "added xxx") || len(h.tools.called("note_add")) != 1 {
		t.Errorf("approved: %.100s, %d calls", done.Result.Response, len(h.tools.called("note_add")))
	}

	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	gc := exec.Command(filepath.Join(dir, "agent"), "gc", "--json", "--config", two)
	gc.Dir, gc.Env = g.dir, env
	out, err := gc.Output()
	var result struct {
		Collected struct{ Values, Used, Discarded int }
	}
	if err != nil || json.Unmarshal(out, &result) != nil || result.Collected.Used == 0 || result.Collected.Discarded > 0 {
		t.Errorf("agent gc: %s, %v", out, err)
	}
	said(api.say(asked.Conversation.ID, long))
	if store.puts.Load() == 0 || store.clear.Load() {
		t.Errorf("the store got %d objects, some of them in clear: %t", store.puts.Load(), store.clear.Load())
	}
}
