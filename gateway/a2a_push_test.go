package gateway_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

func TestAMessageBringsItsWebhook(t *testing.T) {
	s := taskScript()
	b := s.backend()
	var begun *service.PushConfig
	start := b.StartFn
	b.StartFn = func(in service.StartInput) (service.StartResult, error) {
		begun = in.Push
		return start(in)
	}
	var set []service.PushConfig
	b.SetPushFn = func(_ string, c service.PushConfig) (service.PushConfig, error) {
		set = append(set, c)
		if c.URL == "https://wrong.example/" {
			return c, service.Errorf(contract.KindInvalid, "no such host")
		}
		return c, nil
	}
	a := newAPI(t, b)
	hook := object{"url": "https://example.com/hook", "authentication": object{"scheme": "Bearer", "credentials": "c"}}
	message := func(id string, more object) object {
		m := said(id, "drop it", more)
		m["configuration"] = object{"taskPushNotificationConfig": hook}
		return m
	}
	first := a.rpc("SendMessage", message("m-1", nil))
	id := first.text("result", "task", "id")
	if begun == nil || begun.URL != "https://example.com/hook" || begun.Credentials != "c" {
		t.Fatalf("%+v: %s", begun, first.raw)
	}
	a.rpc("SendMessage", message("m-2", object{"taskId": id}))
	if len(set) != 0 {
		t.Errorf("a message that decides nothing set %v", set)
	}
	hook["url"] = "https://wrong.example/"
	approve := message("m-3", object{"taskId": id, "parts": []any{object{"text": "approved"}}})
	if r := a.rpc("SendMessage", approve); code(r) != -32602.0 || state(a.rpc("GetTask", object{"id": id})) != "TASK_STATE_INPUT_REQUIRED" {
		t.Error("the approval was given although the webhook is wrong: " + r.raw)
	}
}

func TestAWebhookOf03ComesWithAMessage(t *testing.T) {
	s := taskScript()
	b := s.backend()
	var begun *service.PushConfig
	start := b.StartFn
	b.StartFn = func(in service.StartInput) (service.StartResult, error) {
		begun = in.Push
		return start(in)
	}
	r := newAPI(t, b).rpc("message/send", object{
		"message":       object{"messageId": "m-1", "role": "user", "parts": []any{object{"kind": "text", "text": "hello"}}},
		"configuration": object{"pushNotificationConfig": object{"url": "https://example.com/hook", "token": "t"}},
	})
	if begun == nil || begun.Protocol != contract.PushProtocol03 || begun.Token != "t" || state(r) != "completed" {
		t.Fatalf("%+v: %s", begun, r.raw)
	}
}

func TestSecretsOfWebhooksAreNeverShown(t *testing.T) {
	s := taskScript()
	b := s.backend()
	b.SetPushFn = func(_ string, c service.PushConfig) (service.PushConfig, error) { c.ID = "h"; return c, nil }
	b.PushConfigsFn = func(string) ([]service.PushConfig, error) {
		return []service.PushConfig{{ID: "h", URL: "https://example.com/hook", Token: "t0ken", Scheme: "Bearer", Credentials: "s3cret"}}, nil
	}
	a := newAPI(t, b)
	id := a.rpc("SendMessage", said("m-1", "drop it", nil)).text("result", "task", "id")
	auth := object{"scheme": "Bearer", "credentials": "s3cret"}
	old := object{"url": "https://example.com/hook", "token": "t0ken", "authentication": object{"schemes": []any{"Bearer"}, "credentials": "s3cret"}}
	for method, params := range map[string]object{
		"CreateTaskPushNotificationConfig":  {"taskId": id, "url": "https://example.com/hook", "token": "t0ken", "authentication": auth},
		"GetTaskPushNotificationConfig":     {"taskId": id, "id": "h"},
		"ListTaskPushNotificationConfigs":   {"taskId": id},
		"GetTask":                           {"id": id},
		"tasks/pushNotificationConfig/set":  {"taskId": id, "pushNotificationConfig": old},
		"tasks/pushNotificationConfig/get":  {"id": id},
		"tasks/pushNotificationConfig/list": {"id": id},
		"tasks/get":                         {"id": id},
	} {
		r := a.rpc(method, params)
		if strings.Contains(r.raw, "t0ken") || strings.Contains(r.raw, "s3cret") || strings.Contains(r.raw, `"error"`) {
			t.Errorf("%s: %s", method, r.raw)
		}
		if strings.Contains(strings.ToLower(method), "push") && (strings.Count(r.raw, "[set]") != 2 || !strings.Contains(r.raw, "Bearer")) {
			t.Errorf("%s does not say what is set: %s", method, r.raw)
		}
	}
}

func TestAnAnswerBringsItsWebhook(t *testing.T) {
	s := taskScript()
	b := s.backend()
	var set []service.PushConfig
	b.SetPushFn = func(_ string, c service.PushConfig) (service.PushConfig, error) { set = append(set, c); return c, nil }
	a := newAPI(t, b)
	id := a.rpc("SendMessage", said("m-1", "drop it", nil)).text("result", "task", "id")
	m := said("m-2", "", object{"taskId": id, "parts": []any{object{"text": "approved"}}})
	m["configuration"] = object{"taskPushNotificationConfig": object{"url": "https://example.com/hook"}}
	if r := a.rpc("SendMessage", m); code(r) != nil || len(set) != 1 {
		t.Errorf("set %v: %s", set, r.raw)
	}
	if r := a.rpc("SendMessage", m); len(set) != 1 {
		t.Errorf("a repetition set %v: %s", set, r.raw)
	}
}
