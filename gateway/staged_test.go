package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

var (
	longText    = strings.Repeat("long ", 1000)
	longMessage = `{"message":"` + longText + `"}`
)

// picture is an A2A message with an image and a long text.
func picture(id string) object {
	image := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x89PNG", 5000)))
	m := said("m-1", longText, object{"taskId": id})
	m["message"].(object)["parts"] = []any{
		object{"text": longText}, object{"raw": image, "mediaType": "image/png", "filename": "i.png"},
	}
	return m
}

// longRun is a run of AG-UI whose message and tools are long.
func longRun() string {
	tool := object{"name": "pick", "description": longText, "parameters": object{"type": "object"}}
	raw, _ := json.Marshal(object{ // of plain values
		"threadId": someID, "runId": "r", "tools": []any{tool},
		"messages": []any{object{"id": "m-1", "role": "user", "content": longText}},
	})
	return string(raw)
}

func TestARefusedMessageLeavesNothingInTheBlobStore(t *testing.T) {
	for _, kind := range []contract.Kind{contract.KindWaiting, contract.KindCompleted, contract.KindBusy, contract.KindNotFound} {
		a := newAPI(t, &fakeBackend{ConversationFn: showing, AdmitFn: foreseeing(kind, "no")})
		if kind == contract.KindNotFound {
			a.backend.AdmitFn = func(string, contract.ConversationQuery) (contract.ConversationView, error) {
				return contract.ConversationView{}, service.Errorf(kind, "conversation not found")
			}
		}
		for name, send := range map[string]func() reply{
			"rest":   func() reply { return a.do("POST", messages, longMessage) },
			"keyed":  func() reply { return a.do("POST", messages, longMessage, "Idempotency-Key: k") },
			"stream": func() reply { return a.do("POST", messages, longMessage, "Accept: text/event-stream") },
			"a2a":    func() reply { return a.rpc("SendMessage", picture(someID)) },
			"ag-ui":  func() reply { return a.do("POST", "/ag-ui", longRun()) },
		} {
			if name == "ag-ui" && kind == contract.KindNotFound { // a run starts such a conversation
				continue
			}
			reply := send()
			if n := a.blobs.count(); n != 0 {
				t.Errorf("%s, %s: %d blobs were stored: %d %.300s", kind, name, n, reply.status, reply.raw)
				a.blobs.data = nil
			}
		}
	}
}

func TestAnAdmittedMessageIsStoredBeforeItIsSent(t *testing.T) {
	stored := map[string]int{}
	a := newAPI(t, &fakeBackend{ConversationFn: showing, AwaitFn: answering("ok")})
	sender := ""
	a.backend.SignalFn = func(_, _ string, payload any) error {
		m := payload.(contract.MessageSignal)
		if data, err := a.blobs.Get(t.Context(), *m.Text.Blob); err != nil || !strings.Contains(string(data), longText) {
			t.Errorf("%s: the text is %d bytes, %v", sender, len(data), err)
		}
		stored[sender] = a.blobs.count()
		a.blobs.data = nil
		return service.Errorf(contract.KindCompleted, "enough") // later calls do not matter
	}
	for name, send := range map[string]func() reply{
		"rest":  func() reply { return a.do("POST", messages, longMessage) },
		"a2a":   func() reply { return a.rpc("SendMessage", picture(someID)) },
		"ag-ui": func() reply { return a.do("POST", "/ag-ui", longRun()) },
	} {
		sender = name
		send()
	}
	if stored["rest"] != 1 || stored["a2a"] != 2 || stored["ag-ui"] != 2 {
		t.Errorf("stored: %v", stored)
	}
}

func TestAnExistingConversationStoresNoFirstMessage(t *testing.T) {
	for name, tt := range map[string]struct {
		describe func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
		status   int
	}{
		"its key was used": {func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil), nil
		}, 422},
		"no Temporal": {func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return nil, serviceerror.NewUnavailable("down")
		}, 503},
	} {
		a := onTemporal(t, &fakeClient{
			DescribeFn: tt.describe,
			ExecuteFn: func(client.StartWorkflowOptions, any, []any) (client.WorkflowRun, error) {
				return nil, &serviceerror.WorkflowExecutionAlreadyStarted{}
			},
		})
		reply := a.do("POST", "/conversations", longMessage, "Idempotency-Key: k")
		if n := a.blobs.count(); reply.status != tt.status || n != 0 {
			t.Errorf("%s: status %d, %d blobs: %.300s", name, reply.status, n, reply.raw)
		}
	}
}

func TestTheFirstMessageIsStoredBeforeItsConversationStarts(t *testing.T) {
	var held error
	c := &fakeClient{DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) { return nil, errMissing }}
	a := onTemporal(t, c)
	c.ExecuteFn = func(client.StartWorkflowOptions, any, []any) (client.WorkflowRun, error) {
		_, held = a.blobs.Get(t.Context(), contract.NewBlob([]byte(longText)))
		return nil, serviceerror.NewUnavailable("down")
	}
	a.want(503, a.do("POST", "/conversations", longMessage))
	if held != nil {
		t.Errorf("when the conversation starts: %v", held)
	}
}
