package protocol_test

import (
	"context"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
)

// rich returns a task with every member set.
func rich() *a2a.Task {
	t := task(a2a.TaskStateInputRequired)
	t.Metadata = map[string]any{protocol.MetadataDialect: "none", "kept": 1}
	t.Status.Message = &a2a.Message{ID: "q", Role: a2a.MessageRoleAgent, TaskID: "t1", ContextID: "c1",
		Extensions: []string{"urn:x"}, Metadata: map[string]any{"urn:x": map[string]any{"type": "ask"}},
		Parts: a2a.ContentParts{a2a.NewTextPart("sure?")}}
	t.History = []*a2a.Message{{ID: "m", Role: a2a.MessageRoleUser}}
	t.Artifacts = []*a2a.Artifact{{ID: "a", Name: "n", Parts: a2a.ContentParts{
		{Content: a2a.Raw("tck"), Filename: "output.txt", MediaType: "text/plain"},
		{Content: a2a.URL("https://example.com/output.txt"), MediaType: "text/plain"},
		a2a.NewDataPart(map[string]any{"key": "value"}),
	}}, {ID: "empty"}}
	return t
}

const rich10 = `{"id":"t1","contextId":"c1","metadata":{"kept":1},
	"status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"` + noonWritten + `","message":{"messageId":"q","role":"ROLE_AGENT",
		"taskId":"t1","contextId":"c1","extensions":["urn:x"],"metadata":{"urn:x":{"type":"ask"}},"parts":[{"text":"sure?"}]}},
	"history":[{"messageId":"m","role":"ROLE_USER","parts":[]}],
	"artifacts":[{"artifactId":"a","name":"n","parts":[{"raw":"dGNr","filename":"output.txt","mediaType":"text/plain"},
		{"url":"https://example.com/output.txt","mediaType":"text/plain"},{"data":{"key":"value"}}]},{"artifactId":"empty","parts":[]}]}`

const rich03 = `{"kind":"task","id":"t1","contextId":"c1","metadata":{"kept":1},
	"status":{"state":"input-required","timestamp":"` + noonWritten + `","message":{"kind":"message","messageId":"q","role":"agent",
		"taskId":"t1","contextId":"c1","extensions":["urn:x"],"metadata":{"urn:x":{"type":"ask"}},"parts":[{"kind":"text","text":"sure?"}]}},
	"history":[{"kind":"message","messageId":"m","role":"user","parts":[]}],
	"artifacts":[{"artifactId":"a","name":"n","parts":[
		{"kind":"file","file":{"bytes":"dGNr","name":"output.txt","mimeType":"text/plain"}},
		{"kind":"file","file":{"uri":"https://example.com/output.txt","mimeType":"text/plain"}},
		{"kind":"data","data":{"key":"value"}}]},{"artifactId":"empty","parts":[]}]}`

func TestTasksAreWritten(t *testing.T) {
	h := sends(rich())
	h.CancelFn = func(context.Context, *a2a.CancelTaskRequest) (*a2a.Task, error) { return rich(), nil }
	for _, tt := range []struct{ method, params, want string }{
		{"SendMessage", hello10, `{"task":` + rich10 + `}`},
		{"GetTask", `{"id":"t1"}`, rich10},
		{"CancelTask", `{"id":"t1"}`, rich10},
		{"message/send", hello03, rich03},
		{"tasks/get", `{"id":"t1"}`, rich03},
		{"tasks/cancel", `{"id":"t1"}`, rich03},
	} {
		t.Run(tt.method, func(t *testing.T) {
			got := post(t, h, rpc(tt.method, tt.params))
			if got.status != 200 || got.header.Get("Content-Type") != "application/json" {
				t.Errorf("got %d %v", got.status, got.header)
			}
			same(t, got.Result, tt.want)
		})
	}
}

func TestResultsOfTheHandlerAreNotChanged(t *testing.T) {
	mine := rich()
	h := sends(mine)
	post(t, h, rpc("GetTask", `{"id":"t1"}`))
	post(t, h, rpc("tasks/get", `{"id":"t1"}`))
	if mine.Metadata[protocol.MetadataDialect] != "none" || mine.History[0].Parts != nil || mine.Artifacts[1].Parts != nil {
		t.Errorf("got %+v", mine)
	}
}

func TestATaskWithNothingInIt(t *testing.T) {
	h := sends(&a2a.Task{ID: "t1", ContextID: "c1", Status: a2a.TaskStatus{State: a2a.TaskStateSubmitted},
		Metadata: map[string]any{protocol.MetadataDialect: "none"}, History: []*a2a.Message{}})
	same(t, post(t, h, rpc("GetTask", `{"id":"t1"}`)).Result, `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_SUBMITTED"}}`)
	same(t, post(t, h, rpc("tasks/get", `{"id":"t1"}`)).Result, `{"kind":"task","id":"t1","contextId":"c1","status":{"state":"submitted"}}`)
}

func TestStatesOf03(t *testing.T) {
	for state, want := range map[a2a.TaskState]string{
		a2a.TaskStateSubmitted: "submitted", a2a.TaskStateWorking: "working", a2a.TaskStateInputRequired: "input-required",
		a2a.TaskStateAuthRequired: "auth-required", a2a.TaskStateCompleted: "completed", a2a.TaskStateCanceled: "canceled",
		a2a.TaskStateFailed: "failed", a2a.TaskStateRejected: "rejected", a2a.TaskStateUnspecified: "unknown",
	} {
		got := post(t, sends(task(state)), rpc("tasks/get", `{"id":"t1"}`))
		if !strings.Contains(got.body, `"state":"`+want+`"`) {
			t.Errorf("%s: got %s", state, got.body)
		}
	}
}

func TestListsAreNeverNull(t *testing.T) {
	h := &fake{
		ListFn: func(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
			return &a2a.ListTasksResponse{}, nil
		},
		ListPushFn: func(context.Context, *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
			return &a2a.ListTaskPushConfigResponse{}, nil
		},
	}
	none := `{"tasks":[],"totalSize":0,"pageSize":0,"nextPageToken":""}`
	same(t, post(t, h, rpc("ListTasks", `{}`)).Result, none)
	same(t, post(t, h, rpc("tasks/list", `{}`)).Result, none)
	same(t, post(t, h, rpc("ListTaskPushNotificationConfigs", `{"taskId":"t"}`)).Result, `{"configs":[]}`)
	same(t, post(t, h, rpc("tasks/pushNotificationConfig/list", `{"id":"t"}`)).Result, `[]`)
}

func TestPagesOfTasks(t *testing.T) {
	h := &fake{ListFn: func(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
		return &a2a.ListTasksResponse{Tasks: []*a2a.Task{rich()}, TotalSize: 9, PageSize: 1, NextPageToken: "next"}, nil
	}}
	same(t, post(t, h, rpc("ListTasks", `{}`)).Result, `{"tasks":[`+rich10+`],"totalSize":9,"pageSize":1,"nextPageToken":"next"}`)
	same(t, post(t, h, rpc("tasks/list", `{}`)).Result, `{"tasks":[`+rich03+`],"totalSize":9,"pageSize":1,"nextPageToken":"next"}`)
}

func TestPushConfigurations(t *testing.T) {
	config := &a2a.PushConfig{TaskID: "t", ID: "c", URL: "https://example.com", Token: "x",
		Auth: &a2a.PushAuthInfo{Scheme: "Bearer", Credentials: "cred"}}
	h := &fake{
		SetPushFn: func(context.Context, *a2a.PushConfig) (*a2a.PushConfig, error) { return config, nil },
		GetPushFn: func(context.Context, *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) { return config, nil },
		ListPushFn: func(context.Context, *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
			return &a2a.ListTaskPushConfigResponse{Configs: []*a2a.PushConfig{config}, NextPageToken: "next"}, nil
		},
		DeletePushFn: func(context.Context, *a2a.DeleteTaskPushConfigRequest) error { return nil },
	}
	in10 := `{"taskId":"t","id":"c","url":"https://example.com","token":"x","authentication":{"scheme":"Bearer","credentials":"cred"}}`
	in03 := `{"taskId":"t","pushNotificationConfig":{"id":"c","url":"https://example.com","token":"x","authentication":{"schemes":["Bearer"],"credentials":"cred"}}}`
	for _, tt := range []struct{ method, params, want string }{
		{"CreateTaskPushNotificationConfig", `{"taskId":"t","url":"u"}`, in10},
		{"GetTaskPushNotificationConfig", `{"taskId":"t","id":"c"}`, in10},
		{"ListTaskPushNotificationConfigs", `{"taskId":"t"}`, `{"configs":[` + in10 + `],"nextPageToken":"next"}`},
		{"DeleteTaskPushNotificationConfig", `{"taskId":"t","id":"c"}`, `{}`},
		{"tasks/pushNotificationConfig/set", `{"taskId":"t","pushNotificationConfig":{"url":"u"}}`, in03},
		{"tasks/pushNotificationConfig/get", `{"id":"t"}`, in03},
		{"tasks/pushNotificationConfig/list", `{"id":"t"}`, `[` + in03 + `]`},
		{"tasks/pushNotificationConfig/delete", `{"id":"t","pushNotificationConfigId":"c"}`, `null`},
	} {
		t.Run(tt.method, func(t *testing.T) {
			got := post(t, h, rpc(tt.method, tt.params))
			same(t, got.Result, tt.want)
			if !strings.Contains(got.body, `"result":`) || got.Error != nil {
				t.Errorf("got %s", got.body)
			}
		})
	}
}

func TestAnswersIn10HaveNoSnakeCase(t *testing.T) {
	got := post(t, sends(rich()), rpc("SendMessage", hello10))
	var look func(any)
	look = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, inner := range v {
				if strings.Contains(k, "_") || k == "kind" || k == "final" {
					t.Errorf("key %q", k)
				}
				look(inner)
			}
		case []any:
			for _, inner := range v {
				look(inner)
			}
		}
	}
	look(got.Result)
}

func TestAResultOfUnknownTypeIsAnInternalError(t *testing.T) {
	bad := task(a2a.TaskStateCompleted)
	bad.Metadata = map[string]any{"f": func() {}}
	if got := post(t, sends(bad), rpc("GetTask", `{"id":"t"}`)); got.code() != -32603 || got.message() != "Internal error" {
		t.Errorf("got %s", got.body)
	}
}
