package activities_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

func TestATextIsComposed(t *testing.T) {
	tests := map[string]struct {
		in   contract.ComposeInput
		want string
	}{
		"of a template": {contract.ComposeInput{Template: contract.Inline("Sum up {a} {b} {c}"),
			Values: contract.State{value("a", "{b}"), value("b", "2")}}, "Sum up {b} 2 {c}"},
		"of empty values": {contract.ComposeInput{Template: contract.Inline("<{a}{b.x}>{c}"),
			Values: contract.State{value("a", ""), value("b", "")}}, "<>{c}"},
		"of a long value":            {contract.ComposeInput{Template: contract.Inline("<{a}>"), Values: contract.State{value("a", long)}}, "<" + long + ">"},
		"of a template and no parts": {contract.ComposeInput{Template: contract.Inline("{a}"), Parts: []contract.Text{contract.Inline("x")}}, "{a}"},
		"of parts":                   {contract.ComposeInput{Parts: []contract.Text{contract.Inline("1"), {}, contract.Inline("{a}"), contract.Inline(long)}}, "1\n{a}\n" + long},
		"of empty parts":             {contract.ComposeInput{Parts: []contract.Text{{}, {}}}, ""},
		"of nothing":                 {contract.ComposeInput{}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			for i := range tt.in.Values {
				tt.in.Values[i].Text = stored(t, store, tt.in.Values[i].Text.Inline)
			}
			for i := range tt.in.Parts {
				tt.in.Parts[i] = stored(t, store, tt.in.Parts[i].Inline)
			}
			got, err := run(t, t.Context(), (&activities.Texts{Blobs: store}).Compose, tt.in)
			if err != nil || text(t, store, got.Text) != tt.want {
				t.Errorf("got %.80q, %v; expected %.80q", text(t, store, got.Text), err, tt.want)
			}
			if (got.Text.Blob != nil) != (len(tt.want) > contract.InlineLimit) {
				t.Errorf("%d bytes, stored: %t", len(tt.want), got.Text.Blob != nil)
			}
			if !got.Arguments.IsZero() || got.SHA256 != "" {
				t.Errorf("unasked arguments: %+v", got)
			}
		})
	}
}

func TestAnAnswerIsReadByASchemaFromTheStore(t *testing.T) {
	blobs := newMemory()
	schema, err := transcript.JSON(t.Context(), blobs, form(contract.InlineLimit+1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		signal, message string
		want            contract.DecideSignal
	}{
		{signal: `{"content":{"n":4},"by":"ops"}`, want: contract.DecideSignal{Approved: true, By: "ops", Content: raw(`{"n":4}`)}},
		{signal: `4`, want: contract.DecideSignal{Approved: true, Content: raw(`{"n":4}`)}},
		{message: "4", want: contract.DecideSignal{Approved: true, Content: raw(`{"n":4}`)}},
		{message: "decline"},
	} {
		in := contract.ReadAnswerInput{Schema: schema, Signal: c.signal, Message: c.message}
		got, err := run(t, t.Context(), (&activities.Texts{Blobs: blobs}).ReadAnswer, in)
		if diff := cmp.Diff(contract.ReadAnswerResult{Answer: c.want}, got); diff != "" || err != nil {
			t.Errorf("%+v: %v (-want +got):\n%s", c, err, diff)
		}
	}
	for _, wrong := range []contract.ReadAnswerInput{{Schema: schema, Signal: `{"approved":true}`}, {Schema: schema, Message: "many"}} {
		got, err := run(t, t.Context(), (&activities.Texts{Blobs: blobs}).ReadAnswer, wrong)
		if err != nil || !strings.Contains(got.Problem, `accepted is {"content":{…}} with "n" (integer, required)`) {
			t.Errorf("%+v: %+v, %v", wrong, got, err)
		}
	}
	lost := contract.NewBlob([]byte("never stored"))
	_, err = run(t, t.Context(), (&activities.Texts{Blobs: blobs}).ReadAnswer, contract.ReadAnswerInput{Schema: contract.JSON{Blob: &lost}, Message: "4"})
	failedAs(t, err, contract.KindBlob, true)
}

// A delegation accepts a composed message.
func TestAComposedMessageCanBeDelegated(t *testing.T) {
	for name, message := range map[string]string{"short": `a <b> & "c"` + "\n\u2028é", "long": long, "an address": `{"blob":"x"}`} {
		t.Run(name, func(t *testing.T) {
			var sent peer.Message
			p := peers(t, recordAndComplete(&sent))
			in := contract.ComposeInput{Template: contract.Inline("{m}"), Values: contract.State{{Key: "m", Text: stored(t, p.Blobs.(*memory), message)}}, Arguments: true}
			c, err := run(t, t.Context(), (&activities.Texts{Blobs: p.Blobs}).Compose, in)
			if err != nil {
				t.Fatal(err)
			}
			args, err := transcript.ReadJSON(t.Context(), p.Blobs, c.Arguments)
			if err != nil || c.SHA256 != digest(t, string(args)) {
				t.Errorf("digest %s of %.80s, %v", c.SHA256, args, err)
			}
			d := delegating(t, `{}`)
			d.Arguments, d.SHA256 = c.Arguments, c.SHA256
			if _, err := run(t, t.Context(), p.Delegate, d); err != nil || sent.Text != message {
				t.Errorf("sent %.80q, %v", sent.Text, err)
			}
		})
	}
}

func TestAStoreThatIsAwayFailsTheComposing(t *testing.T) {
	lost := contract.NewBlob([]byte("never stored"))
	gone := contract.Text{Blob: &lost}
	full := newMemory()
	full.putErr = errStore
	tests := map[string]struct {
		store *memory
		in    contract.ComposeInput
	}{
		"reading the template":  {newMemory(), contract.ComposeInput{Template: gone}},
		"reading a value":       {newMemory(), contract.ComposeInput{Template: contract.Inline("{a}"), Values: contract.State{{Key: "a", Text: gone}}}},
		"reading a part":        {newMemory(), contract.ComposeInput{Parts: []contract.Text{gone}}},
		"writing the text":      {full, contract.ComposeInput{Parts: []contract.Text{contract.Inline(long)}}},
		"writing the arguments": {full, contract.ComposeInput{Parts: []contract.Text{contract.Inline(long[:contract.InlineLimit])}, Arguments: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, t.Context(), (&activities.Texts{Blobs: tt.store}).Compose, tt.in)
			failedAs(t, err, contract.KindBlob, true)
		})
	}
}

func TestWhatGrowsIsFolded(t *testing.T) {
	store := newMemory()
	in := contract.OffloadInput{
		Transcript: contract.Transcript{Tail: []contract.Message{message(long)}},
		Nodes: []contract.NodeState{
			{Status: contract.NodeDone, Output: contract.Inline("1"), StartedAt: noon},
			{}, {Status: contract.NodeRunning, Nodes: []contract.NodeState{{Status: contract.NodeWaiting}}},
		},
	}
	got, err := run(t, t.Context(), (&activities.Texts{Blobs: store}).Offload, in)
	if err != nil || got.Offloaded == nil || got.Offloaded.Count != 1 || got.Nodes == nil {
		t.Fatalf("folded %+v, %v", got, err)
	}
	messages, err := transcript.Load(t.Context(), store, contract.Transcript{Head: &got.Offloaded.Head})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in.Transcript.Tail, messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	data, err := store.Get(t.Context(), *got.Nodes)
	if err != nil || got.Nodes.Preview != "" || got.Nodes.Size != int64(len(data)) {
		t.Fatalf("address %+v, %v", got.Nodes, err)
	}
	var nodes []contract.NodeState
	if err := json.Unmarshal(data, &nodes); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in.Nodes, nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestWhatIsSmallStays(t *testing.T) {
	in := contract.OffloadInput{Transcript: contract.Transcript{Tail: []contract.Message{message("hi")}}}
	got, err := run(t, t.Context(), (&activities.Texts{Blobs: newMemory()}).Offload, in)
	if err != nil || got.Offloaded != nil || got.Nodes != nil {
		t.Errorf("folded %+v, %v", got, err)
	}
}

func TestAStoreThatIsAwayFailsTheFolding(t *testing.T) {
	full := newMemory()
	full.putErr = errStore
	for name, in := range map[string]contract.OffloadInput{
		"of messages": {Transcript: contract.Transcript{Tail: []contract.Message{message(long)}}},
		"of nodes":    {Nodes: []contract.NodeState{{}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, t.Context(), (&activities.Texts{Blobs: full}).Offload, in)
			failedAs(t, err, contract.KindBlob, true)
		})
	}
}
