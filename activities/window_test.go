package activities_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// smallModel is a model with a window; it records its requests.
type smallModel struct {
	*activities.Models
	window int
	asked  []llm.Request
	reply  func(llm.Request) (llm.Reply, error)
}

func newSmall(window int) *smallModel {
	s := &smallModel{window: window, reply: func(llm.Request) (llm.Reply, error) { return llm.Reply{Text: "ok"}, nil }}
	s.Models = &activities.Models{
		Blobs: newMemory(), Offer: fakeOffer{},
		Facts: func(string) llm.Facts { return llm.Facts{Window: s.window} },
		Model: fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
			s.asked = append(s.asked, r)
			return s.reply(r)
		}},
	}
	return s
}

// settle generates and summarizes until no summary is needed, as a workflow does. It returns
// the result, the last input, and the number of summaries.
func (s *smallModel) settle(t *testing.T, in contract.GenerateInput) (contract.GenerateResult, contract.GenerateInput, int) {
	t.Helper()
	for n := 0; ; n++ {
		out, err := run(t, t.Context(), s.Generate, in)
		if err != nil {
			t.Fatal(err)
		}
		if out.NeedsSummary == nil {
			return out, in, n
		}
		if n > 8 {
			t.Fatalf("no end of summaries: %+v", out.NeedsSummary)
		}
		made, err := run(t, t.Context(), s.Summarize, contract.SummarizeInput{
			ConversationID: in.ConversationID, Model: in.Model, Transcript: in.Transcript, Earlier: in.Summary, Wanted: *out.NeedsSummary,
		})
		if err != nil {
			t.Fatal(err)
		}
		in.Summary = &made.Summary
	}
}

// chat builds conversations.
type chat struct {
	messages []contract.Message
	replies  int
}

func (c *chat) add(m contract.Message) {
	m.ID = fmt.Sprintf("m%d", len(c.messages)+1)
	c.messages = append(c.messages, m)
}

func (c *chat) user(text string) {
	c.add(contract.Message{Role: contract.RoleUser, Content: contract.Inline(text)})
}

func (c *chat) say(text string) {
	c.add(contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(text)})
}

// call adds a reply with the given number of calls, an approval in between, and results.
func (c *chat) call(calls int, result string) {
	c.replies++
	reply := fmt.Sprintf("r%d", c.replies)
	for i := range calls {
		id := fmt.Sprintf("c%d-%d", c.replies, i)
		c.add(contract.Message{Role: contract.RoleAssistant, Reply: reply, ToolCall: &contract.ToolCall{ID: id, Name: "read", Arguments: raw(`{}`)}})
	}
	c.add(contract.Message{Role: contract.RoleAssistant, Notice: true, Content: contract.Inline("This action requires approval")})
	c.add(contract.Message{Role: contract.RoleUser, Notice: true, Approval: &contract.ApprovalResult{Decision: contract.Approved}, Content: contract.Inline("[APPROVAL]: Approved")})
	for i := range calls {
		id := fmt.Sprintf("c%d-%d", c.replies, i)
		c.add(contract.Message{Role: contract.RoleTool, Reply: reply, ToolCall: &contract.ToolCall{ID: id, Name: "read", Result: contract.Inline(result)}})
	}
}

func (c *chat) input() contract.GenerateInput {
	in := question("")
	in.Transcript.Tail = append([]contract.Message{}, c.messages...)
	return in
}

// pairingProblem returns a call of a request without its result, or a result without its call.
func pairingProblem(messages []contract.Message) string {
	open := map[string]int{}
	for _, m := range messages {
		if m.ToolCall == nil {
			continue
		}
		if m.Role == contract.RoleTool {
			if open[m.ToolCall.ID]--; open[m.ToolCall.ID] < 0 {
				return "a result without its call: " + m.ToolCall.ID
			}
		} else {
			open[m.ToolCall.ID]++
		}
	}
	for id, n := range open {
		if n != 0 {
			return "a call without its result: " + id
		}
	}
	return ""
}

func length(messages []contract.Message) (n int) {
	for _, m := range messages {
		if n += len(m.Content.Inline); m.ToolCall != nil {
			n += len(m.ToolCall.Result.Inline) + len(m.ToolCall.Arguments.Raw)
		}
	}
	return n
}

func TestALongConversationKeepsFittingTheWindow(t *testing.T) {
	for seed := range uint64(25) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		s := newSmall(1000 + rnd.IntN(8000))
		c := &chat{}
		var digest *contract.Summary
		for turn := range 20 {
			question := fmt.Sprintf("question %d %s", turn, strings.Repeat("word ", rnd.IntN(60)))
			c.user(question)
			for range rnd.IntN(4) {
				c.call(1+rnd.IntN(3), strings.Repeat("data ", rnd.IntN(200)))
			}
			in := c.input()
			in.Summary = digest
			s.asked = nil
			_, settled, _ := s.settle(t, in)
			if digest = settled.Summary; digest != nil && indexOf(c.messages, digest.Through)+1 != digest.Messages {
				t.Fatalf("seed %d: a digest through %s stands for %d messages", seed, digest.Through, digest.Messages)
			}
			last := s.asked[len(s.asked)-1].Messages
			if problem := pairingProblem(last); problem != "" {
				t.Fatalf("seed %d turn %d: %s", seed, turn, problem)
			}
			if n := length(last); n > 4*s.window {
				t.Fatalf("seed %d turn %d: %d letters for a window of %d tokens", seed, turn, n, s.window)
			}
			if !has(last, question) {
				t.Fatalf("seed %d turn %d: the model does not see the question", seed, turn)
			}
			c.say("answer " + strings.Repeat("text ", rnd.IntN(100)))
		}
		if digest == nil {
			t.Errorf("seed %d: no digest, the test asks too little", seed)
		}
	}
}

func indexOf(messages []contract.Message, id string) int {
	for i, m := range messages {
		if m.ID == id {
			return i
		}
	}
	return -1
}

func has(messages []contract.Message, text string) bool {
	for _, m := range messages {
		if m.Role == contract.RoleUser && m.Content.Inline == text {
			return true
		}
	}
	return false
}

func TestADigestTellsWhatWasSaidAndDone(t *testing.T) {
	s := newSmall(600)
	s.reply = func(r llm.Request) (llm.Reply, error) {
		if strings.HasPrefix(r.System, "You keep the memory") {
			return llm.Reply{Text: "They like blue.", Model: "m-1", Usage: contract.Usage{Calls: 1, InputTokens: 9}}, nil
		}
		return llm.Reply{Text: "ok"}, nil
	}
	c := &chat{}
	c.user("I like blue. " + strings.Repeat("Really. ", 100))
	c.call(1, "stored blue")
	c.say("Noted. " + strings.Repeat("Yes. ", 100))
	c.user("Which colour?")
	_, in, n := s.settle(t, c.input())
	if n != 1 || text(t, s.Blobs.(*memory), in.Summary.Text) != "They like blue." {
		t.Fatalf("%d digests, the last %+v", n, in.Summary)
	}
	told := s.asked[0].Messages[0].Content.Inline
	for _, want := range []string{"User: I like blue.", "Assistant calls read with {}", "Decision of a person: approved", "Result of read: stored blue", "Assistant: Noted."} {
		if !strings.Contains(told, want) {
			t.Errorf("the model is not told %q: %s", want, told)
		}
	}
	if s.asked[0].Tools != nil || s.asked[0].MaxTokens == 0 {
		t.Errorf("asked for the digest with %+v", s.asked[0])
	}
	last := s.asked[1].Messages
	if got := last[0].Content.Inline; got != "[Summary of the conversation before this]\nThey like blue." || len(last) != 2 {
		t.Errorf("asked with %d messages, the first %q", len(last), got)
	}
	if total := len(in.Transcript.Tail); total != len(c.messages) {
		t.Errorf("the transcript has %d messages", total)
	}
}

func TestAWindowIsKeptWithoutASummaryWhereNoneIsWanted(t *testing.T) {
	s := newSmall(600)
	s.Compaction = activities.CompactionWindow
	c := &chat{}
	c.user(strings.Repeat("Old. ", 400))
	c.say("Noted.")
	c.user("New?")
	s.settle(t, c.input())
	if len(s.asked) != 1 || len(s.asked[0].Messages) != 1 || s.asked[0].Messages[0].Content.Inline != "New?" {
		t.Errorf("asked %+v", s.asked)
	}
}

// If the window is unknown or configured too large, the provider's error reveals it.
func TestAProviderThatFindsAConversationTooLongIsAskedWithLess(t *testing.T) {
	s := newSmall(0)
	s.Compaction = activities.CompactionWindow
	s.reply = func(r llm.Request) (llm.Reply, error) {
		if length(r.Messages) > 500 {
			return llm.Reply{}, &llm.Error{Kind: contract.KindModelContext, Message: "too long"}
		}
		return llm.Reply{Text: "ok"}, nil
	}
	c := &chat{}
	for i := range 10 {
		c.user(fmt.Sprintf("question %d %s", i, strings.Repeat("x", 100)))
		c.say("answer")
	}
	c.user("the last one")
	if _, _, n := s.settle(t, c.input()); n == 0 || n > 3 {
		t.Errorf("%d digests", n)
	}
	if last := s.asked[len(s.asked)-1].Messages; !has(last, "the last one") {
		t.Errorf("asked with %+v", last)
	}
}

// After a summary of the oldest replies, the remaining messages begin with a reply.
func TestTheRepliesAfterASummaryCanBeSplitToo(t *testing.T) {
	s := newSmall(1000)
	s.Compaction = activities.CompactionWindow
	c := &chat{}
	c.user("question")
	c.call(1, "one")
	first := c.messages[len(c.messages)-1].ID
	c.call(1, strings.Repeat("two ", 400))
	second := c.messages[len(c.messages)-1].ID
	c.call(1, strings.Repeat("three ", 200))
	in := c.input()
	in.Summary = &contract.Summary{Through: first, Messages: 5}
	_, settled, _ := s.settle(t, in)
	if settled.Summary.Through != second || settled.Summary.Messages != 9 {
		t.Errorf("the digest is %+v; want it through %s", settled.Summary, second)
	}
}

func BenchmarkALongConversationThatIsTooLong(b *testing.B) {
	s := newSmall(0)
	s.reply = func(llm.Request) (llm.Reply, error) {
		return llm.Reply{}, &llm.Error{Kind: contract.KindModelContext, Message: "too long"}
	}
	c := &chat{}
	for range 4000 {
		c.user(strings.Repeat("x", 500))
		c.say("answer")
	}
	for b.Loop() {
		if out, err := s.Generate(b.Context(), c.input()); err != nil || out.NeedsSummary == nil {
			b.Fatal(out, err)
		}
	}
}

func TestAMessageThatFillsTheWindowAloneIsTheProvidersToRefuse(t *testing.T) {
	s := newSmall(1000)
	s.reply = func(llm.Request) (llm.Reply, error) {
		return llm.Reply{}, &llm.Error{Kind: contract.KindModelContext, Message: "prompt is too long"}
	}
	c := &chat{}
	c.add(contract.Message{Role: contract.RoleSystem, Content: contract.Inline("Be brief.")})
	c.user(strings.Repeat("x", 100_000))
	_, err := run(t, t.Context(), s.Generate, c.input())
	if err == nil || !strings.Contains(err.Error(), "prompt is too long") {
		t.Errorf("failed with %v", err)
	}
}

func TestAFailedDigestSaysWhy(t *testing.T) {
	for name, tt := range map[string]struct {
		reply llm.Reply
		err   error
		want  string
	}{
		"the model fails":     {err: &llm.Error{Kind: contract.KindModelAuth, Message: "no key"}, want: "no key"},
		"it refuses":          {reply: llm.Reply{Text: "I won't.", Finish: llm.FinishRefusal}, want: "no summary"},
		"it has no words":     {reply: llm.Reply{}, want: "no summary"},
		"the store is broken": {reply: llm.Reply{Text: long}, want: "disk full"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSmall(600)
			s.reply = func(llm.Request) (llm.Reply, error) { return tt.reply, tt.err }
			if tt.want == "disk full" {
				s.Blobs.(*memory).putErr = fmt.Errorf("disk full")
			}
			c := &chat{}
			c.user("hello")
			_, err := run(t, t.Context(), s.Summarize, contract.SummarizeInput{
				ConversationID: conversationID, Model: "m", Transcript: c.input().Transcript, Wanted: contract.Summary{Through: "m1", Messages: 1},
			})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("failed with %v", err)
			}
		})
	}
}
