package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
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
				{Role: contract.RoleSystem, Content: contract.Inline("prompt")}, user("hi"),
				notice(contract.RoleAssistant, "This action requires approval:"), say("r1", "hello"),
			},
			want: []llm.Turn{userTurn("hi"), replyTurn("hello")},
		},
		"a reply is one turn with all its calls, each with its result": {
			in: []contract.Message{
				user("go"), say("r1", "I look."), call("r1", "a", "list", `{"x":1}`), call("r1", "b", "get", ``),
				result("r1", "b", "get", "B"), result("r1", "a", "list", "A"), say("r2", "done"),
			},
			want: []llm.Turn{
				userTurn("go"), replyTurn("I look.", past("a", "list", `{"x":1}`, "A"), past("b", "get", `{}`, "B")), replyTurn("done"),
			},
		},
		"calls and results recorded in turns are still one reply": {
			in: []contract.Message{
				user("go"), call("r1", "a", "x", `{}`), result("", "a", "x", "A"), call("r1", "b", "x", `{}`), result("", "b", "x", "B"),
			},
			want: []llm.Turn{userTurn("go"), replyTurn("", past("a", "x", `{}`, "A"), past("b", "x", `{}`, "B"))},
		},
		"calls without a reply stand alone": {
			in:   []contract.Message{user("go"), call("", "a", "x", `{}`), call("", "b", "x", `{}`), result("", "a", "x", "A"), result("", "b", "x", "B")},
			want: []llm.Turn{userTurn("go"), replyTurn("", past("a", "x", `{}`, "A")), replyTurn("", past("b", "x", `{}`, "B"))},
		},
		"an approval in between changes nothing": {
			in: []contract.Message{
				user("go"), call("r1", "a", "add", `{}`), notice(contract.RoleAssistant, "approve?"),
				decision(contract.Approved), result("r1", "a", "add", "ok"),
			},
			want: []llm.Turn{userTurn("go"), replyTurn("", past("a", "add", `{}`, "ok"))},
		},
		"a rejected call says so": {
			in: []contract.Message{
				user("go"), call("r1", "a", "add", `{}`), decision(contract.Rejected), say("", "Operation cancelled by user."), user("why"),
			},
			want: []llm.Turn{
				userTurn("go"), replyTurn("", notRun("a", "add", llm.Rejected)), replyTurn("Operation cancelled by user."), userTurn("why"),
			},
		},
		"a later rejection is another call's": {
			in: []contract.Message{
				user("go"), call("r1", "a", "add", `{}`), user("again"), call("r2", "b", "add", `{}`), decision(contract.Rejected),
			},
			want: []llm.Turn{
				userTurn("go"), replyTurn("", notRun("a", "add", llm.NotRun)),
				userTurn("again"), replyTurn("", notRun("b", "add", llm.Rejected)),
			},
		},
		"an expired call was not run": {
			in:   []contract.Message{user("go"), call("r1", "a", "add", `{}`), decision(contract.Expired)},
			want: []llm.Turn{userTurn("go"), replyTurn("", notRun("a", "add", llm.NotRun))},
		},
		"only the call without result is rejected": {
			in: []contract.Message{
				user("go"), call("r1", "a", "list", `{}`), call("r1", "b", "add", `{}`), result("r1", "a", "list", "A"), decision(contract.Rejected),
			},
			want: []llm.Turn{userTurn("go"), replyTurn("", past("a", "list", `{}`, "A"), notRun("b", "add", llm.Rejected))},
		},
		"a result that comes after the next text stays with its call": {
			in:   []contract.Message{user("go"), named("call-1", call("r1", "a", "x", `{}`)), user("hurry"), answering("call-1", result("r1", "a", "x", "A"))},
			want: []llm.Turn{userTurn("go"), replyTurn("", past("a", "x", `{}`, "A")), userTurn("hurry")},
		},
		"one ID in two replies pairs within the reply": {
			in: []contract.Message{
				user("go"), call("r1", "0", "x", `{}`), result("r1", "0", "x", "first"), call("r2", "0", "x", `{}`), result("r2", "0", "x", "second"),
			},
			want: []llm.Turn{userTurn("go"), replyTurn("", past("0", "x", `{}`, "first")), replyTurn("", past("0", "x", `{}`, "second"))},
		},
		"equal and empty IDs in one reply become distinct": {
			in: []contract.Message{
				user("go"), call("r1", "a", "x", `{}`), call("r1", "a", "y", `{}`), call("r1", "", "z", `{}`),
				result("r1", "a", "x", "1"), result("r1", "a", "y", "2"), result("r1", "", "z", "3"),
			},
			want: []llm.Turn{userTurn("go"), replyTurn("",
				past("a", "x", `{}`, "1"), past("call00002", "y", `{}`, "2"), past("call00003", "z", `{}`, "3"))},
		},
		"an error is marked": {
			in: []contract.Message{user("go"), call("r1", "a", "x", `{}`), failed(result("r1", "a", "x", "boom"))},
			want: []llm.Turn{userTurn("go"), replyTurn("", llm.PastCall{
				ID: "a", Name: "x", Arguments: json.RawMessage(`{}`), Result: "boom", IsError: true,
			})},
		},
		"a result without a call becomes a user's text": {
			in:   []contract.Message{user("go"), result("", "a", "x", "A")},
			want: []llm.Turn{userTurn("go\n\nTool \"x\" returned:\nA")},
		},
		"adjacent texts are merged and empty ones skipped": {
			in:   []contract.Message{user("one"), user(""), user("two"), say("r1", ""), say("r2", "a"), say("r3", "b")},
			want: []llm.Turn{userTurn("one\n\ntwo"), replyTurn("a\n\nb")},
		},
		"arguments that are no object are sent as an empty one": {
			in:   []contract.Message{user("go"), call("r1", "a", "x", `[1]`), result("r1", "a", "x", "A")},
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
	no := decision(contract.Rejected)
	no.Approval.By, no.Approval.Reason = "alice", "not today"
	turns := llm.BuildTurns([]contract.Message{user("go"), call("r1", "a", "add", `{}`), no}, nil)
	if got := turns[1].Calls[0].Result; got != llm.Rejected+" Reason (alice): not today" {
		t.Errorf("got %q", got)
	}
}
