package document_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/transcript"
)

// The native form of a reply.
const (
	thought   = "a thought for its provider alone"
	ownName   = "claude-own-name"
	signature = "signed-by-its-provider"
)

func spent() contract.Usage {
	return contract.Usage{InputTokens: 1200, OutputTokens: 300, CachedTokens: 1000, Calls: 2, Cost: 1_500_000}
}

func native() *contract.Native {
	return &contract.Native{Provider: contract.ProviderAnthropic, Model: ownName, Content: contract.JSON{
		Raw: json.RawMessage(`[{"thinking":"` + thought + `","signature":"` + signature + `"}]`),
	}}
}

// oldConversation returns a conversation recorded before messages had a model, and usage had
// calls and cost.
func oldConversation() contract.ConversationView {
	v := conversation()
	v.Usage = contract.Usage{InputTokens: 10, OutputTokens: 2}
	for i := range v.Transcript.Tail {
		m := &v.Transcript.Tail[i]
		m.Model, m.DraftID, m.Usage, m.Native = "", "", contract.Usage{}, nil
	}
	return v
}

func TestUsageReadsTheSameEverywhere(t *testing.T) {
	const want = `"usage":{"input_tokens":1200,"output_tokens":300,"cached_tokens":1000,"calls":2,"cost":0.0015}`
	d, err := document.Render(t.Context(), memory{}, conversation())
	if err != nil {
		t.Fatal(err)
	}
	for what, v := range map[string]any{
		"conversation": document.Conversation{Usage: d.Usage}, "message": d.Messages[2], "node": renderTree(t, memory{}, pipelineView()).Tree,
	} {
		data, err := json.Marshal(v)
		if err != nil || strings.Count(string(data), want) != 1 {
			t.Errorf("%s: %s, %v", what, data, err)
		}
	}
}

func TestCostIsAnExactAmount(t *testing.T) {
	for billionths, want := range map[int64]string{
		0:                     `{"calls":1}`,
		1:                     `{"calls":1,"cost":0.000000001}`,
		1_500_000:             `{"calls":1,"cost":0.0015}`,
		100_000_000:           `{"calls":1,"cost":0.1}`,
		1_000_000_000:         `{"calls":1,"cost":1}`,
		120_000_000_000:       `{"calls":1,"cost":120}`,
		9_007_199_254_740_993: `{"calls":1,"cost":9007199.254740993}`, // too large for a float64
		math.MaxInt64:         `{"calls":1,"cost":9223372036.854775807}`,
		-2_500_000_000:        `{"calls":1,"cost":-2.5}`,
	} {
		d, err := document.Render(t.Context(), memory{}, contract.ConversationView{Usage: contract.Usage{Calls: 1, Cost: billionths}})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(d.Usage)
		if err != nil || string(data) != want {
			t.Errorf("%d: %s, %v; expected %s", billionths, data, err, want)
		}
	}
}

func TestADocumentReadsBackAsItWas(t *testing.T) {
	want, err := document.Render(t.Context(), memory{}, conversation())
	if err != nil {
		t.Fatal(err)
	}
	var got document.Conversation
	decode(t, render(t, memory{}, conversation()), &got)
	if diff := cmp.Diff(want.Usage, got.Usage); diff != "" {
		t.Errorf("usage (-written +read):\n%s", diff)
	}
	if diff := cmp.Diff(want.Messages[2].Usage, got.Messages[2].Usage); diff != "" {
		t.Errorf("usage of a message (-written +read):\n%s", diff)
	}
}

func TestWhatOnlyAProviderCanReadIsNeverShown(t *testing.T) {
	store := memory{}
	large := native()
	var err error
	if large.Content, err = transcript.JSON(t.Context(), store, json.RawMessage(`["`+strings.Repeat(thought, 200)+`"]`)); err != nil {
		t.Fatal(err)
	}
	lost := contract.NewBlob([]byte("never stored"))
	for name, n := range map[string]*contract.Native{
		"inline": native(), "in the store": large, "lost": {Provider: contract.ProviderAnthropic, Model: ownName, Content: contract.JSON{Blob: &lost}},
	} {
		v := conversation()
		for i := range v.Transcript.Tail {
			v.Transcript.Tail[i].Native = n
		}
		checkNoNative(t, name, render(t, store, v))
		folded, err := transcript.OffloadAll(t.Context(), store, v.Transcript)
		if err != nil {
			t.Fatal(err)
		}
		inside := contract.Transcript{Head: &folded.Head}
		v.Transcript = contract.Transcript{Tail: []contract.Message{{Segment: &contract.Segment{Run: "a", Transcript: &inside}}}}
		checkNoNative(t, name+", folded inside a node", render(t, store, v))
	}
}

func checkNoNative(t *testing.T, name string, data []byte) {
	t.Helper()
	if !strings.Contains(string(data), "gemini-2.5-flash") {
		t.Errorf("%s: the reply itself is not there: %s", name, data)
	}
	for _, secret := range []string{"native", thought, signature, ownName, string(contract.ProviderAnthropic)} {
		if strings.Contains(string(data), secret) {
			t.Errorf("%s: the document has %q: %s", name, secret, data)
		}
	}
}
