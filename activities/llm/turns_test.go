package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
)

func named(id string, m contract.Message) contract.Message {
	m.ID = id
	return m
}

func answering(call string, m contract.Message) contract.Message {
	m.ResultOf = call
	return m
}

func userTurn(text string) llm.Turn { return llm.Turn{Role: contract.RoleUser, Text: text} }

func replyTurn(text string, calls ...llm.PastCall) llm.Turn {
	return llm.Turn{Role: contract.RoleAssistant, Text: text, Calls: calls}
}

func past(id, name, args, result string) llm.PastCall {
	return llm.PastCall{ID: id, Name: name, Arguments: json.RawMessage(args), Result: result}
}

func notRun(id, name, result string) llm.PastCall {
	return llm.PastCall{ID: id, Name: name, Arguments: json.RawMessage("{}"), Result: result, NotRun: true}
}

func TestExchange(t *testing.T) {
	tests := map[string]struct {
		in   []contract.Message
		want []llm.Turn
	}{
		"nothing": {},
		"system messages and notices are left out": {
			in: []contract.Message{
				{Role: contract.RoleSystem, Content: contract.Inline("prompt")}, sample.User("hi"),
				sample.Notice(contract.RoleAssistant, "This action requires approval:"), sample.Say("r1", "hello"),
			},
			want: []llm.Turn{userTurn("hi"), replyTurn("hello")},
		},
		"a reply is one turn with all its calls, each with its result": {
			in: []contract.Message{
				sample.User("go"), sample.Say("r1", "I look."), sample.Call("r1", "a", "list", `{"x":1}`), sample.Call("r1", "b", "get", ``),
				sample.Result("r1", "b", "get", "B"), sample.Result("r1", "a", "list", "A"), sample.Say("r2", "done"),
			},
			want: []llm.Turn{
				userTurn("go"), replyTurn("I look.", past("a", "list", `{"x":1}`, "A"), past("b", "get", `{}`, "B")), replyTurn("done"),
			},
		},
		"calls and results recorded in turns are still one reply": {
			in: []contract.Message{
				sample.User("go"), sample.Call("r1", "a", "x", `{}`), sample.Result("", "a", "x", "A"), sample.Call("r1", "b", "x", `{}`), sample.Result("", "b", "x", "B"),
			},
			want: []llm.Turn{userTurn("go"), replyTurn("", past("a", "x", `{}`, "A"), past("b", "x", `{}`, "B"))},
		},
		"calls without a reply stand alone": {
			in:   []contract.Message{sample.User("go"), sample.Call("", "a", "x", `{}`), sample.Call("", "b", "x", `{}`), sample.Result("", "a", "x", "A"), sample.Result("", "b", "x", "B")},
			want: []llm.Turn{userTurn("go"), replyTurn("", past("a", "x", `{}`, "A")), replyTurn("", past("b", "x", `{}`, "B"))},
		},
		"an approval in between changes nothing": {
			in: []contract.Message{
				sample.User("go"), sample.Call("r1", "a", "add", `{}`), sample.Notice(contract.RoleAssistant, "approve?"),
				sample.Decision(contract.Approved), sample.Result("r1", "a", "add", "ok"),
			},
			want: []llm.Turn{userTurn("go"), replyTurn("", past("a", "add", `{}`, "ok"))},
		},
		"a rejected call says so": {
			in: []contract.Message{
				sample.User("go"), sample.Call("r1", "a", "add", `{}`), sample.Decision(contract.Rejected), sample.Say("", "Operation cancelled by user."), sample.User("why"),
			},
			want: []llm.Turn{
				userTurn("go"), replyTurn("", notRun("a", "add", llm.Rejected)), replyTurn("Operation cancelled by user."), userTurn("why"),
			},
		},
		"a later rejection is another call's": {
			in: []contract.Message{
				sample.User("go"), sample.Call("r1", "a", "add", `{}`), sample.User("again"), sample.Call("r2", "b", "add", `{}`), sample.Decision(contract.Rejected),
			},
			want: []llm.Turn{
				userTurn("go"), replyTurn("", notRun("a", "add", llm.NotRun)),
				userTurn("again"), replyTurn("", notRun("b", "add", llm.Rejected)),
			},
		},
		"an expired call was not run": {
			in:   []contract.Message{sample.User("go"), sample.Call("r1", "a", "add", `{}`), sample.Decision(contract.Expired)},
			want: []llm.Turn{userTurn("go"), replyTurn("", notRun("a", "add", llm.NotRun))},
		},
		"only the call without result is rejected": {
			in: []contract.Message{
				sample.User("go"), sample.Call("r1", "a", "list", `{}`), sample.Call("r1", "b", "add", `{}`), sample.Result("r1", "a", "list", "A"), sample.Decision(contract.Rejected),
			},
			want: []llm.Turn{userTurn("go"), replyTurn("", past("a", "list", `{}`, "A"), notRun("b", "add", llm.Rejected))},
		},
		"a result that comes after the next text stays with its call": {
			in:   []contract.Message{sample.User("go"), named("call-1", sample.Call("r1", "a", "x", `{}`)), sample.User("hurry"), answering("call-1", sample.Result("r1", "a", "x", "A"))},
			want: []llm.Turn{userTurn("go"), replyTurn("", past("a", "x", `{}`, "A")), userTurn("hurry")},
		},
		"one ID in two replies pairs within the reply": {
			in: []contract.Message{
				sample.User("go"), sample.Call("r1", "0", "x", `{}`), sample.Result("r1", "0", "x", "first"), sample.Call("r2", "0", "x", `{}`), sample.Result("r2", "0", "x", "second"),
			},
			want: []llm.Turn{userTurn("go"), replyTurn("", past("0", "x", `{}`, "first")), replyTurn("", past("0", "x", `{}`, "second"))},
		},
		"equal and empty IDs in one reply become distinct": {
			in: []contract.Message{
				sample.User("go"), sample.Call("r1", "a", "x", `{}`), sample.Call("r1", "a", "y", `{}`), sample.Call("r1", "", "z", `{}`),
				sample.Result("r1", "a", "x", "1"), sample.Result("r1", "a", "y", "2"), sample.Result("r1", "", "z", "3"),
			},
			want: []llm.Turn{userTurn("go"), replyTurn("",
				past("a", "x", `{}`, "1"), past("call00002", "y", `{}`, "2"), past("call00003", "z", `{}`, "3"))},
		},
		"an error is marked": {
			in: []contract.Message{sample.User("go"), sample.Call("r1", "a", "x", `{}`), sample.Failed(sample.Result("r1", "a", "x", "boom"))},
			want: []llm.Turn{userTurn("go"), replyTurn("", llm.PastCall{
				ID: "a", Name: "x", Arguments: json.RawMessage(`{}`), Result: "boom", IsError: true,
			})},
		},
		"a result without a call becomes a user's text": {
			in:   []contract.Message{sample.User("go"), sample.Result("", "a", "x", "A")},
			want: []llm.Turn{userTurn("go\n\nTool \"x\" returned:\nA")},
		},
		"adjacent texts are merged and empty ones skipped": {
			in:   []contract.Message{sample.User("one"), sample.User(""), sample.User("two"), sample.Say("r1", ""), sample.Say("r2", "a"), sample.Say("r3", "b")},
			want: []llm.Turn{userTurn("one\n\ntwo"), replyTurn("a\n\nb")},
		},
		"arguments that are no object are sent as an empty one": {
			in:   []contract.Message{sample.User("go"), sample.Call("r1", "a", "x", `[1]`), sample.Result("r1", "a", "x", "A")},
			want: []llm.Turn{userTurn("go"), replyTurn("", past("a", "x", `{}`, "A"))},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, llm.BuildTurns(tt.in, nil)); diff != "" {
				t.Errorf("turns differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestARejectedCallSaysWhyAndWhoRejectedIt(t *testing.T) {
	no := sample.Decision(contract.Rejected)
	no.Approval.By, no.Approval.Reason = "alice", "not today"
	turns := llm.BuildTurns([]contract.Message{sample.User("go"), sample.Call("r1", "a", "add", `{}`), no}, nil)
	if got := turns[1].Calls[0].Result; got != llm.Rejected+" Reason (alice): not today" {
		t.Errorf("got %q", got)
	}
}

// A person has changed a call: the model learns that, and what was changed, before the result.
func TestTheModelLearnsWhatAPersonHasChanged(t *testing.T) {
	r := &contract.ApprovalResult{Decision: contract.Approved, By: "anne", Revision: &contract.Revision{
		Call: "c1", Changes: []edit.Change{{Name: "amount", Before: "700", After: "400"}, {Name: "note", After: `"part"`}},
	}}
	decided := sample.Notice(contract.RoleUser, "[APPROVAL]: Approved")
	decided.Approval = r
	in := []contract.Message{
		sample.User("pay"), named("c1", sample.Call("r1", "a", "refund", `{"amount":700}`)), named("c2", sample.Call("r1", "b", "list", `{}`)), decided,
		answering("c1", sample.Result("r1", "a", "refund", "paid")), answering("c2", sample.Result("r1", "b", "list", "L")),
	}
	want := []llm.Turn{userTurn("pay"), replyTurn("",
		past("a", "refund", `{"amount":700}`, "This call did not run as it was made. The person who approved it (\"anne\") has changed its arguments: amount is 400 instead of 700; note is \"part\".\n\npaid"),
		past("b", "list", `{}`, "L"))}
	if diff := cmp.Diff(want, llm.BuildTurns(in, nil)); diff != "" {
		t.Error(diff)
	}
}
