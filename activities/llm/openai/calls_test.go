package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/llmtest/sample"
)

func TestPiecesOfCalls(t *testing.T) {
	for name, tt := range map[string]struct {
		events []string
		want   []llm.Call
	}{
		"one index, several IDs": {
			[]string{
				callPiece(`"index":0,"id":"a","function":{"name":"ping","arguments":"{\"n\":"}`), callPiece(`"index":0,"function":{"arguments":"1}"}`),
				callPiece(`"index":0,"id":"b","function":{"name":"ping","arguments":"{\"n\":2}"}`),
			},
			[]llm.Call{llmtest.ToolCall("a", "ping", `{"n":1}`), llmtest.ToolCall("b", "ping", `{"n":2}`)},
		},
		"an ID for every piece": {
			[]string{
				callPiece(`"index":0,"id":"a","function":{"name":"ping","arguments":""}`), callPiece(`"index":0,"id":"b","function":{"arguments":"{\"n\":"}`),
				callPiece(`"index":0,"id":"c","function":{"name":null,"arguments":"1}"}`),
			},
			[]llm.Call{llmtest.ToolCall("a", "ping", `{"n":1}`)},
		},
		"a name for every piece": {
			[]string{
				callPiece(`"index":0,"id":"a","function":{"name":"ping","arguments":"{\"n\":"}`), callPiece(`"index":0,"id":"a","function":{"name":"ping","arguments":"1}"}`),
				callPiece(`"index":0,"id":"a","function":{"name":"ping","arguments":""}`),
			},
			[]llm.Call{llmtest.ToolCall("a", "ping", `{"n":1}`)},
		},
		"no index, whole calls in one piece": {
			[]string{piece(`{"tool_calls":[{"id":"a","function":{"name":"ping","arguments":"{}"}},{"id":"b","function":{"name":"ping","arguments":{"n": 2}}}]}`)},
			[]llm.Call{llmtest.ToolCall("a", "ping", `{}`), llmtest.ToolCall("b", "ping", `{"n": 2}`)},
		},
		"no index, in pieces": {
			[]string{callPiece(`"id":"a","function":{"name":"ping"}`), callPiece(`"function":{"arguments":"{\"n\":"}`), callPiece(`"id":"a","function":{"arguments":"1}"}`)},
			[]llm.Call{llmtest.ToolCall("a", "ping", `{"n":1}`)},
		},
		"turn by turn": {
			[]string{
				callPiece(`"index":0,"id":"a","function":{"name":"ping"}`), callPiece(`"index":1,"id":"b","function":{"name":"x"}`),
				callPiece(`"index":0,"function":{"arguments":"{\"n\":1}"}`), callPiece(`"index":1,"function":{"arguments":"{\"n\":2}"}`),
			},
			[]llm.Call{llmtest.ToolCall("a", "ping", `{"n":1}`), llmtest.ToolCall("b", "x", `{"n":2}`)},
		},
		"the name last": {
			[]string{callPiece(`"index":0,"id":"a","function":{"arguments":"{\"n\":"}`), callPiece(`"index":0,"function":{"name":"ping","arguments":"1}"}`)},
			[]llm.Call{llmtest.ToolCall("a", "ping", `{"n":1}`)},
		},
		"the ID last": {
			[]string{callPiece(`"index":0,"function":{"name":"ping","arguments":"{}"}`), callPiece(`"index":0,"id":17`)},
			[]llm.Call{llmtest.ToolCall("17", "ping", `{}`)},
		},
		"no name": {
			[]string{piece(`{"content":"so"}`), callPiece(`"index":0,"id":"a","function":{"arguments":"{}"}`)}, nil,
		},
		"arguments cut off": {
			[]string{callPiece(`"index":0,"id":"a","function":{"name":"ping","arguments":"{\"n\":"}`)},
			[]llm.Call{{ID: "a", Name: "ping", Arguments: json.RawMessage(`{}`), Problem: "The arguments are not valid JSON."}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, router := sample.NewServer(t)
			s.Reply(llmtest.Frames(append(tt.events, endOfStream("tool_calls"))...))
			got, _ := replyAndDeltas(t, router, llm.Request{Model: "ollama:x", Tools: sample.Offer()})
			if diff := cmp.Diff(tt.want, got.Calls); diff != "" {
				t.Errorf("calls differ (-want +got):\n%s", diff)
			}
		})
	}
}
