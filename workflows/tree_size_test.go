package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

func jsonSize(t *testing.T, v any) int {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return len(data)
}

// longText returns a reply with a text in the store, as the model's activity does.
func longText(t *testing.T, w *world, text string) contract.GenerateResult {
	t.Helper()
	stored, err := transcript.Text(t.Context(), &w.blobs, text)
	if err != nil {
		t.Fatal(err)
	}
	r := says("")
	r.Text = stored
	return r
}

func (s *session) text(t contract.Text) string {
	s.t.Helper()
	out, err := transcript.ReadText(s.t.Context(), &s.world.blobs, t)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func TestALongOutputIsSignedKeptAndPassedOn(t *testing.T) {
	long := strings.Repeat("a long story ", 300)
	w := &world{}
	w.GenerateFn = play(map[string][]any{"tell": {longText(t, w, long)}})
	root := sequential("pipeline", llm("tell", key("told")), llm("print", prompt("print {told}", "told")),
		parallel("both", contract.Node{Name: "ask", Type: contract.NodeA2A, Prompt: contract.Inline("send {told}"), Keys: []string{"told"}, Peer: &contract.Peer{Name: "writer"}}, llm("x")))
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "delegated\nx")
		var told []contract.Message
		for _, m := range s.messages() {
			if m.Node == "tell" {
				told = append(told, m)
			}
		}
		same(t, "message", s.text(told[0].Content), "[tell] "+long)
		value, _ := w.promptsOf("print {told}")[0].Values.Get("told")
		same(t, "value", s.text(value), long)
		sent := read(w, &w.sent)[0].Arguments
		same(t, "sent by reference", sent.Blob != nil, true)
	})
}

func TestLongOutputsOfBranchesAreJoined(t *testing.T) {
	long := strings.Repeat("a long story ", 300)
	half := strings.Repeat("half of it ", 150)
	w := &world{}
	w.GenerateFn = play(map[string][]any{"a": {longText(t, w, long)}, "b": {says(half)}, "c": {says(half)}})
	converse(t, w, tree(parallel("both", llm("a"), llm("b"), llm("c"))), func(s *session) {
		s.rest()
		same(t, "answer", s.text(s.request("r1").Result.Response), long+"\n"+half+"\n"+half)
	})
}

func TestAnAgentWithoutOutputsHasNothingToJoin(t *testing.T) {
	root := parallel("both", llm("a"), llm("b"))
	w := &world{GenerateFn: play(map[string][]any{"a": {contract.GenerateResult{}}, "b": {contract.GenerateResult{}}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "No node of the agent had anything to say.")
	})
}

// manyNodes returns leaves with outputs of the given length, under keys.
func manyNodes(n, length int) ([]contract.Node, map[string][]any) {
	var nodes []contract.Node
	replies := map[string][]any{}
	for i := range n {
		name := fmt.Sprintf("n%d", i)
		nodes = append(nodes, llm(name, key("k"+name)))
		replies[name] = []any{says(strings.Repeat("x", length))}
	}
	return nodes, replies
}

const smallMessage = 48 << 10

func TestReportsAndResultsStaySmallHoweverManyNodesThereAre(t *testing.T) {
	for name, build := range map[string]func([]contract.Node) contract.Node{
		"a sequence": func(n []contract.Node) contract.Node { return sequential("pipeline", n...) },
		"branches":   func(n []contract.Node) contract.Node { return parallel("both", n...) },
		"sequences in a group": func(n []contract.Node) contract.Node {
			return parallel("both", sequential("a", n[:50]...), sequential("b", n[50:]...))
		},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, replies := manyNodes(100, 1900)
			replies["n99"] = []any{asks(add("x")), says("done")}
			w := &world{GenerateFn: play(replies)}
			s := converse(t, w, tree(build(nodes)), func(s *session) {
				s.rest()
				s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
				s.rest()
				s.request("d1")
				same(t, "messages", len(s.messages()), 105)
				uniqueIDs(t, s.messages())
				if n := jsonSize(t, s.tree()) - jsonSize(t, s.tree().Node); n > smallMessage {
					t.Errorf("the tree's state has %d bytes", n)
				}
				if n := jsonSize(t, s.view().Transcript); n > smallMessage {
					t.Errorf("the transcript has %d bytes", n)
				}
			})
			for _, r := range s.seen.reports {
				if n := jsonSize(t, r); n > smallMessage {
					t.Errorf("report %d of %s has %d bytes: tree %d, transcript %d, open %d", r.Seq, r.Run, n,
						jsonSize(t, r.Tree), jsonSize(t, r.Transcript), jsonSize(t, r.Open))
				}
			}
			for _, r := range s.seen.results {
				if n := jsonSize(t, r); n > smallMessage {
					t.Errorf("a result has %d bytes: tree %d, transcript %d, delta %d", n,
						jsonSize(t, r.Tree), jsonSize(t, r.Transcript), jsonSize(t, r.Delta))
				}
			}
		})
	}
}

func TestManyMessagesFoldAndNoneIsLost(t *testing.T) {
	nodes, replies := manyNodes(30, 900)
	replies["n29"] = []any{asks(add("x")), says("done")}
	w := &world{GenerateFn: play(replies)}
	converse(t, w, tree(sequential("pipeline", nodes...)), func(s *session) {
		s.rest()
		same(t, "while it waits", len(s.messages()), 32)
		same(t, "folded", s.view().Transcript.Tail[1].Segment != nil && s.view().Transcript.Tail[1].Segment.Transcript.Head != nil, true)
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "done")
		all := s.messages()
		same(t, "in the end", len(all), 35)
		for i := range 29 {
			same(t, "message", line(all[i+1])[:20], fmt.Sprintf("assistant: [n%d] xxxxxxxxxx", i)[:20])
		}
	})
}

// The last message and the last report may both have to be offloaded at the same moment.
func TestMessagesAreOffloadedOnce(t *testing.T) {
	name := strings.Repeat("x", 1500)
	for how, answer := range map[string]contract.DecideSignal{"rejected": {RequestID: "d1"}, "approved": {RequestID: "d1", Approved: true}} {
		t.Run(how, func(t *testing.T) {
			w := &world{GenerateFn: play(map[string][]any{"write": {asks(add(name)), says("done")}})}
			converse(t, w, tree(sequential("pipeline", llm("find"), llm("write"))), func(s *session) {
				s.rest()
				s.decide(answer)
				s.rest()
				s.answer("d1") // it is answered
				want := map[string]int{"rejected": 7, "approved": 7}[how]
				same(t, "messages", len(s.messages()), want)
				uniqueIDs(t, s.messages())
				s.checkUsable()
			})
		})
	}
}

func TestALastReportAndTheEndOfALongNodeDoNotFoldTheSameMessages(t *testing.T) {
	long := strings.Repeat("x", 1900)
	w := &world{GenerateFn: play(map[string][]any{"a": {says(long)}, "b": {asks(add("x"), add("y")), says(long)}})}
	converse(t, w, tree(sequential("pipeline", llm("a"), sequential("inner", llm("b")), parallel("both", llm("c"), sequential("deep", llm("d"))))), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
		s.rest()
		same(t, "answer", s.answer("d2"), "c\nd")
		same(t, "messages", len(s.messages()), 13)
		uniqueIDs(t, s.messages())
	})
}

func TestTextsThatTheStoreHasLostDoNotStopATree(t *testing.T) {
	lost := contract.NewBlob([]byte(strings.Repeat("lost ", 1000)))
	reply := says("")
	reply.Text = contract.Text{Blob: &lost}
	root := sequential("pipeline", llm("tell", key("told")),
		within(ask("write {told}", "told"), key("")),
		parallel("both", llm("a"), llm("b")), llm("last"))
	w := &world{GenerateFn: play(map[string][]any{"tell": {reply}, "a": {reply}})}
	converse(t, w, tree(root), func(s *session) {
		for range 6 {
			s.rest()
		}
		same(t, "answer", s.answer("r1"), "last")
		same(t, "states", s.states(), "pipeline:done[tell:done ask:failed both:done[a:done b:done] last:done]")
		if out := s.treeState().Nodes[1].Output.Inline; !strings.HasPrefix(out, "A2A error: ") {
			t.Errorf("the delegation came to %q", out)
		}
		same(t, "output of the branches", s.treeState().Nodes[2].Output.Blob.SHA256, lost.SHA256)
		same(t, "sent", len(read(w, &w.sent)), 0)
	})
}

// Each of these turns continues from the transcript that the previous turn has offloaded.
func TestATreesMessagesAreOffloadedTurnAfterTurn(t *testing.T) {
	long := strings.Repeat("x", 900)
	w := &world{GenerateFn: func(_ context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
		return says(in.Prompt.Inline + long), nil
	}}
	root := sequential("pipeline", llm("a"), parallel("both", llm("b"), sequential("inner", llm("c"), llm("d"))), llm("e", history))
	s := converse(t, w, tree(root), func(s *session) {
		s.rest()
		for i := range 8 {
			s.say(fmt.Sprintf("t%d", i), fmt.Sprint("message ", i))
			s.rest()
		}
		all := s.messages()
		uniqueIDs(t, all)
		same(t, "messages", len(all), 9*6)
		same(t, "counted", s.view().Transcript.Len(), len(all))
		for i, m := range all {
			want := []string{"user: ", "assistant: [a] ", "assistant: [b] ", "assistant: [c] ", "assistant: [d] ", "assistant: [e] "}[i%6]
			if !strings.HasPrefix(line(m), want) {
				t.Errorf("message %d is %.40q, expected %q", i, line(m), want)
			}
		}
		if n := jsonSize(t, s.view().Transcript); n > smallMessage {
			t.Errorf("the transcript has %d bytes", n)
		}
		same(t, "what e saw in the end", len(load(t, w, *w.promptsOf("e")[8].Before)), 8*6+1)
	})
	for _, n := range s.seen.nodes {
		if size := jsonSize(t, n.Input); size > smallMessage {
			t.Errorf("node %s starts with %d bytes", n.ID, size)
		}
	}
}

func TestAValueThatIsSetWhileOthersAreOffloadedIsKept(t *testing.T) {
	nodes, replies := manyNodes(6, 1900)
	offloading, set := make(chan struct{}), make(chan struct{})
	wait := func(c chan struct{}) {
		select {
		case <-c:
		case <-time.After(5 * time.Second):
			t.Error("it takes too long")
		}
	}
	reply := func(text string, do func()) func(context.Context, contract.GenerateInput) (contract.GenerateResult, error) {
		return func(context.Context, contract.GenerateInput) (contract.GenerateResult, error) {
			do()
			return says(text), nil
		}
	}
	replies["set"] = []any{reply("a value", func() { wait(offloading) })}
	replies["go on"] = []any{reply("so", func() { close(set); time.Sleep(200 * time.Millisecond) })}
	root := sequential("pipeline", append(nodes, llm("set", key("late")), llm("go on"), llm("print", prompt("print {late}", "late")))...)
	var first sync.Once
	w := &world{GenerateFn: play(replies), OffloadFn: func(in contract.OffloadInput) {
		if len(in.Texts) > 4 {
			first.Do(func() { close(offloading); wait(set) })
		}
	}}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		value, _ := w.promptsOf("print {late}")[0].Values.Get("late")
		same(t, "value", s.text(value), "a value")
	})
}
