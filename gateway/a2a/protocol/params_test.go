package protocol_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/gateway/a2a/protocol"
)

// message10 returns a 1.0 message with one part.
func message10(part string) string {
	return `{"message":{"messageId":"m","role":"ROLE_USER","parts":[` + part + `]}}`
}

func message03(part string) string {
	return `{"message":{"messageId":"m","role":"user","parts":[` + part + `]}}`
}

func TestParamsThatAreRefused(t *testing.T) {
	for _, tt := range []struct{ method, params, field string }{
		{"SendMessage", `{}`, "message"},
		{"SendMessage", `{"message":null}`, "message"},
		{"SendMessage", `{"message":"hi"}`, "message"},
		{"SendMessage", `{"message":{}}`, "message.messageId"},
		{"SendMessage", `{"message":{"messageId":"m","parts":[{"text":"x"}]}}`, "message.role"},
		{"SendMessage", `{"message":{"messageId":"","role":"ROLE_USER","parts":[{"text":"x"}]}}`, "message.messageId"},
		{"SendMessage", `{"message":{"messageId":5,"role":"ROLE_USER","parts":[{"text":"x"}]}}`, "message.messageId"},
		{"SendMessage", `{"message":{"messageId":"m","role":"user","parts":[{"text":"x"}]}}`, "message.role"},
		{"SendMessage", `{"message":{"messageId":"m","role":"ROLE_UNSPECIFIED","parts":[{"text":"x"}]}}`, "message.role"},
		{"SendMessage", `{"message":{"messageId":"m","role":0,"parts":[{"text":"x"}]}}`, "message.role"},
		{"SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER"}}`, "message.parts"},
		{"SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}`, "message.parts"},
		{"SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":"invalid"}}`, "message.parts"},
		{"SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","taskId":7,"parts":[{"text":"x"}]}}`, "message.taskId"},
		{"SendMessage", message10(`null`), "message.parts[0]"},
		{"SendMessage", message10(`"x"`), "message.parts[0]"},
		{"SendMessage", message10(`{}`), "message.parts[0]"},
		{"SendMessage", message10(`{"metadata":{}}`), "message.parts[0]"},
		{"SendMessage", message10(`{"url":""}`), "message.parts[0]"},
		{"SendMessage", message10(`{"text":"x"},{"text":5}`), "message.parts[1].text"},
		{"SendMessage", message10(`{"text":"x","data":{}}`), "message.parts[0]"},
		{"SendMessage", message10(`{"raw":"dGNr","url":"https://example.com"}`), "message.parts[0]"},
		{"SendMessage", message10(`{"raw":"no base64!"}`), "message.parts[0].raw"},
		{"SendMessage", message10(`{"raw":5}`), "message.parts[0].raw"},
		{"SendMessage", message10(`{"text":"x","metadata":[]}`), "message.parts[0].metadata"},
		{"SendMessage", strings.TrimSuffix(hello10, "}") + `,"configuration":5}`, "configuration"},
		{"SendMessage", strings.TrimSuffix(hello10, "}") + `,"configuration":{"historyLength":-1}}`, "configuration.historyLength"},
		{"SendMessage", strings.TrimSuffix(hello10, "}") + `,"configuration":{"returnImmediately":"yes"}}`, "configuration.returnImmediately"},
		{"SendMessage", strings.TrimSuffix(hello10, "}") + `,"configuration":{"taskPushNotificationConfig":{}}}`, "configuration.taskPushNotificationConfig.url"},
		{"SendStreamingMessage", `{"invalid":"params"}`, "message"},
		{"GetTask", `{}`, "id"},
		{"GetTask", `{"id":""}`, "id"},
		{"GetTask", `{"id":5}`, "id"},
		{"GetTask", `{"id":"t","historyLength":-1}`, "historyLength"},
		{"GetTask", `{"id":"t","history_length":-1}`, "historyLength"},
		{"GetTask", `{"id":"t","historyLength":1.5}`, "historyLength"},
		{"GetTask", `{"id":"t","historyLength":"many"}`, "historyLength"},
		{"GetTask", `{"id":"t","historyLength":1e30}`, "historyLength"},
		{"GetTask", `{"id":"t","historyLength":true}`, "historyLength"},
		{"ListTasks", `{"pageSize":0}`, "pageSize"},
		{"ListTasks", `{"pageSize":-1}`, "pageSize"},
		{"ListTasks", `{"page_size":101}`, "pageSize"},
		{"ListTasks", `{"historyLength":-1}`, "historyLength"},
		{"ListTasks", `{"status":"INVALID_STATUS"}`, "status"},
		{"ListTasks", `{"status":"working"}`, "status"},
		{"ListTasks", `{"statusTimestampAfter":"-1"}`, "statusTimestampAfter"},
		{"ListTasks", `{"statusTimestampAfter":5}`, "statusTimestampAfter"},
		{"ListTasks", `{"includeArtifacts":1}`, "includeArtifacts"},
		{"CancelTask", `{}`, "id"},
		{"SubscribeToTask", `{"id":""}`, "id"},
		{"CreateTaskPushNotificationConfig", `{"url":"https://example.com"}`, "taskId"},
		{"CreateTaskPushNotificationConfig", `{"taskId":"t"}`, "url"},
		{"CreateTaskPushNotificationConfig", `{"taskId":"t","url":""}`, "url"},
		{"CreateTaskPushNotificationConfig", `{"taskId":"t","url":"https://example.com","authentication":{}}`, "authentication.scheme"},
		{"GetTaskPushNotificationConfig", `{"taskId":"t"}`, "id"},
		{"DeleteTaskPushNotificationConfig", `{"id":"c"}`, "taskId"},
		{"ListTaskPushNotificationConfigs", `{}`, "taskId"},

		{"message/send", `{}`, "message"},
		{"message/send", `{"invalid":"structure"}`, "message"},
		{"message/send", `{"message":{"kind":"message"}}`, "message.messageId"},
		{"message/send", `{"message":{"kind":"task","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}`, "message.kind"},
		{"message/send", `{"message":{"role":"user","parts":[{"kind":"text","text":"x"}]}}`, "message.messageId"},
		{"message/send", `{"message":{"messageId":"m","parts":[{"kind":"text","text":"x"}]}}`, "message.role"},
		{"message/send", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"kind":"text","text":"x"}]}}`, "message.role"},
		{"message/send", `{"message":{"messageId":"m","role":"user"}}`, "message.parts"},
		{"message/send", `{"message":{"messageId":"m","role":"user","parts":[]}}`, "message.parts"},
		{"message/send", `{"message":{"parts":"invalid"}}`, "message.messageId"},
		{"message/send", message03(`{"text":"x"}`), "message.parts[0].kind"},
		{"message/send", message03(`{"kind":"audio","text":"x"}`), "message.parts[0].kind"},
		{"message/send", message03(`{"kind":"text"}`), "message.parts[0].text"},
		{"message/send", message03(`{"kind":"file"}`), "message.parts[0].file"},
		{"message/send", message03(`{"kind":"file","file":{}}`), "message.parts[0].file"},
		{"message/send", message03(`{"kind":"file","file":{"bytes":"dGNr","uri":"https://example.com"}}`), "message.parts[0].file"},
		{"message/send", message03(`{"kind":"data"}`), "message.parts[0].data"},
		{"message/send", strings.TrimSuffix(hello03, "}") + `,"configuration":{"historyLength":-1}}`, "configuration.historyLength"},
		{"message/stream", `{"invalid":"params"}`, "message"},
		{"message/stream", message03(`{"type":"text","text":"x"}`), "message.parts[0].kind"},
		{"tasks/get", `{}`, "id"},
		{"tasks/get", `{"id":"t","historyLength":-1}`, "historyLength"},
		{"tasks/list", `{"status":"no state"}`, "status"},
		{"tasks/cancel", `{"id":""}`, "id"},
		{"tasks/resubscribe", `{}`, "id"},
		{"tasks/pushNotificationConfig/set", `{"taskId":"t"}`, "pushNotificationConfig"},
		{"tasks/pushNotificationConfig/set", `{"taskId":"t","pushNotificationConfig":{}}`, "pushNotificationConfig.url"},
		{"tasks/pushNotificationConfig/get", `{}`, "id"},
		{"tasks/pushNotificationConfig/delete", `{"id":"t"}`, "pushNotificationConfigId"},
		{"agent/getAuthenticatedExtendedCard", `5`, ""},
	} {
		t.Run(tt.method+" "+tt.params, func(t *testing.T) {
			got := post(t, &fake{}, rpc(tt.method, tt.params))
			if got.status != 200 || got.code() != -32602 || got.ID != "1" || got.header.Get("Content-Type") != "application/json" {
				t.Fatalf("got %d %s", got.status, got.body)
			}
			if !strings.HasPrefix(got.message(), strings.TrimSpace("Invalid params: "+tt.field)) {
				t.Errorf("got %q, want a word about %q", got.message(), tt.field)
			}
		})
	}
}

func TestInvalidParamsNameTheFieldIn10(t *testing.T) {
	got := post(t, &fake{}, rpc("SendMessage", message10(`{}`)))
	reason(t, got, "INVALID_PARAMS")
	data := got.Error["data"].([]any)
	same(t, data[len(data)-1], `{"@type":"type.googleapis.com/google.rpc.BadRequest",
		"fieldViolations":[{"field":"message.parts[0]","description":"has no content"}]}`)
	if got := post(t, &fake{}, rpc("message/send", `{}`)); got.Error["data"] != nil {
		t.Errorf("0.3 got %s", got.body)
	}
}

// sent returns the request that the Handler's Send got.
func sent(t *testing.T, method, params string) *a2a.SendMessageRequest {
	t.Helper()
	var req *a2a.SendMessageRequest
	h := &fake{SendFn: func(_ context.Context, r *a2a.SendMessageRequest) (*a2a.Task, error) {
		req = r
		return task(a2a.TaskStateCompleted), nil
	}}
	if got := post(t, h, rpc(method, params)); got.Error != nil {
		t.Fatalf("got %s", got.body)
	}
	return req
}

func TestAMessageOf10IsReadInBothSpellings(t *testing.T) {
	length := 3
	want := &a2a.SendMessageRequest{
		Tenant:   "acme",
		Metadata: map[string]any{"snake_key": map[string]any{"inner_key": 1.0}},
		Message: &a2a.Message{
			ID: "m", ContextID: "c", TaskID: "t", Role: a2a.MessageRoleUser,
			ReferenceTasks: []a2a.TaskID{"t0"}, Extensions: []string{"urn:x"},
			Metadata: map[string]any{"message_id": "kept"},
			Parts: a2a.ContentParts{
				{Content: a2a.Text("hi"), MediaType: "text/plain", Metadata: map[string]any{"media_type": "kept"}},
				{Content: a2a.Data{Value: map[string]any{"some_key": []any{map[string]any{"other_key": true}}}}},
			},
		},
		Config: &a2a.SendMessageConfig{
			AcceptedOutputModes: []string{"text/plain"}, ReturnImmediately: true, HistoryLength: &length,
			PushConfig: &a2a.PushConfig{ID: "p", URL: "https://example.com", Token: "tok",
				Auth: &a2a.PushAuthInfo{Scheme: "Bearer", Credentials: "cred"}},
		},
	}
	for name, params := range map[string]string{
		"camelCase": `{"tenant":"acme","metadata":{"snake_key":{"inner_key":1}},"message":{"messageId":"m","contextId":"c",
			"taskId":"t","role":"ROLE_USER","referenceTaskIds":["t0"],"extensions":["urn:x"],"metadata":{"message_id":"kept"},
			"parts":[{"text":"hi","mediaType":"text/plain","metadata":{"media_type":"kept"}},{"data":{"some_key":[{"other_key":true}]}}]},
			"configuration":{"acceptedOutputModes":["text/plain"],"returnImmediately":true,"historyLength":3,
			"taskPushNotificationConfig":{"id":"p","url":"https://example.com","token":"tok","authentication":{"scheme":"Bearer","credentials":"cred"}}}}`,
		"snake_case": `{"tenant":"acme","metadata":{"snake_key":{"inner_key":1}},"message":{"message_id":"m","context_id":"c",
			"task_id":"t","role":1,"reference_task_ids":["t0"],"extensions":["urn:x"],"metadata":{"message_id":"kept"},
			"parts":[{"text":"hi","media_type":"text/plain","metadata":{"media_type":"kept"}},{"data":{"some_key":[{"other_key":true}]}}]},
			"configuration":{"accepted_output_modes":["text/plain"],"return_immediately":true,"history_length":"3",
			"task_push_notification_config":{"id":"p","url":"https://example.com","token":"tok","authentication":{"scheme":"Bearer","credentials":"cred"}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, sent(t, "SendMessage", params)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPartsOf10(t *testing.T) {
	for _, tt := range []struct {
		part string
		want *a2a.Part
	}{
		{`{"text":""}`, a2a.NewTextPart("")},
		{`{"text":"x","url":"","data":null,"raw":null}`, a2a.NewTextPart("x")},
		{`{"kind":"text","text":"x","tckUnknownField":1}`, a2a.NewTextPart("x")},
		{`{"raw":"-_8="}`, a2a.NewRawPart([]byte{0xfb, 0xff})},
		{`{"raw":"+/8="}`, a2a.NewRawPart([]byte{0xfb, 0xff})},
		{`{"raw":"-_8"}`, a2a.NewRawPart([]byte{0xfb, 0xff})},
		{`{"url":"https://example.com/x","media_type":"image/png"}`, a2a.NewFileURLPart("https://example.com/x", "image/png")},
		{`{"data":[1,"two"]}`, a2a.NewDataPart([]any{1.0, "two"})},
		{`{"data":false}`, a2a.NewDataPart(false)},
	} {
		t.Run(tt.part, func(t *testing.T) {
			got := sent(t, "SendMessage", message10(tt.part)).Message.Parts[0]
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPartsOf03(t *testing.T) {
	for _, tt := range []struct {
		part string
		want *a2a.Part
	}{
		{`{"kind":"text","text":"x","metadata":{"some_key":1}}`, &a2a.Part{Content: a2a.Text("x"), Metadata: map[string]any{"some_key": 1.0}}},
		{`{"kind":"file","file":{"bytes":"VGVzdA==","name":"a.txt","mimeType":"text/plain"}}`,
			&a2a.Part{Content: a2a.Raw("Test"), Filename: "a.txt", MediaType: "text/plain"}},
		{`{"kind":"file","file":{"bytes":"-_8"}}`, a2a.NewRawPart([]byte{0xfb, 0xff})},
		{`{"kind":"file","file":{"uri":"invalid://x"}}`, &a2a.Part{Content: a2a.URL("invalid://x")}},
		{`{"kind":"data","data":{"some_key":{"n":1}}}`, a2a.NewDataPart(map[string]any{"some_key": map[string]any{"n": 1.0}})},
		{`{"kind":"data","data":[1,2]}`, &a2a.Part{Content: a2a.Data{Value: []any{1.0, 2.0}}, Metadata: map[string]any{}}},
	} {
		t.Run(tt.part, func(t *testing.T) {
			got := sent(t, "message/send", message03(tt.part)).Message.Parts[0]
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAMessageOf03(t *testing.T) {
	got := sent(t, "message/send", `{"metadata":{"a_b":1},"message":{"messageId":"m","role":"agent","contextId":null,"taskId":"t",
		"metadata":null,"parts":[{"kind":"text","text":"x"}],"futureField":{"x":1}},
		"configuration":{"blocking":false,"historyLength":0,"acceptedOutputModes":["application/unsupported-format"],
		"pushNotificationConfig":{"url":"http://localhost:8888/webhook","token":"tok","authentication":{"schemes":["Bearer"],"credentials":"c"}}}}`)
	zero := 0
	want := &a2a.SendMessageRequest{
		Metadata: map[string]any{"a_b": 1.0},
		Message:  &a2a.Message{ID: "m", TaskID: "t", Role: a2a.MessageRoleAgent, Parts: a2a.ContentParts{a2a.NewTextPart("x")}},
		Config: &a2a.SendMessageConfig{
			ReturnImmediately: true, HistoryLength: &zero, AcceptedOutputModes: []string{"application/unsupported-format"},
			PushConfig: &a2a.PushConfig{TaskID: "t", URL: "http://localhost:8888/webhook", Token: "tok",
				Auth: &a2a.PushAuthInfo{Scheme: "Bearer", Credentials: "c"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func Test03ReadsNoSnakeCase(t *testing.T) {
	got := post(t, &fake{}, rpc("message/send", `{"message":{"message_id":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}`))
	if got.code() != -32602 {
		t.Errorf("got %s", got.body)
	}
}

func TestListTasksIsRead(t *testing.T) {
	when := time.Date(2025, 1, 2, 3, 4, 5, 678901000, time.UTC)
	two := 2
	want := &a2a.ListTasksRequest{
		Tenant: "acme", ContextID: "c", Status: a2a.TaskStateWorking, PageSize: 7, PageToken: "p",
		HistoryLength: &two, StatusTimestampAfter: &when, IncludeArtifacts: true,
	}
	for name, body := range map[string]string{
		"camelCase": rpc("ListTasks", `{"tenant":"acme","contextId":"c","status":"TASK_STATE_WORKING","pageSize":7,"pageToken":"p","historyLength":2,
			"statusTimestampAfter":"2025-01-02T03:04:05.678901+00:00","includeArtifacts":true}`),
		"snake_case": rpc("ListTasks", `{"tenant":"acme","context_id":"c","status":2,"page_size":"7","page_token":"p","history_length":2,
			"status_timestamp_after":"2025-01-02T03:04:05.678901Z","include_artifacts":true}`),
		"0.3": rpc("tasks/list", `{"tenant":"acme","contextId":"c","status":"working","pageSize":7,"pageToken":"p","historyLength":2,
			"statusTimestampAfter":"2025-01-02T04:04:05.678901+01:00","includeArtifacts":true}`),
	} {
		t.Run(name, func(t *testing.T) {
			var got *a2a.ListTasksRequest
			h := &fake{ListFn: func(_ context.Context, r *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
				got = r
				return &a2a.ListTasksResponse{}, nil
			}}
			if r := post(t, h, body); r.Error != nil {
				t.Fatal(r.body)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnUnspecifiedStateIsNoFilter(t *testing.T) {
	h := &fake{ListFn: func(_ context.Context, r *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
		if r.Status != a2a.TaskStateUnspecified || r.PageSize != 0 || r.HistoryLength != nil {
			t.Errorf("got %+v", r)
		}
		return &a2a.ListTasksResponse{}, nil
	}}
	post(t, h, rpc("ListTasks", `{"status":"TASK_STATE_UNSPECIFIED","pageSize":null}`))
}

func TestRequestsWithIDs(t *testing.T) {
	got := map[string]any{}
	keep := func(name string, req any) { got[name] = req }
	h := &fake{
		GetFn: func(_ context.Context, r *a2a.GetTaskRequest) (*a2a.Task, error) {
			keep("get", r)
			return task(a2a.TaskStateWorking), nil
		},
		CancelFn: func(_ context.Context, r *a2a.CancelTaskRequest) (*a2a.Task, error) {
			keep("cancel", r)
			return task(a2a.TaskStateCanceled), nil
		},
		SetPushFn: func(_ context.Context, c *a2a.PushConfig) (*a2a.PushConfig, error) { keep("set", c); return c, nil },
		GetPushFn: func(_ context.Context, r *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
			keep("show", r)
			return &a2a.PushConfig{}, nil
		},
		ListPushFn: func(_ context.Context, r *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
			keep("all", r)
			return &a2a.ListTaskPushConfigResponse{}, nil
		},
		DeletePushFn: func(_ context.Context, r *a2a.DeleteTaskPushConfigRequest) error { keep("delete", r); return nil },
	}
	zero := 0
	for _, tt := range []struct {
		name, method, params string
		want                 any
	}{
		{"get", "GetTask", `{"id":"t","history_length":0,"tenant":"acme"}`, &a2a.GetTaskRequest{ID: "t", HistoryLength: &zero, Tenant: "acme"}},
		{"get", "tasks/get", `{"id":"t","historyLength":0}`, &a2a.GetTaskRequest{ID: "t", HistoryLength: &zero}},
		{"cancel", "CancelTask", `{"id":"t","metadata":{"a_b":1}}`, &a2a.CancelTaskRequest{ID: "t", Metadata: map[string]any{"a_b": 1.0}}},
		{"cancel", "tasks/cancel", `{"id":"t"}`, &a2a.CancelTaskRequest{ID: "t"}},
		{"set", "CreateTaskPushNotificationConfig", `{"task_id":"t","id":"c","url":"u","authentication":{"scheme":"Bearer"}}`,
			&a2a.PushConfig{TaskID: "t", ID: "c", URL: "u", Auth: &a2a.PushAuthInfo{Scheme: "Bearer"}}},
		{"set", "tasks/pushNotificationConfig/set", `{"taskId":"t","pushNotificationConfig":{"url":"u","token":"x"}}`,
			&a2a.PushConfig{TaskID: "t", URL: "u", Token: "x"}},
		{"show", "GetTaskPushNotificationConfig", `{"task_id":"t","id":"c"}`, &a2a.GetTaskPushConfigRequest{TaskID: "t", ID: "c"}},
		{"show", "tasks/pushNotificationConfig/get", `{"id":"t"}`, &a2a.GetTaskPushConfigRequest{TaskID: "t"}},
		{"show", "tasks/pushNotificationConfig/get", `{"id":"t","pushNotificationConfigId":"c"}`, &a2a.GetTaskPushConfigRequest{TaskID: "t", ID: "c"}},
		{"all", "ListTaskPushNotificationConfigs", `{"task_id":"t","page_size":0}`, &a2a.ListTaskPushConfigRequest{TaskID: "t"}},
		{"all", "tasks/pushNotificationConfig/list", `{"id":"t"}`, &a2a.ListTaskPushConfigRequest{TaskID: "t"}},
		{"delete", "DeleteTaskPushNotificationConfig", `{"task_id":"t","id":"c"}`, &a2a.DeleteTaskPushConfigRequest{TaskID: "t", ID: "c"}},
		{"delete", "tasks/pushNotificationConfig/delete", `{"id":"t","pushNotificationConfigId":"c"}`, &a2a.DeleteTaskPushConfigRequest{TaskID: "t", ID: "c"}},
	} {
		t.Run(tt.method+" "+tt.params, func(t *testing.T) {
			if r := post(t, h, rpc(tt.method, tt.params)); r.Error != nil {
				t.Fatal(r.body)
			}
			if diff := cmp.Diff(tt.want, got[tt.name]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzRPC(f *testing.F) {
	for _, params := range []string{hello03, hello10, `{"taskId":"t","message":{"role":"user","parts":[{"type":"text","text":"x"}]}}`} {
		for _, method := range []string{"message/send", "SendMessage", "GetTask", "tasks/get", "ListTasks"} {
			f.Add(rpc(method, params))
		}
	}
	s := protocol.New(sends(task(a2a.TaskStateCompleted)), silent)
	f.Fuzz(func(t *testing.T, body string) {
		if got := postTo(t, s, body); !json.Valid([]byte(got.body)) {
			t.Errorf("%q is answered with %q", body, got.body)
		}
	})
}
