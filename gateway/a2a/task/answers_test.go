package task_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/gateway/a2a/task"
	"agent-stop-and-go/workflows/contract"
)

func pendingOf(uuids ...string) []contract.PendingApproval {
	var out []contract.PendingApproval
	for _, u := range uuids {
		out = append(out, contract.PendingApproval{UUID: u, ToolName: "drop", Description: "Drop?"})
	}
	return out
}

func question(schema string) []contract.PendingApproval {
	p := pendingOf("u-1")
	p[0].Reason, p[0].Schema = contract.ReasonQuestion, contract.JSON{Raw: json.RawMessage(schema)}
	return p
}

// proxied returns an approval that a remote agent asks for.
func proxied() []contract.PendingApproval {
	p := pendingOf("u-1")
	p[0].ToolName, p[0].RemoteAgentName, p[0].RemoteTaskID = "a2a_deploy", "deploy", "t-9"
	p[0].Origin = &contract.Origin{
		Chain: []string{"deploy", "store"}, UUID: "far-1", Tool: "drop", Arguments: contract.JSON{Raw: json.RawMessage(`{"id":12345678901234567890}`)},
	}
	return p
}

func text(s string) *a2a.Message { return a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(s)) }

func texts(list ...string) *a2a.Message {
	m := a2a.NewMessage(a2a.MessageRoleUser)
	for _, s := range list {
		m.Parts = append(m.Parts, a2a.NewTextPart(s))
	}
	return m
}

func data(s string) *a2a.Message { return beside("What I say of it.", s) }

// beside returns a message of a text and a data part.
func beside(text, s string) *a2a.Message {
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		panic(err)
	}
	return a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text), a2a.NewDataPart(v))
}

func hitl(s string) *a2a.Message {
	m := text("Approved")
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		panic(err)
	}
	m.Extensions = []string{task.HITL}
	m.SetMeta(task.HITL, v)
	return m
}

const free = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`

const form = `{"type":"object","properties":{"count":{"type":"integer"},"name":{"type":"string","enum":["a","b"]}},"required":["name"]}`

func TestAnswersThatDecide(t *testing.T) {
	for name, c := range map[string]struct {
		message *a2a.Message
		pending []contract.PendingApproval
		first   bool
		want    []task.Decision
	}{
		"a word":                     {message: text(" Approved "), pending: pendingOf("u-1"), want: []task.Decision{{UUID: "u-1", Approved: true}}},
		"a no":                       {message: text("deny"), pending: pendingOf("u-1"), want: []task.Decision{{UUID: "u-1"}}},
		"a word and a uuid":          {message: text("approve u-2"), pending: pendingOf("u-1", "u-2"), want: []task.Decision{{UUID: "u-2", Approved: true}}},
		"a uuid in other letters":    {message: text("Approve\nU-2"), pending: pendingOf("u-1", "u-2"), want: []task.Decision{{UUID: "u-2", Approved: true}}},
		"a part for the uuid":        {message: texts("no", "u-2"), pending: pendingOf("u-1", "u-2"), want: []task.Decision{{UUID: "u-2"}}},
		"a word for the first":       {message: text("yes"), pending: pendingOf("u-1", "u-2"), first: true, want: []task.Decision{{UUID: "u-1", Approved: true}}},
		"JSON as text":               {message: text(`{"approved":false,"reason":"no"}`), pending: pendingOf("u-1"), want: []task.Decision{{UUID: "u-1", Reason: "no"}}},
		"JSON as text that names":    {message: text(`{"approved":true,"uuid":"u-2"}`), pending: pendingOf("u-1", "u-2"), first: true, want: []task.Decision{{UUID: "u-2", Approved: true}}},
		"a data part of the type":    {message: data(`{"type":"agent-stop-and-go/approval-answer","uuid":"u-1","approved":true,"more":[1]}`), pending: pendingOf("u-1"), want: []task.Decision{{UUID: "u-1", Approved: true}}},
		"a data part beside words":   {message: data(`{"uuid":"u-1","approved":false,"by":"ann","reason":"why"}`), pending: pendingOf("u-1"), want: []task.Decision{{UUID: "u-1", By: "ann", Reason: "why"}}},
		"a data part with changes":   {message: data(`{"uuid":"u-1","approved":true,"edit":{"amount":400}}`), pending: pendingOf("u-1"), want: []task.Decision{{UUID: "u-1", Approved: true, Edit: json.RawMessage(`{"amount":400}`)}}},
		"a data part of the only":    {message: data(`{"approved":true}`), pending: pendingOf("u-1"), want: []task.Decision{{UUID: "u-1", Approved: true}}},
		"the uuid of the far end":    {message: data(`{"uuid":"far-1","approved":true}`), pending: proxied(), want: []task.Decision{{UUID: "u-1", Approved: true}}},
		"a text for a question":      {message: text("b"), pending: question(form), want: []task.Decision{{UUID: "u-1", Approved: true, Content: json.RawMessage(`{"name":"b"}`)}}},
		"content for a question":     {message: data(`{"uuid":"u-1","approved":true,"content":{"name":"a","count":2}}`), pending: question(form), want: []task.Decision{{UUID: "u-1", Approved: true, Content: json.RawMessage(`{"count":2,"name":"a"}`)}}},
		"a word as the content":      {message: beside("no", `{"uuid":"u-1","approved":true,"content":{"name":"a"}}`), pending: question(form), want: []task.Decision{{UUID: "u-1", Approved: true, Content: json.RawMessage(`{"name":"a"}`)}}},
		"the extension":              {message: hitl(`{"type":"tool_approval_response","approvals":[{"id":"u-2","approved":false,"rejection_reason":"used"},{"id":"u-1","approved":true}]}`), pending: pendingOf("u-1", "u-2"), want: []task.Decision{{UUID: "u-2", Reason: "used"}, {UUID: "u-1", Approved: true}}},
		"the extension, nested":      {message: hitl(`{"type":"tool_approval_response","approvals":[{"id":"far-1","approved":true}]}`), pending: proxied(), want: []task.Decision{{UUID: "u-1", Approved: true}}},
		"the extension, a question":  {message: hitl(`{"type":"ask_user_response","id":"u-1","answers":[{"answer":["3"]},{"answer":["a"]}]}`), pending: question(form), want: []task.Decision{{UUID: "u-1", Approved: true, Content: json.RawMessage(`{"count":3,"name":"a"}`)}}},
		"an optional field left out": {message: hitl(`{"type":"ask_user_response","id":"u-1","answers":[{"answer":[]},{"answer":["a"]}]}`), pending: question(form), want: []task.Decision{{UUID: "u-1", Approved: true, Content: json.RawMessage(`{"name":"a"}`)}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := task.Decisions(c.message, c.pending, c.first)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMessagesThatDecideNothing(t *testing.T) {
	twice := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewDataPart(map[string]any{"uuid": "u-1", "approved": true}),
		a2a.NewDataPart(map[string]any{"uuid": "u-1", "approved": false}))
	for name, c := range map[string]struct {
		message *a2a.Message
		pending []contract.PendingApproval
	}{
		"another text":           {text("What does it do?"), pendingOf("u-1")},
		"a yes in a sentence":    {text("yes, but not now"), pendingOf("u-1")},
		"a word for several":     {text("approved"), pendingOf("u-1", "u-2")},
		"a word for none":        {text("approved u-3"), pendingOf("u-1", "u-2")},
		"data for none":          {data(`{"uuid":"u-3","approved":true}`), pendingOf("u-1")},
		"data for which?":        {data(`{"approved":true}`), pendingOf("u-1", "u-2")},
		"data that says nothing": {data(`{"uuid":"u-1"}`), pendingOf("u-1")},
		"data that is torn":      {data(`{"uuid":"u-1","approved":true,"answer":"no"}`), pendingOf("u-1")},
		"data in another case":   {data(`{"uuid":"u-1","approved":true,"Approved":false}`), pendingOf("u-1")},
		"data of our own":        {data(`{"type":"agent-stop-and-go/approval-request","uuid":"u-1","approved":true}`), pendingOf("u-1")},
		"data for a number":      {data(`{"uuid":7,"approved":true}`), pendingOf("u-1")},
		"data for nothing":       {data(`{"uuid":null,"approved":true}`), pendingOf("u-1")},
		"data for two":           {data(`{"uuid":"u-1","UUID":"u-2","approved":true}`), pendingOf("u-1")},
		"a UUID of another":      {data(`{"UUID":"u-2","approved":true}`), pendingOf("u-1")},
		"JSON for another":       {text(`{"uuid":"u-2","approved":true}`), pendingOf("u-1")},
		"JSON that is torn":      {text(`{"approved":true,"approved":false}`), pendingOf("u-1")},
		"JSON of another type":   {text(`{"type":"x","approved":true}`), pendingOf("u-1")},
		"data twice":             {twice, pendingOf("u-1")},
		"data and a word":        {beside("Rejected", `{"uuid":"u-1","approved":true}`), pendingOf("u-1")},
		"a word for no question": {text("approved 3D0E7A52-9c41-4a8e-b0de-6f5a4b3c2d1e"), question(free)},
		"JSON for no question":   {text(`{"type":"agent-stop-and-go/approval-answer","uuid":"u-2","approved":true,"content":{"name":"a"}}`), question(form)},
		"no choice":              {text("c"), question(form)},
		"a yes to a question":    {data(`{"uuid":"u-1","approved":true}`), question(form)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := task.Decisions(c.message, c.pending, false)
			if hint, ok := task.IsNoAnswer(err); !ok || hint == "" {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestAnswersThatTheExtensionForbids(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		pending []contract.PendingApproval
	}{
		"one left out":         {`{"type":"tool_approval_response","approvals":[{"id":"u-1","approved":true}]}`, pendingOf("u-1", "u-2")},
		"one twice":            {`{"type":"tool_approval_response","approvals":[{"id":"u-1","approved":true},{"id":"u-1","approved":true}]}`, pendingOf("u-1", "u-2")},
		"an unknown one":       {`{"type":"tool_approval_response","approvals":[{"id":"u-3","approved":true}]}`, pendingOf("u-1")},
		"no yes and no no":     {`{"type":"tool_approval_response","approvals":[{"id":"u-1"}]}`, pendingOf("u-1")},
		"torn":                 {`{"type":"tool_approval_response","approvals":[{"id":"u-1","approved":true,"Approved":false}]}`, pendingOf("u-1")},
		"a word":               {`{"type":"tool_approval_response","approvals":[{"id":"u-1","approved":"yes"}]}`, pendingOf("u-1")},
		"a yes with a reason":  {`{"type":"tool_approval_response","approvals":[{"id":"u-1","approved":true,"rejection_reason":"x"}]}`, pendingOf("u-1")},
		"another type":         {`{"type":"decision"}`, pendingOf("u-1")},
		"nothing":              {`null`, pendingOf("u-1")},
		"answers to a yes/no":  {`{"type":"ask_user_response","id":"u-1","answers":[{"answer":["a"]}]}`, pendingOf("u-1")},
		"too few answers":      {`{"type":"ask_user_response","id":"u-1","answers":[{"answer":["a"]}]}`, question(form)},
		"a yes to a question":  {`{"type":"tool_approval_response","approvals":[{"id":"u-1","approved":true}]}`, question(form)},
		"an answer of no form": {`{"type":"ask_user_response","id":"u-1","answers":[{"answer":["x"]},{"answer":["c"]}]}`, question(form)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := task.Decisions(hitl(c.payload), c.pending, false)
			if !errors.Is(err, a2a.ErrInvalidParams) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// statusMessage returns the status message of a waiting task as JSON.
func statusMessage(t *testing.T, pending []contract.PendingApproval, o task.Shape) string {
	t.Helper()
	src := newWorld().src
	src.Document.PendingApprovals, src.View.Pending = pending, pending
	raw, err := json.Marshal(src.Task(o).Status.Message)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestAWaitingTaskIsShownToPeopleAndPrograms(t *testing.T) {
	got := statusMessage(t, proxied(), task.Shape{})
	for _, want := range []string{
		`"Approval required (id: u-1): Drop?`, `"chain":["helper","deploy","store"]`, `"tool":"drop"`, `"id":12345678901234567890`, `"uuid":"u-1"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, task.HITL) {
		t.Errorf("the extension is used unasked: %s", got)
	}
}

func TestAWaitingTaskIsShownByTheExtension(t *testing.T) {
	for name, c := range map[string]struct {
		pending []contract.PendingApproval
		want    []string
	}{
		"two calls": {pendingOf("u-1", "u-2"), []string{`"type":"tool_approval_request"`, `"id":"u-1"`, `"id":"u-2"`, `"args":{}`}},
		"nested":    {proxied(), []string{`"nested":{`, `"subagent_name":"deploy"`, `"task_id":"t-9"`, `"id":"far-1"`}},
		"a question": {question(form), []string{
			`"type":"ask_user_request"`, `"choices":["a","b"]`, `"choices":[]`, `"id":"u-1"`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := statusMessage(t, c.pending, task.Shape{HITL: true})
			for _, want := range append(c.want, `"extensions":["`+task.HITL+`"]`) {
				if !strings.Contains(got, want) {
					t.Errorf("no %s in %s", want, got)
				}
			}
			if strings.Contains(got, `"data":`) {
				t.Errorf("a data part beside the extension: %s", got)
			}
		})
	}
}

func TestAPlainTaskWaitsWithTextOnly(t *testing.T) {
	got := statusMessage(t, pendingOf("u-1"), task.Shape{Plain: true})
	if !strings.Contains(got, `"parts":[{"text":"Approval required (id: u-1): Drop?"}]`) {
		t.Error(got)
	}
}

func TestPlainTextListsTheAcceptedAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		pending []contract.PendingApproval
		hint    string
		want    string
	}{
		"of a question":     {question(free), "", `Approval required (id: u-1): Drop?\n\n`},
		"to a wrong answer": {pendingOf("u-1"), "This was no answer.", `Approval required (id: u-1): Drop?\n\nThis was no answer.\n\nAnswer \"approved\" or \"rejected\".`},
	} {
		got := statusMessage(t, c.pending, task.Shape{Plain: true, Hint: c.hint})
		if !strings.Contains(got, c.want) || name == "of a question" && !strings.Contains(got, "accepted is") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTheLastAgentDescribesTheApproval(t *testing.T) {
	p := proxied()
	p[0].Description, p[0].Origin.Description = "**PROXY APPROVAL**\n\nDrop it all.\n\nThrough: helper → deploy → store", "Drop it all."
	for want, o := range map[string]task.Shape{
		`"description":"Drop it all."`:                                {},
		`"hint":"Drop it all.","nested":{"chain":["deploy","store"],`: {HITL: true},
	} {
		if got := statusMessage(t, p, o); !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// A call with an unknown outcome accepts a third answer besides yes and no, and still accepts
// those two.
func TestAnswersToAnUnknownOutcome(t *testing.T) {
	p := pendingOf("u-1")
	p[0].Reason, p[0].Schema = contract.ReasonUnknownOutcome, contract.JSON{Raw: json.RawMessage(contract.UnknownOutcomeSchema)}
	for _, c := range []struct {
		m       *a2a.Message
		want    bool
		content string
	}{
		{text("approved"), true, `{}`},
		{text("rejected u-1"), false, ``},
		{text("ran"), true, `{"outcome":"ran"}`},
		{text("ran u-1"), true, `{"outcome":"ran"}`},
		{data(`{"type":"agent-stop-and-go/approval-answer","uuid":"u-1","approved":true}`), true, `{}`},
		{data(`{"type":"agent-stop-and-go/approval-answer","uuid":"u-1","approved":true,"content":{"outcome":"ran","result":"x"}}`), true, `{"outcome":"ran","result":"x"}`},
	} {
		got, err := task.Decisions(c.m, p, false)
		if err != nil || len(got) != 1 || got[0].Approved != c.want || string(got[0].Content) != c.content {
			t.Errorf("%v: %+v, %v", c.m.Parts, got, err)
		}
	}
	if _, err := task.Decisions(text("perhaps"), p, false); err == nil {
		t.Error("perhaps was taken for an answer")
	}
	if got := task.Accepts(p); !strings.Contains(got, `"approved" or "rejected"`) {
		t.Error(got)
	}
}
