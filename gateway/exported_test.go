package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/backend"
	"agent-stop-and-go/workflows/contract"
)

var written = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// exported writes the export of a conversation as a worker does.
func exported(d *gateway.Deps) {
	text := fmt.Sprintf(`{"id":%q,"status":"active","messages":[{"id":%q,"role":"user","content":"as exported","created_at":"2026-03-04T05:06:00Z"}],
		"created_at":"2026-03-04T05:00:00Z","updated_at":"2026-03-04T05:06:00Z","version":3}`, someID, otherID)
	d.Exports = fstest.MapFS{"conversation_" + someID + ".json": {Data: []byte(text), ModTime: written}}
}

func (a *api) wantExport(r reply) {
	a.t.Helper()
	a.want(200, r)
	if got := r.text("conversation", "as_of"); got != "2026-03-04T05:06:07Z" {
		a.t.Errorf("as of %q", got)
	}
	if !strings.Contains(r.raw, "as exported") {
		a.t.Errorf("not what was exported: %s", r.raw)
	}
	if got := r.header.Get("Last-Modified"); got != written.Format(http.TimeFormat) {
		a.t.Errorf("Last-Modified %q", got)
	}
}

// slow is a client whose queries take a time, or end with their caller.
type slow struct {
	*fakeClient
	takes time.Duration
}

func (s slow) QueryWorkflowWithOptions(ctx context.Context, r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
	select {
	case <-time.After(s.takes):
		return s.fakeClient.QueryWorkflowWithOptions(ctx, r)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// polledBy returns the pollers, given by identity and the time since their last poll.
func polledBy(pollers map[string]time.Duration) func(string) ([]*taskqueuepb.PollerInfo, error) {
	return func(string) (list []*taskqueuepb.PollerInfo, err error) {
		for identity, ago := range pollers {
			list = append(list, &taskqueuepb.PollerInfo{Identity: identity, LastAccessTime: timestamppb.New(time.Now().Add(-ago))})
		}
		return list, nil
	}
}

// slowly returns a gateway on such a client.
func slowly(t *testing.T, s slow, change ...func(*gateway.Deps)) *api {
	t.Helper()
	return newAPI(t, nil, append(change, onClient(s.healthy(), inDefault))...)
}

func inDefault(o *backend.Options) { o.Namespace = "default" }

// healthy describes conversations as healthy unless the test says otherwise.
func (s slow) healthy() slow {
	if s.DescribeFn == nil {
		s.DescribeFn = healthy
	}
	return s
}

func TestWithoutAWorkerTheExportIsShown(t *testing.T) {
	for name, pollers := range map[string]func(string) ([]*taskqueuepb.PollerInfo, error){
		"none":          polledBy(nil),
		"one of before": polledBy(map[string]time.Duration{"1@elsewhere@": 5 * time.Minute}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := slowly(t, slow{&fakeClient{PollersFn: pollers}, time.Minute}, exported)
				defer a.Close()
				start := time.Now()
				a.wantExport(a.do("GET", "/conversations/"+someID, ""))
				if took := time.Since(start); took >= time.Second {
					t.Errorf("after %s", took)
				}
			})
		})
	}
}

func TestASlowWorkerIsWaitedFor(t *testing.T) {
	for name, pollers := range map[string]func(string) ([]*taskqueuepb.PollerInfo, error){
		"it polls":       polledBy(map[string]time.Duration{"1@elsewhere@": 5 * time.Minute, "2@elsewhere@": time.Minute}),
		"nobody can say": func(string) ([]*taskqueuepb.PollerInfo, error) { return nil, errors.New("not now") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &fakeClient{PollersFn: pollers, QueryFn: func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
					return queried(viewOf(someID))
				}}
				a := slowly(t, slow{c, 5 * time.Second}, exported)
				defer a.Close()
				reply := a.want(200, a.do("GET", "/conversations/"+someID, ""))
				if reply.text("conversation", "as_of") != "" || reply.header.Get("Last-Modified") != "" || strings.Contains(reply.raw, "as exported") {
					t.Errorf("it is not what the worker says: %s", reply.raw)
				}
			})
		})
	}
}

// A server whose disk is full retries until its timeout.
func TestOnAFullDiskTheExportIsShown(t *testing.T) {
	polling := polledBy(map[string]time.Duration{"2@elsewhere@": time.Minute})
	full := func(d *gateway.Deps) { d.Room = func(context.Context) error { return syscall.ENOSPC } }
	for name, c := range map[string]struct {
		exports func(*gateway.Deps)
		want    func(*api, reply)
	}{
		"exported": {exported, func(a *api, r reply) {
			a.wantExport(r)
			if got := r.text("conversation", "problem"); !strings.HasPrefix(got, "no space is left on the disk") {
				t.Errorf("problem %q", got)
			}
		}},
		"not exported": {func(*gateway.Deps) {}, func(a *api, r reply) { a.wantError(507, "no space is left on the disk", r) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := slowly(t, slow{&fakeClient{PollersFn: polling}, time.Minute}, c.exports, full)
				defer a.Close()
				start := time.Now()
				c.want(a, a.do("GET", "/conversations/"+someID, ""))
				if took := time.Since(start); took >= time.Second {
					t.Errorf("after %s", took)
				}
			})
		})
	}
}

// The query fails by itself: the server gets no other call.
func TestOnAFullDiskTheServerIsAskedOnce(t *testing.T) {
	b := &fakeBackend{
		ConversationFn: func(string, string) (contract.ConversationView, error) {
			return contract.ConversationView{}, service.Errorf(service.KindUnavailable, "no answer in time")
		},
		TroubleFn: func(string) (service.Item, string, error) {
			t.Error("it was asked what the trouble is")
			return service.Item{}, "", nil
		},
	}
	a := newAPI(t, b, exported, func(d *gateway.Deps) { d.Room = func(context.Context) error { return syscall.ENOSPC } })
	a.wantExport(a.do("GET", "/conversations/"+someID, ""))
}

// The server lists a killed worker among the pollers for a while. Only a check of its process
// shows that it is gone: containers share host names.
func TestAPollerThatIsDeadDoesNotCount(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	ended := fmt.Sprintf("%d@%s@", child.Process.Pid, host)
	for name, c := range map[string]struct {
		dead   func(string) bool
		counts bool
	}{
		"known to be dead":    {func(identity string) bool { return identity == ended }, false},
		"not known to be":     {func(string) bool { return false }, true},
		"nobody knows of any": {nil, true},
		"another one is dead": {func(identity string) bool { return identity != ended }, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := &fakeClient{PollersFn: polledBy(map[string]time.Duration{ended: time.Second}), QueryFn: func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
				return queried(viewOf(someID))
			}}
			a := newAPI(t, nil, exported, onClient(slow{client, 5 * time.Second}.healthy(), inDefault, func(o *backend.Options) { o.IsDead = c.dead }))
			defer a.Close()
			reply := a.want(200, a.do("GET", "/conversations/"+someID, ""))
			if asked := reply.text("conversation", "as_of") == ""; asked != c.counts {
				t.Errorf("%s: it counts %v, want %v", name, asked, c.counts)
			}
		})
	}
}

func TestTheExportIsShownWhenTheConversationDoesNotAnswer(t *testing.T) {
	down := service.Errorf(service.KindUnavailable, "no answer in time")
	cases := map[string]struct {
		change  func(*fakeBackend)
		exports func(*gateway.Deps)
		want    func(*api, reply)
	}{
		"the query failed":   {nil, exported, (*api).wantExport},
		"there is no file":   {nil, func(d *gateway.Deps) { d.Exports = fstest.MapFS{} }, func(a *api, r reply) { a.wantError(503, "no answer in time", r) }},
		"there are no files": {nil, func(*gateway.Deps) {}, func(a *api, r reply) { a.wantError(503, "no answer in time", r) }},
		"the file is damaged": {nil, func(d *gateway.Deps) {
			d.Exports = fstest.MapFS{"conversation_" + someID + ".json": {Data: []byte("{")}}
		}, func(a *api, r reply) {
			a.wantError(503, "no answer in time", r)
			if !strings.Contains(a.logs.String(), "an exported conversation cannot be read") {
				a.t.Error("nothing in the log")
			}
		}},
		"the file cannot be opened": {nil, func(d *gateway.Deps) { d.Exports = closed{} }, func(a *api, r reply) { a.wantError(503, "", r) }},
		"its own workflow is to blame": {func(b *fakeBackend) {
			b.TroubleFn = func(string) (service.Item, string, error) {
				return service.Item{ID: someID, Status: contract.StatusActive}, "stuck", nil
			}
		}, exported, func(a *api, r reply) {
			if a.want(200, r).text("conversation", "problem") != "stuck" {
				a.t.Error(r.raw)
			}
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &fakeBackend{ConversationFn: func(string, string) (contract.ConversationView, error) { return contract.ConversationView{}, down }}
			if c.change != nil {
				c.change(b)
			}
			a := newAPI(t, b, c.exports)
			c.want(a, a.do("GET", "/conversations/"+someID, ""))
		})
	}
}

// closed is a folder that cannot be read.
type closed struct{}

func (closed) Open(string) (fs.File, error) { return nil, fs.ErrPermission }
