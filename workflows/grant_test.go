package workflows_test

import (
	"context"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/difference"
)

func at(address string) *contract.Binding {
	return &contract.Binding{Address: address, SHA256: contract.Hash([]byte("definition"))}
}

// boundCall returns a destructive call of a tool of the server at http://a/mcp.
func boundCall() contract.Call {
	c := add("x")
	c.Binding = at("http://a/mcp")
	return c
}

// setAddress makes the tool server's address variable.
func setAddress(w *world, address *string) {
	w.CallToolFn = func(_ context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
		now := at(*address)
		if in.Binding == nil || in.Binding.Same(*now) {
			return returns(in.Tool + " done"), nil
		}
		o := temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{difference.TargetChange{
			Binding: *now, Difference: difference.Of(*in.Binding, *now, nil, nil),
		}}}
		return contract.CallToolResult{}, temporal.NewApplicationErrorWithOptions("it would go elsewhere", string(contract.KindChanged), o)
	}
}

func TestAGrantIsForWhereTheCallGoes(t *testing.T) {
	for name, tt := range map[string]struct {
		approve bool
		result  string
		tries   int
	}{
		"who approves it as it is now": {true, "result resources_add: resources_add done", 2},
		"who goes on without it":       {false, "failed resources_add: Tool execution failed: it would go elsewhere. Reason: not there", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, address := &world{GenerateFn: script(asks(boundCall()), says("Added."))}, "http://a/mcp"
			setAddress(w, &address)
			converse(t, w, hello(), func(s *session) {
				s.rest()
				same(t, "binding", s.pending().Binding, at("http://a/mcp"))
				address = "http://b/mcp"
				s.approve()
				s.rest()
				p := s.pending()
				same(t, "reason", p.Reason, contract.ReasonChanged)
				same(t, "granted", p.Granted, at("http://a/mcp"))
				same(t, "now", p.Binding, at("http://b/mcp"))
				same(t, "description", p.Description, "**CHANGED SINCE IT WAS APPROVED: resources_add**\n\n**ADD Resource**\n\nName: x\nValue: 1\n\n"+
					"Address of the server\n- approved: \"http://a/mcp\"\n- now: \"http://b/mcp\"\n\n"+
					"The call was not made. Approve to make it as it is now, reject to go on without it.")
				s.decide(contract.DecideSignal{Approved: tt.approve, RequestID: "d2", Reason: "not there"})
				s.rest()
				same(t, "answer", s.answer("d2"), "Added.")
				all := s.lines()
				same(t, "result", all[len(all)-2], tt.result)
				same(t, "tries", len(w.ran()), tt.tries)
			})
		})
	}
}

func TestAGrantWhereNothingElseAsksIsForWhereTheCallGoes(t *testing.T) {
	w, sent := &world{GenerateFn: script(asks(boundCall()), says("Added."))}, []*contract.Binding{}
	w.CallToolFn = func(_ context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
		if sent = append(sent, in.Binding); in.Grant == "" {
			return contract.CallToolResult{}, timedOut()
		}
		return returns("added"), nil
	}
	converse(t, w, tree(parallel("both", llm("a", atOnce))), func(s *session) {
		s.rest()
		same(t, "shown", s.pending().Binding, at("http://a/mcp"))
		s.approve()
		s.rest()
	})
	same(t, "bound to", sent, []*contract.Binding{nil, at("http://a/mcp")})
}

func TestEveryChangeAsksOnce(t *testing.T) {
	w, address := &world{GenerateFn: script(asks(boundCall()), says("Added."))}, "http://b/mcp"
	setAddress(w, &address)
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		same(t, "now", s.pending().Binding, at("http://b/mcp"))
		address = "http://c/mcp"
		s.approve()
		s.rest()
		p := s.pending()
		same(t, "granted", p.Granted, at("http://b/mcp"))
		same(t, "now", p.Binding, at("http://c/mcp"))
		s.approve()
		s.rest()
		s.nothingWaits()
		same(t, "result", s.lines()[len(s.lines())-2], "result resources_add: resources_add done")
	})
}

func TestACallOfOldHistoriesIsBoundToNothing(t *testing.T) {
	w, address := &world{GenerateFn: script(asks(add("x")), says("Added."))}, "http://b/mcp"
	setAddress(w, &address)
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		s.nothingWaits()
	})
	same(t, "bound", read(w, &w.calls)[0].Binding, (*contract.Binding)(nil))
}

func TestALongDifferenceIsKeptWhole(t *testing.T) {
	b := contract.NewBlob([]byte(strings.Repeat("all of it ", 1000)))
	w := &world{GenerateFn: script(asks(boundCall()), says("Added."))}
	w.CallToolFn = func(context.Context, contract.CallToolInput) (contract.CallToolResult, error) {
		o := temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{difference.TargetChange{
			Binding: *at("http://b/mcp"), Difference: "all of…", Whole: contract.Text{Blob: &b},
		}}}
		return contract.CallToolResult{}, temporal.NewApplicationErrorWithOptions("it would go elsewhere", string(contract.KindChanged), o)
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		p := s.pending()
		same(t, "whole", p.Explanation, contract.Text{Blob: &b})
		same(t, "says so", strings.HasPrefix(p.Description, "⚠️ NOT ALL OF IT IS SHOWN HERE."), true)
		s.reject()
		s.rest()
	})
}
