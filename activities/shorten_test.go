package activities_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

func TestTheModelSeesTheBeginningOfALongResult(t *testing.T) {
	const limit = 32 << 10
	whole := strings.Repeat("x", limit-1) + "üü"
	blob := contract.NewBlob([]byte(whole))
	tests := map[string]struct{ result, want string }{
		"short":    {"fine", "fine"},
		"at limit": {whole[:limit-1] + "x", whole[:limit-1] + "x"},
		"too long": {whole, fmt.Sprintf("%s\n[cut: the result has 32771 bytes, the first 32767 are shown; the whole is kept as %s]", whole[:limit-1], blob.SHA256)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			result, err := transcript.Text(t.Context(), store, tt.result)
			if err != nil {
				t.Fatal(err)
			}
			in := question(tt.result)
			in.Transcript.Tail = append(in.Transcript.Tail,
				contract.Message{ID: "m2", Role: contract.RoleAssistant, Reply: "r", ToolCall: &contract.ToolCall{ID: "c", Name: "read", Arguments: raw(`{}`)}},
				contract.Message{ID: "m3", Role: contract.RoleTool, Reply: "r", ToolCall: &contract.ToolCall{ID: "c", Name: "read", Result: result}})
			var asked []contract.Message
			m := &activities.Models{Blobs: store, Offer: fakeOffer{}, Model: fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
				asked = r.Messages
				return llm.Reply{Text: "ok"}, nil
			}}}
			if _, err := run(t, t.Context(), m.Generate, in); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(contract.Inline(tt.want), asked[2].ToolCall.Result); diff != "" {
				t.Errorf("the result (-want +got):\n%s", diff)
			}
			if got := asked[0].Content.Inline; got != tt.result {
				t.Errorf("the user's text has %d bytes, want %d", len(got), len(tt.result))
			}
		})
	}
}
