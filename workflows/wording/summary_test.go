package wording_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

func TestSummariesReadLikeAStory(t *testing.T) {
	in := contract.GenerateInput{Model: "gemini-2.5-flash", Transcript: contract.Transcript{Head: &contract.Head{Count: 12}, Tail: make([]contract.Message, 2)}}
	tests := map[string]string{
		wording.GenerateSummary(in, ""):                   "gemini-2.5-flash · 14 messages",
		wording.ToolSummary("resources_add", "resources"): "resources_add on resources",
		wording.ToolSummary("resources_add", ""):          "resources_add",
	}
	for got, want := range tests {
		if got != want {
			t.Errorf("got %q, expected %q", got, want)
		}
	}
}

func TestAModelCallInATreeIsSummedUpWithItsNode(t *testing.T) {
	in := contract.GenerateInput{Model: "demo:rules", Transcript: contract.Transcript{Tail: make([]contract.Message, 2)},
		Before: &contract.Transcript{Tail: make([]contract.Message, 3)}}
	equal(t, "in a tree", wording.GenerateSummary(in, "find"), "find · demo:rules · 5 messages")
	in.Before = nil
	equal(t, "alone", wording.GenerateSummary(in, ""), "demo:rules · 2 messages")
}
