package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
)

// frames reads a stream.
func frames(t *testing.T, r reply) (ids, states []string) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(r.raw))
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			ids = append(ids, id)
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var m struct {
			Result a2a.StreamResponse
			Error  any
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil || m.Error != nil {
			t.Fatalf("%v: %s", err, data)
		}
		switch e := m.Result.Event.(type) {
		case *a2a.Task:
			states = append(states, "task "+string(e.Status.State))
		case *a2a.TaskStatusUpdateEvent:
			states = append(states, string(e.Status.State))
		case *a2a.TaskArtifactUpdateEvent:
			states = append(states, "artifact "+e.Artifact.Parts[0].Text())
		}
	}
	return ids, states
}

func TestAStreamCoversATaskToItsEnd(t *testing.T) {
	_, a, id := waiting(t)
	r := a.rpc("SendStreamingMessage", said("m-2", "approved", object{"taskId": id}))
	if _, got := frames(t, r); len(got) == 0 || !strings.HasSuffix(got[len(got)-1], "TASK_STATE_COMPLETED") {
		t.Errorf("%v: %s\n%s", got, r.raw, a.logs)
	}
	b := newAPI(t, taskScript().backend())
	if r := b.rpc("SendStreamingMessage", said("m-9", "hello", nil)); !strings.Contains(r.raw, "answer to hello") {
		t.Error(r.raw)
	}
}

func TestASubscriberResumes(t *testing.T) {
	s, a, id := waiting(t)
	server := httptest.NewServer(a)
	defer server.Close()
	stream := a.rpc("SendStreamingMessage", said("m-2", "why?", object{"taskId": id}))
	ids, states := frames(t, stream)
	if diff := cmp.Diff([]string{"task TASK_STATE_INPUT_REQUIRED"}, states); diff != "" {
		t.Fatal(diff)
	}
	s.decide(approvalUUID, contract.DecideSignal{Approved: true, RequestID: "r"})
	_, got := frames(t, a.rpc("SubscribeToTask", object{"id": id}, "Last-Event-ID: "+ids[0]))
	if diff := cmp.Diff([]string{"TASK_STATE_WORKING", "artifact dropped", "TASK_STATE_COMPLETED"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// There is nothing to send yet.
func TestAResumedSubscriberIsAnsweredAtOnce(t *testing.T) {
	_, a, id := waiting(t)
	ids, _ := frames(t, a.rpc("SendStreamingMessage", said("m-2", "why?", object{"taskId": id})))
	server := httptest.NewServer(a)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	body := `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"` + id + `"}}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/a2a", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Last-Event-ID", ids[0])
	response, err := server.Client().Do(r) // returns with the headers
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("%d %s", response.StatusCode, got)
	}
}
