package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// withLoss is a conversation with a text that is missing in the store.
func withLoss(id string) contract.ConversationView {
	view := viewOf(id)
	view.Task = true
	view.Transcript.Tail = append(view.Transcript.Tail, contract.Message{
		ID: someUUID, Role: contract.RoleUser, Content: contract.Text{Blob: &contract.Blob{SHA256: strings.Repeat("ab", 32), Size: 5000}},
	})
	return view
}

func TestALostValueIsNamedInEveryReply(t *testing.T) {
	a := newAPI(t, &fakeBackend{ConversationFn: func(id, _ string) (contract.ConversationView, error) { return withLoss(id), nil }})
	const want = "the stored value abababab"
	a.wantError(500, want, a.do("GET", "/conversations/"+someID, ""))
	reply := a.rpc("GetTask", object{"id": someID})
	if code := reply.at("error", "code"); fmt.Sprint(code) != "-32603" || !strings.Contains(reply.text("error", "message"), want) {
		t.Error(reply.raw)
	}
}

func TestAFullDiskIsReported(t *testing.T) {
	a := newAPI(t, &fakeBackend{StartFn: (&recorder{}).start})
	a.blobs.full = fmt.Errorf("write blob: %w", &fs.PathError{Op: "write", Path: "/data/blobs/ab", Err: syscall.ENOSPC})
	long := `{"message":"` + strings.Repeat("x", 5000) + `"}`
	const want = "no space is left on the disk"
	for _, r := range [][2]string{{messages, long}, {"/conversations", long}} {
		reply := a.do("POST", r[0], r[1])
		a.wantError(507, want, reply)
		if strings.Contains(reply.raw, "/data") {
			t.Errorf("the folder is revealed: %s", reply.raw)
		}
	}
	reply := a.rpc("SendMessage", said("m-1", strings.Repeat("x", 5000), nil))
	if code := reply.at("error", "code"); fmt.Sprint(code) != "-32000" || !strings.Contains(reply.text("error", "message"), want) {
		t.Error(reply.raw)
	}
}

func TestAFullDiskOfTheServerIsReported(t *testing.T) {
	a := onTemporal(t, &fakeClient{ExecuteFn: func(client.StartWorkflowOptions, any, []any) (client.WorkflowRun, error) {
		return nil, serviceerror.NewUnavailable("UpdateWorkflowExecution operation failed. Failed to commit transaction. Error: database or disk is full (13)")
	}})
	a.wantError(507, "no space is left on the disk", a.do("POST", "/conversations", `{"message":"x"}`))
}

// silent is a client of a Temporal server that does not answer.
func silent() *fakeClient {
	return &fakeClient{ExecuteFn: func(client.StartWorkflowOptions, any, []any) (client.WorkflowRun, error) {
		return nil, serviceerror.NewDeadlineExceeded("context deadline exceeded")
	}}
}

func TestAServerThatIsSilentBecauseItsDiskIsFull(t *testing.T) {
	for text, c := range map[string]struct {
		room   error
		status int
	}{
		"no answer in time":            {nil, 503},
		"no answer in time, ":          {errors.New("it cannot be said"), 503},
		"no space is left on the disk": {fmt.Errorf("look: %w", syscall.ENOSPC), 507},
	} {
		a := onTemporal(t, silent(), func(d *gateway.Deps) { d.Room = func(context.Context) error { return c.room } })
		a.wantError(c.status, strings.TrimSuffix(text, ", "), a.do("POST", "/conversations", `{"message":"x"}`))
	}
}

// The check of the disk writes. Requests that are refused must not fill the disk, nor keep it
// busy.
func TestConcurrentRequestsShareOneDiskCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		a := onTemporal(t, silent(), func(d *gateway.Deps) {
			d.Room = func(context.Context) error { looks.Add(1); return syscall.ENOSPC }
		})
		defer a.Close()
		for want := range int64(2) {
			var requests sync.WaitGroup
			for range 20 {
				requests.Go(func() { a.wantError(507, "no space", a.do("POST", "/conversations", `{"message":"x"}`)) })
			}
			if requests.Wait(); looks.Load() != want+1 {
				t.Errorf("%d looks, want %d", looks.Load(), want+1)
			}
			time.Sleep(10 * time.Second)
		}
	})
}

// A refused message stores nothing.
func TestATaskOfManyPartsIsRefused(t *testing.T) {
	a := newAPI(t, &fakeBackend{StartFn: func(service.StartInput) (service.StartResult, error) {
		t.Error("a conversation was started")
		return service.StartResult{}, context.Canceled
	}})
	parts := make([]object, contract.MaxParts+1)
	for i := range parts {
		parts[i] = object{"raw": "iVBORw0KGgo=", "mediaType": "image/png"}
	}
	old := make([]object, len(parts))
	for i := range old {
		old[i] = object{"kind": "file", "file": object{"bytes": "iVBORw0KGgo=", "mimeType": "image/png"}}
	}
	for method, message := range map[string]object{
		"SendMessage":  {"messageId": "m-1", "role": "ROLE_USER", "parts": parts},
		"message/send": {"messageId": "m-1", "role": "user", "kind": "message", "parts": old},
	} {
		reply := a.rpc(method, object{"message": message})
		if code := reply.at("error", "code"); fmt.Sprint(code) != "-32602" || !strings.Contains(reply.raw, "the limit is 100") {
			t.Errorf("%s: %s", method, reply.raw)
		}
	}
	if n := a.blobs.count(); n != 0 {
		t.Errorf("%d values are left in the store", n)
	}
}

// withRoom sets the result of the disk check.
func withRoom(err error) func(*gateway.Deps) {
	return func(d *gateway.Deps) { d.Room = func(context.Context) error { return err } }
}

func TestAFullDiskIsReportedInEveryProtocol(t *testing.T) {
	silent := service.Errorf(service.KindUnavailable, "no answer in time")
	b := &fakeBackend{
		StartFn:        func(service.StartInput) (service.StartResult, error) { return service.StartResult{}, silent },
		ConversationFn: func(string, string) (contract.ConversationView, error) { return contract.ConversationView{}, silent },
		TasksFn:        func(service.TaskQuery) (service.TaskPage, error) { return service.TaskPage{}, silent },
		PushConfigsFn:  func(string) ([]service.PushConfig, error) { return nil, silent },
	}
	calls := map[string]object{
		"SendMessage": said("m-1", "x", nil), "SendStreamingMessage": said("m-2", "x", nil), "GetTask": {"id": someID},
		"SubscribeToTask": {"id": someID}, "CancelTask": {"id": someID}, "ListTasks": {}, "ListTaskPushNotificationConfigs": {"taskId": someID},
	}
	for _, full := range []error{nil, syscall.ENOSPC} {
		a := newAPI(t, b, withRoom(full))
		for method, params := range calls {
			reply := a.rpc(method, params)
			if isNamed := strings.Contains(reply.raw, "no space is left on the disk"); isNamed != (full != nil) || !strings.Contains(reply.raw, "-32000") {
				t.Errorf("%s, %v: %s", method, full, reply.raw)
			}
		}
	}
}

func TestAnInterruptedRunReportsAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		b := s.backend()
		a := newAPI(t, b, withRoom(syscall.ENOSPC))
		defer a.Close()
		s.onMessage = func(m contract.MessageSignal) { s.begin(m) }
		b.AwaitFn = func(context.Context, string, []string) (contract.AwaitResult, error) {
			return contract.AwaitResult{}, service.Errorf(service.KindUnavailable, "no answer in time")
		}
		events := a.run(`"messages":[{"id":"m1","role":"user","content":"hi"}]`)
		last := events[len(events)-1]
		if last.text("type") != "RUN_ERROR" || last.text("code") != "no_space" || !strings.Contains(last.text("message"), "no space is left") {
			t.Errorf("%s: %+v", kinds(events), last)
		}
	})
}
