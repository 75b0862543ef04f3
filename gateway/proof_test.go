package gateway_test

import (
	"errors"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/workflows/contract"
)

// fading are badges that prove what the function says.
type fading struct {
	badges
	IdentifyFn atomic.Pointer[func(contract.Identity) (contract.Identity, error)]
}

func (f *fading) Identify(r *http.Request) (contract.Identity, error) {
	i, err := f.badges.Identify(r)
	if change := f.IdentifyFn.Load(); change != nil && err == nil {
		return (*change)(i)
	}
	return i, err
}

// longTurn has a turn that does not end.
func longTurn() *script {
	s := newScript()
	s.onMessage = s.begin
	return s
}

// streams are requests that are answered with a stream while a turn goes on.
var streams = map[string]func(*api) *stream{
	"events": func(a *api) *stream { return a.open("GET", eventsPath, "", badge(identities["alice"])) },
	"message": func(a *api) *stream {
		return a.open("POST", "/conversations/"+someID+"/messages", `{"message":"hi"}`, badge(identities["alice"]), asEvents)
	},
	"AG-UI": func(a *api) *stream { return a.open("POST", "/ag-ui", runOf(hi), badge(identities["alice"]), asEvents) },
	"A2A": func(a *api) *stream {
		return a.open("POST", "/a2a", `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"`+someID+`"}}`, badge(identities["alice"]), "A2A-Version: 1.0")
	},
}

func TestAStreamEndsWithTheProofOfItsReader(t *testing.T) {
	ends := map[string]func(contract.Identity) (contract.Identity, error){
		"a revoked key": func(contract.Identity) (contract.Identity, error) {
			return contract.Identity{}, &identity.Refused{Reason: "revoked"}
		},
		"a scope taken away": func(contract.Identity) (contract.Identity, error) { return person("alice", "converse"), nil },
		"another caller":     func(contract.Identity) (contract.Identity, error) { return identities["bob"], nil },
	}
	goesOn := map[string]func(contract.Identity) (contract.Identity, error){
		"a provider that is away": func(contract.Identity) (contract.Identity, error) {
			return contract.Identity{}, &identity.Unavailable{Reason: "away", Err: errors.New("away")}
		},
		"a further scope": func(i contract.Identity) (contract.Identity, error) {
			i.Scopes = contract.Scopes()
			return i, nil
		},
	}
	for name, open := range streams {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for what, proof := range ends {
				a, way := newFadingAPI(t)
				s := open(a)
				for len(s.raw()) == 0 {
					runtime.Gosched()
				}
				way.IdentifyFn.Store(&proof)
				select {
				case <-s.done:
				case <-time.After(5 * time.Second):
					t.Errorf("%s: the stream goes on", what)
				}
				s.leave()
			}
			for what, proof := range goesOn {
				a, way := newFadingAPI(t)
				s := open(a)
				for len(s.raw()) == 0 {
					runtime.Gosched()
				}
				way.IdentifyFn.Store(&proof)
				select {
				case <-s.done:
					t.Errorf("%s: the stream has ended: %s", what, s.raw())
				case <-time.After(50 * time.Millisecond):
				}
				s.leave()
			}
		})
	}
}

// newFadingAPI is a gateway with a conversation of alice whose turn goes on.
func newFadingAPI(t *testing.T) (*api, *fading) {
	way, s := &fading{}, longTurn()
	s.change(func(v *contract.ConversationView) {
		v.Running, v.Task = true, true
		v.Transcript.Tail = []contract.Message{{ID: "m", Role: contract.RoleUser, Content: contract.Inline("hi"), CreatedAt: epoch}}
	})
	b := &ownedScript{fakeBackend: s.backend(), owner: person("alice").Key()}
	return newAPI(t, b.fakeBackend, func(d *gateway.Deps) {
		d.Backend, d.Callers, d.ProofInterval = b, identity.Ways{way}, 2*time.Millisecond
	}), way
}
