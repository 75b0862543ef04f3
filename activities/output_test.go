package activities_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

const titled = `{"type":"object","properties":{"title":{"type":"string"}},"required":["title"],"additionalProperties":false}`

func TestAnOutputIsJudgedByItsSchema(t *testing.T) {
	for name, tt := range map[string]struct {
		reply        llm.Reply
		text, misfit string
	}{
		"it fits":        {llm.Reply{Text: " {\n \"title\": \"T <b>\" }\n"}, `{"title":"T <b>"}`, ""},
		"in a fence":     {llm.Reply{Text: "```json\n{\"title\":\"T\"}\n```"}, `{"title":"T"}`, ""},
		"no JSON":        {llm.Reply{Text: "Sure!"}, "Sure!", "it is not valid JSON"},
		"two values":     {llm.Reply{Text: `{"title":"a"} {"title":"b"}`}, `{"title":"a"} {"title":"b"}`, "it is not valid JSON"},
		"a wrong type":   {llm.Reply{Text: `{"title":7}`}, `{"title":7}`, "title"},
		"a part missing": {llm.Reply{Text: `{}`}, `{}`, "title"},
		"cut off":        {llm.Reply{Text: `{"title":`, Finish: llm.FinishLength}, `{"title":`, "cut off"},
		"a refusal":      {llm.Reply{Text: "No.", Finish: llm.FinishRefusal}, "No.", "the model refused: No."},
		"calls first":    {llm.Reply{Text: "I look.", Calls: []llm.Call{{ID: "a", Name: "x", Arguments: raw(`{}`).Raw}}}, "I look.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var asked llm.Request
			m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{}, Model: fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
				asked = r
				return tt.reply, nil
			}}}
			in := question("hi")
			in.Schema = raw(titled)
			got, err := run(t, t.Context(), m.Generate, in)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text.Inline != tt.text || (got.Misfit == "") != (tt.misfit == "") || !strings.Contains(got.Misfit, tt.misfit) {
				t.Errorf("text %q, misfit %q", got.Text.Inline, got.Misfit)
			}
			if string(asked.Schema) != titled || !strings.HasPrefix(asked.System, "Be brief.\n\nReply with JSON only") || !strings.HasSuffix(asked.System, titled) {
				t.Errorf("asked with %q and schema %s", asked.System, asked.Schema)
			}
		})
	}
}

func TestTheModelIsToldWhatToMend(t *testing.T) {
	var asked llm.Request
	m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{}, Model: fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
		asked = r
		return llm.Reply{Text: `{"title":"T"}`}, nil
	}}}
	in := question("hi")
	in.Schema, in.Repair = raw(titled), &contract.Repair{Text: contract.Inline("Sure!"), Problem: "it is no JSON"}
	if _, err := run(t, t.Context(), m.Generate, in); err != nil {
		t.Fatal(err)
	}
	if n := len(asked.Messages); n != 3 || asked.Messages[1].Content.Inline != "Sure!" || !strings.Contains(asked.Messages[2].Content.Inline, "it is no JSON") {
		t.Errorf("asked with %+v", asked.Messages)
	}
}

// fakeFeed records the events.
type fakeFeed struct{ heard []contract.Event }

func (e *fakeFeed) Publish(n contract.Event) { e.heard = append(e.heard, n) }

func TestWhoListensHearsWhatTheModelSays(t *testing.T) {
	e := &fakeFeed{}
	m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{}, Feed: e, Facts: facts, Model: fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
		r.Deltas(llm.Delta{Kind: llm.DeltaText, Text: "o"})
		r.Deltas(llm.Delta{Kind: llm.DeltaCall, Call: 1, ID: "c", Name: "read"})
		return llm.Reply{Text: "ok", Native: &llm.Native{Provider: contract.ProviderGoogle, Model: "g", Content: raw(`{"parts":[]}`).Raw}}, nil
	}}}
	in := question("hi")
	in.DraftID, in.Node = "d-1", "writer"
	out, err := run(t, t.Context(), m.Generate, in)
	if err != nil {
		t.Fatal(err)
	}
	want := []contract.Event{
		{ConversationID: conversationID, Draft: &generation.Draft{ID: "d-1", Node: "writer", Model: in.Model, Attempt: 1}},
		{ConversationID: conversationID, Delta: &generation.Delta{DraftID: "d-1", Kind: generation.Text, Text: "o"}},
		{ConversationID: conversationID, Delta: &generation.Delta{DraftID: "d-1", Kind: generation.Call, Call: 1, Tool: "read"}},
	}
	if until := e.heard[0].Draft.Until; time.Until(until) < time.Minute || time.Until(until) > 2*time.Minute {
		t.Errorf("given up at %s", until)
	}
	e.heard[0].Draft.Until = time.Time{}
	if diff := cmp.Diff(want, e.heard); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	if out.DraftID != "d-1" || out.Native == nil || string(out.Native.Content.Raw) != `{"parts":[]}` {
		t.Errorf("got %+v", out)
	}
}
