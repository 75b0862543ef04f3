package task_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/gateway/a2a/task"
	"agent-stop-and-go/workflows/contract"
)

// adkPart returns a data part with ADK's metadata.
func adkPart(kind, s string) *a2a.Part {
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		panic(err)
	}
	p := a2a.NewDataPart(v)
	p.Metadata = map[string]any{"adk_type": kind}
	return p
}

// adk returns a message of an ADK client with the given function responses.
func adk(responses ...string) *a2a.Message {
	m := a2a.NewMessage(a2a.MessageRoleUser)
	for _, s := range responses {
		m.Parts = append(m.Parts, adkPart("function_response", s))
	}
	return m
}

func responseOf(uuid, response string) string {
	return `{"id":"` + uuid + `","name":"adk_request_confirmation","response":` + response + `}`
}

func TestFunctionResponsesThatDecide(t *testing.T) {
	one := pendingOf("u-1")
	for response, approved := range map[string]bool{
		`{"confirmed":true}`:                            true,
		`{"confirmed":false}`:                           false,
		`{"confirmed":true,"hint":"?","payload":{}}`:    true,
		`{"response":"{\"confirmed\":true}"}`:           true,
		`{"response":"{\"confirmed\": false}"}`:         false,
		`{"response":"approved"}`:                       true,
		`{"approved":"no"}`:                             false,
		`{"answer":"yes"}`:                              true,
		`{"status":"approved"}`:                         true,
		`{"status":"rejected","ticketId":"x"}`:          false,
		`{"result":"approved"}`:                         true,
		`{"Confirmed":true}`:                            true,
		`{"confirmed":true,"status":"approved"}`:        true,
		`{"confirmed":false,"approved":false,"by":"x"}`: false,
	} {
		got, err := task.Decisions(adk(responseOf("u-1", response)), one, false)
		if err != nil || len(got) != 1 || got[0].UUID != "u-1" || got[0].Approved != approved {
			t.Errorf("%s: %+v, %v", response, got, err)
		}
	}
}

func TestFunctionResponsesThatDecideNothing(t *testing.T) {
	for name, m := range map[string]*a2a.Message{
		"nothing":               adk(responseOf("u-1", `{}`)),
		"no response":           adk(`{"id":"u-1","name":"adk_request_confirmation"}`),
		"null":                  adk(responseOf("u-1", `null`)),
		"a list":                adk(responseOf("u-1", `[true]`)),
		"pending":               adk(responseOf("u-1", `{"status":"pending"}`)),
		"the call went well":    adk(responseOf("u-1", `{"status":"ok"}`), responseOf("u-2", `{"result":"ok"}`)),
		"an error":              adk(responseOf("u-1", `{"error":"declined by the network"}`)),
		"neither":               adk(responseOf("u-1", `{"confirmed":"perhaps"}`)),
		"null for confirmed":    adk(responseOf("u-1", `{"confirmed":null}`)),
		"both":                  adk(responseOf("u-1", `{"confirmed":true,"status":"rejected"}`)),
		"both, in another case": adk(responseOf("u-1", `{"confirmed":true,"Confirmed":false}`)),
		"words":                 adk(responseOf("u-1", `{"response":"sure, why not"}`)),
		"no ID":                 adk(`{"name":"adk_request_confirmation","response":{"confirmed":true}}`),
		"another ID":            adk(responseOf("u-9", `{"confirmed":true}`)),
		"twice":                 adk(responseOf("u-1", `{"confirmed":true}`), responseOf("u-1", `{"confirmed":true}`)),
	} {
		got, err := task.Decisions(m, pendingOf("u-1"), false)
		if text, no := task.IsNoAnswer(err); !no || text == "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	_, err := task.Decisions(adk(responseOf("u-1", `{"status":"pending"}`)), pendingOf("u-1"), false)
	if text, _ := task.IsNoAnswer(err); !strings.Contains(text, `{"confirmed":true}`) {
		t.Errorf("what is accepted is not said: %s", text)
	}
}

func TestEachFunctionResponseIsForItsOwnApproval(t *testing.T) {
	m := adk(responseOf("u-2", `{"confirmed":false}`), responseOf("u-1", `{"confirmed":true}`))
	got, err := task.Decisions(m, pendingOf("u-1", "u-2"), false)
	want := []task.Decision{{UUID: "u-2"}, {UUID: "u-1", Approved: true}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if got, err := task.Decisions(adk(responseOf("far-1", `{"confirmed":true}`)), proxied(), false); err != nil || got[0].UUID != "u-1" {
		t.Errorf("by the far end's ID: %+v, %v", got, err)
	}
}

func TestFunctionResponsesToAQuestion(t *testing.T) {
	for response, want := range map[string]string{
		`{"name":"apple"}`:                `{"name":"apple"}`,
		`{"response":"{\"name\":\"a\"}"}`: `{"name":"a"}`,
		`{"response":"apple"}`:            `{"name":"apple"}`,
		`{"result":"apple"}`:              `{"name":"apple"}`,
		`{"content":{"name":"apple"}}`:    `{"name":"apple"}`,
		`{"approved":false}`:              ``,
	} {
		got, err := task.Decisions(adk(responseOf("u-1", response)), question(free), false)
		if err != nil || string(got[0].Content) != want || got[0].Approved != (want != "") {
			t.Errorf("%s: %+v, %v", response, got, err)
		}
	}
	if got, err := task.Decisions(adk(responseOf("u-1", `{"count":"three"}`)), question(form), false); err == nil {
		t.Errorf("an answer that does not fit: %+v", got)
	}
}

// callsOf returns the function calls among the parts of a waiting task.
func callsOf(task *a2a.Task) []string {
	var out []string
	for _, p := range task.Status.Message.Parts {
		if p.Metadata["adk_type"] == "function_call" && p.Metadata["adk_is_long_running"] == true {
			raw, err := json.Marshal(p.Data())
			if err != nil {
				panic(err)
			}
			out = append(out, string(raw))
		}
	}
	return out
}

func TestAWaitingTaskIsShownAsAFunctionCall(t *testing.T) {
	for name, c := range map[string]struct {
		pending []contract.PendingApproval
		want    string
	}{
		"an approval": {pendingOf("u-1"),
			`{"args":{"originalFunctionCall":{"args":{},"id":"u-1","name":"drop"},"toolConfirmation":{"confirmed":false,"hint":"Drop?"}},"id":"u-1","name":"adk_request_confirmation"}`},
		"one of an agent behind us": {proxied(),
			`{"args":{"originalFunctionCall":{"args":{"id":12345678901234567890},"id":"u-1","name":"drop"},"toolConfirmation":{"confirmed":false,"hint":"Drop?"}},"id":"u-1","name":"adk_request_confirmation"}`},
		"a question": {question(free),
			`{"args":{"message":"Drop?","response_schema":` + compact(free) + `},"id":"u-1","name":"adk_request_input"}`},
	} {
		w := newWorld()
		w.says("drop all")
		w.src.Document.PendingApprovals = c.pending
		w.src.View.Pending = c.pending
		if diff := cmp.Diff([]string{c.want}, callsOf(w.src.Task(task.Shape{}))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if calls := callsOf(w.src.Task(task.Shape{Plain: true})); len(calls) > 0 {
			t.Errorf("%s: the old dialect has no data: %v", name, calls)
		}
	}
}

// compact sorts the keys of an object.
func compact(s string) string {
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		panic(err)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestAnAnswerMayNameItsApproval(t *testing.T) {
	for name, c := range map[string]struct {
		message *a2a.Message
		want    string
	}{
		"a function response":      {adk(responseOf("u-1", `{"confirmed":true}`)), "u-1"},
		"an unclear one":           {adk(responseOf("u-1", `{"status":"pending"}`)), "u-1"},
		"an answer of ours":        {data(`{"type":"agent-stop-and-go/approval-answer","uuid":"u-2","approved":true}`), "u-2"},
		"an answer without a name": {data(`{"type":"agent-stop-and-go/approval-answer","approved":true}`), ""},
		"data of another kind":     {data(`{"uuid":"u-3","approved":true}`), ""},
		"words":                    {text("approved u-4"), ""},
		"a function call":          {&a2a.Message{Parts: a2a.ContentParts{adkPart("function_call", `{"id":"u-5"}`)}}, ""},
	} {
		if got := task.Addressee(c.message); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
