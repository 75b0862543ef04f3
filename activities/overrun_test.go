package activities_test

import (
	"context"
	"strings"
	"testing"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

func TestAReplyOverABoundBringsNoCalls(t *testing.T) {
	var many []llm.Call
	for range contract.MaxCalls + 1 {
		many = append(many, llm.Call{ID: "a", Name: "x", Arguments: raw(`{}`).Raw})
	}
	for name, tt := range map[string]struct {
		calls []llm.Call
		says  string
	}{
		"calls": {many, "129 calls: the limit is 128"},
		"name":  {[]llm.Call{{ID: "a", Name: strings.Repeat("n", 1<<20), Arguments: raw(`{}`).Raw}}, "1048576 bytes: the limit is 128"},
		"fine":  {many[1:2], ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{}, Model: fakeModel{func(context.Context, llm.Request) (llm.Reply, error) {
				return llm.Reply{Text: "I look.", Calls: tt.calls}, nil
			}}}
			got, err := run(t, t.Context(), m.Generate, question("hi"))
			if err != nil {
				t.Fatal(err)
			}
			if (got.Overrun == "") != (tt.says == "") || !strings.Contains(got.Overrun, tt.says) || (len(got.Calls) > 0) != (tt.says == "") {
				t.Errorf("overrun %q, %d calls", got.Overrun, len(got.Calls))
			}
		})
	}
}

func TestTheModelIsToldOfALimit(t *testing.T) {
	var asked llm.Request
	m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{}, Model: fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
		asked = r
		return llm.Reply{Text: "Less."}, nil
	}}}
	in := question("hi")
	in.Repair = &contract.Repair{Problem: "the reply asks for 2500 calls: the limit is 128", Overrun: true}
	if _, err := run(t, t.Context(), m.Generate, in); err != nil {
		t.Fatal(err)
	}
	last := asked.Messages[len(asked.Messages)-1]
	if last.Role != contract.RoleUser || !strings.Contains(last.Content.Inline, "2500 calls") || strings.Contains(last.Content.Inline, "schema") {
		t.Errorf("the model reads %+v", last)
	}
}
