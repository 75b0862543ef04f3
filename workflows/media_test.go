package workflows_test

import (
	"context"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func TestMediaOfAResultIsRecordedWithIt(t *testing.T) {
	image := contract.Media{Blob: contract.Blob{SHA256: contract.Hash([]byte("image")), Size: 5}, MIMEType: "image/png", Name: "chart.png"}
	w := &world{GenerateFn: script(asks(list("a")), says("Nice."))}
	w.CallToolFn = func(context.Context, contract.CallToolInput) (contract.CallToolResult, error) {
		return contract.CallToolResult{Text: contract.Inline("a chart"), Media: []contract.Media{image}}, nil
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		tail := s.view().Transcript.Tail
		same(t, "recorded", tail[len(tail)-2].ToolCall.Media, []contract.Media{image})
		same(t, "of the call itself", tail[len(tail)-3].ToolCall.Media, nil)
		seen := read(w, &w.prompts)[1].Transcript.Tail
		same(t, "what the model was asked with", seen[len(seen)-1].ToolCall.Media, []contract.Media{image})
		same(t, "file", w.exported().Transcript.Tail[len(tail)-2].ToolCall.Media, []contract.Media{image})
	})
}
