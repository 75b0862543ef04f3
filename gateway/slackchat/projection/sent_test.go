package projection_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/slackchat/projection"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/record"
)

var question = contract.Message{Role: contract.RoleUser, Content: contract.Inline("?")}

func text(said string) contract.Message {
	return contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(said)}
}

func call(id string) contract.Message {
	return contract.Message{ID: id, Role: contract.RoleAssistant, ToolCall: &contract.ToolCall{ID: id, Name: "tool-" + id, Arguments: contract.JSON{Raw: json.RawMessage(`{"key":"secret"}`)}}}
}

func result(id string, failed bool) contract.Message {
	return contract.Message{ID: id + "r", Role: contract.RoleTool, ResultOf: id, ToolCall: &contract.ToolCall{ID: id, Name: "tool-" + id, Result: contract.Inline("secret"), IsError: failed}}
}

// stream is what a stream was sent, and its thread has shown.
type stream struct {
	*testing.T
	projection.Sent
	told projection.Told
}

// next returns what is sent for the last message of a thread, such as "said:TEXT" and "STATUS:TOOL".
func (s *stream) next(running bool, d projection.Drafts, messages ...contract.Message) (out []string) {
	s.Helper()
	all := projection.Of(&record.State{Running: running, Messages: messages}, d, 1, func(string) string { return "" })
	chunks, ok := s.Next(all[len(all)-1].Flow, s.told)
	if !ok {
		return []string{"not a continuation"}
	}
	for _, c := range chunks {
		switch c := c.(type) {
		case slack.MarkdownTextChunk:
			out = append(out, "said:"+c.Text)
		case slack.TaskUpdateChunk:
			out = append(out, string(c.Status)+":"+c.Title)
			if data, _ := json.Marshal(c); strings.Contains(string(data), "secret") {
				s.Errorf("it shows arguments or results: %s", data)
			}
		}
	}
	return out
}

func (s *stream) sends(got []string, want ...string) {
	s.Helper()
	if !slices.Equal(got, want) {
		s.Errorf("%q is sent, want %q", got, want)
	}
}

func drafted(said string) projection.Drafts {
	return projection.Drafts{}.Take(live.Item{Draft: &generation.Draft{ID: "d"}}).Take(live.Item{Delta: &generation.Delta{DraftID: "d", Kind: generation.Text, Text: said}})
}

func TestCallsAreBetweenTheTextsAroundThem(t *testing.T) {
	s := &stream{T: t, told: projection.Told{}}
	had := []contract.Message{question, text("I look."), call("a"), call("b")}
	s.sends(s.next(true, nil, had...), "said:I look.\n\n", "in_progress:tool-a", "in_progress:tool-b")
	had = append(had, result("b", true), result("a", false))
	s.sends(s.next(true, drafted("I have fou"), had...), "complete:tool-a", "error:tool-b", "said:I have ")
	s.sends(s.next(true, drafted("I have found"), had...))
	s.sends(s.next(true, drafted("Another"), had...), "not a continuation")
	s.sends(s.next(false, nil, append(had, text("I have found it."))...), "said:found it.")
}

// A stream that ends leaves no call that seems to run.
func TestCallsOfATurnThatWasStoppedHaveFailed(t *testing.T) {
	s := &stream{T: t, told: projection.Told{}}
	had := []contract.Message{question, text("I look."), call("a"), call("b")}
	s.next(true, nil, had...)
	s.sends(s.next(false, nil, append(had, result("a", false))...), "complete:tool-a", "error:tool-b")
}

func TestAMessageHasNotMoreCallsThanSlackTakes(t *testing.T) {
	s := &stream{T: t, told: projection.Told{}}
	had := []contract.Message{question}
	for n := range 40 {
		had = append(had, call(fmt.Sprint(n)))
	}
	if got := s.next(true, nil, had...); len(got) != 30 {
		t.Errorf("%d cards", len(got))
	}
}
