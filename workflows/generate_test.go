package workflows_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

func TestAMessageTellsOfItsModelAndWhatItTook(t *testing.T) {
	native := &contract.Native{Provider: contract.ProviderGoogle, Model: "m", Content: contract.JSON{Raw: json.RawMessage(`{"parts":[]}`)}}
	first, last := withTokens(asks(list("a"), list("b")), 10), withTokens(says("Done."), 5)
	first.Text, last.Native = contract.Inline("I look."), native
	w := &world{GenerateFn: script(first, last)}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		var stamped []contract.Message
		for _, m := range s.messages() {
			if m.Model != "" {
				stamped = append(stamped, m)
			}
		}
		if len(stamped) != 2 {
			t.Fatalf("%d messages tell of a model, expected 2", len(stamped))
		}
		prompts := read(w, &w.prompts)
		for i, want := range []struct {
			text   string
			usage  contract.Usage
			native *contract.Native
		}{{"I look.", first.Usage, nil}, {"Done.", last.Usage, native}} {
			m := stamped[i]
			same(t, "text", m.Content.Inline, want.text)
			same(t, "usage", m.Usage, want.usage)
			same(t, "native", m.Native, want.native)
			same(t, "draft", m.DraftID, prompts[i].DraftID)
		}
		if prompts[0].DraftID == "" || prompts[0].DraftID == prompts[1].DraftID {
			t.Errorf("drafts %q and %q", prompts[0].DraftID, prompts[1].DraftID)
		}
	})
}

func TestBranchesHaveDraftsOfTheirOwn(t *testing.T) {
	w := &world{GenerateFn: play(map[string][]any{"a": {withTokens(says("a"), 1)}, "b": {withTokens(says("b"), 1)}})}
	converse(t, w, tree(parallel("both", llm("a"), llm("b"))), func(s *session) {
		s.rest()
		prompts := read(w, &w.prompts)
		if len(prompts) != 2 || prompts[0].DraftID == prompts[1].DraftID {
			t.Errorf("prompts %+v", prompts)
		}
	})
}

func TestAnotherModelIsAskedWhenOneFails(t *testing.T) {
	route := contract.ModelRoute{Name: "demo:rules", Fallback: []string{"second", "third"}}
	fallback := func(kinds map[string]contract.Kind) *world {
		return &world{GenerateFn: func(_ context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
			if kind, ok := kinds[in.Model]; ok {
				return contract.GenerateResult{}, fails(kind, in.Model+" is out.")
			}
			return says("I am " + in.Model), nil
		}}
	}
	for _, tt := range []struct {
		name  string
		kinds map[string]contract.Kind
		lines []string
		calls int
	}{
		{"auth", map[string]contract.Kind{"demo:rules": contract.KindModelAuth},
			[]string{"assistant: Model demo:rules failed: demo:rules is out. Asking second instead.", "assistant: I am second"}, 2},
		{"after all attempts", map[string]contract.Kind{"demo:rules": contract.KindModelUnavailable, "second": contract.KindModelContext},
			[]string{
				"assistant: Model demo:rules failed: demo:rules is out. Asking second instead.",
				"assistant: Model second failed: second is out. Asking third instead.", "assistant: I am third",
			}, 5},
		{"all of them", map[string]contract.Kind{"demo:rules": contract.KindModelAuth, "second": contract.KindModelAuth, "third": contract.KindModelAuth},
			[]string{
				"assistant: Model demo:rules failed: demo:rules is out. Asking second instead.",
				"assistant: Model second failed: second is out. Asking third instead.", "assistant: LLM error: third is out.",
			}, 3},
		{"not for a fault of ours", map[string]contract.Kind{"demo:rules": contract.KindInvalid}, []string{"assistant: LLM error: demo:rules is out."}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := fallback(tt.kinds)
			converse(t, w, with(hello(), func(a *contract.Agent) { a.Models = []contract.ModelRoute{route} }), func(s *session) {
				s.sleep(time.Minute)
				same(t, "lines", s.lines()[2:], tt.lines)
				same(t, "calls", len(read(w, &w.prompts)), tt.calls)
			})
		})
	}
}

func TestTheModelThatAnsweredIsAskedForTheRestOfTheTurn(t *testing.T) {
	w := &world{}
	w.GenerateFn = func(_ context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
		switch {
		case in.Model == "demo:rules":
			return contract.GenerateResult{}, fails(contract.KindModelAuth, "no")
		case len(read(w, &w.calls)) == 0:
			return asks(list("a")), nil
		}
		return says("Done."), nil
	}
	in := with(hello(), func(a *contract.Agent) {
		a.Models = []contract.ModelRoute{{Name: "demo:rules", Fallback: []string{"second"}}, {Name: "second", Timeout: 3 * time.Minute}}
	})
	converse(t, w, in, func(s *session) {
		s.rest()
		var asked []string
		for _, p := range read(w, &w.prompts) {
			asked = append(asked, p.Model)
		}
		same(t, "asked", asked, []string{"demo:rules", "second", "second"})
	})
}

// modelWithWindow returns a model that needs the given number of summaries.
func modelWithWindow(digests int) (func(context.Context, contract.GenerateInput) (contract.GenerateResult, error), *int) {
	n := 0
	return func(_ context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
		if n++; n <= digests {
			return contract.GenerateResult{NeedsSummary: &contract.Summary{Through: in.Transcript.Tail[0].ID, Messages: n}}, nil
		}
		return withTokens(says("Short now."), 5), nil
	}, &n
}

func TestAConversationThatIsTooLongGetsADigest(t *testing.T) {
	w := &world{}
	w.GenerateFn, _ = modelWithWindow(1)
	w.DigestFn = func(_ context.Context, in contract.SummarizeInput) (contract.SummarizeResult, error) {
		d := in.Wanted
		d.Text = contract.Inline("Summed up.")
		return contract.SummarizeResult{Summary: d, Model: "m-1", Usage: contract.Usage{InputTokens: 7, Calls: 1}}, nil
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "Short now.")
		same(t, "the digest is shown", w.prompts[1].Summary.Text.Inline, "Summed up.")
		notice := s.messages()[2]
		same(t, "notice", notice.Notice, true)
		same(t, "its usage", notice.Usage.InputTokens, 7)
		same(t, "usage", s.view().Usage.InputTokens, 11)
		s.say("r2", "more")
		s.rest()
		same(t, "the digest stays", w.prompts[2].Summary.Text.Inline, "Summed up.")
	})
}

func TestWithoutASummaryTheOldestMessagesAreLeftOut(t *testing.T) {
	w := &world{}
	w.GenerateFn, _ = modelWithWindow(1)
	w.DigestFn = func(context.Context, contract.SummarizeInput) (contract.SummarizeResult, error) {
		return contract.SummarizeResult{}, fails(contract.KindModelAuth, "no key")
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "Short now.")
		same(t, "through", w.prompts[1].Summary.Messages, 1)
		if text := s.messages()[2].Content.Inline; !strings.Contains(text, "no summary (no key)") {
			t.Errorf("notice %q", text)
		}
	})
}

func TestAModelThatIsAwayLosesNothingOfAConversation(t *testing.T) {
	w := &world{GenerateFn: func(_ context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
		if in.Model == "demo:rules" {
			return contract.GenerateResult{NeedsSummary: &contract.Summary{Through: in.Transcript.Tail[0].ID, Messages: 1}}, nil
		}
		return says("I have room."), nil
	}}
	w.DigestFn = func(context.Context, contract.SummarizeInput) (contract.SummarizeResult, error) {
		return contract.SummarizeResult{}, fails(contract.KindModelAuth, "no key")
	}
	in := with(hello(), func(a *contract.Agent) {
		a.Models = []contract.ModelRoute{{Name: "demo:rules", Fallback: []string{"large"}}}
	})
	converse(t, w, in, func(s *session) {
		s.rest()
		same(t, "lines", s.lines()[2:], []string{"assistant: Model demo:rules failed: no key. Asking large instead.", "assistant: I have room."})
		same(t, "digest", w.prompts[1].Summary, nil)
	})
}

func TestASummaryStaysWhenThereIsNoNewOne(t *testing.T) {
	w := &world{}
	w.GenerateFn, _ = modelWithWindow(2)
	n := 0
	w.DigestFn = func(_ context.Context, in contract.SummarizeInput) (contract.SummarizeResult, error) {
		if n++; n > 1 {
			return contract.SummarizeResult{}, fails(contract.KindModelAuth, "no key")
		}
		d := in.Wanted
		d.Text = contract.Inline("Summed up.")
		return contract.SummarizeResult{Summary: d}, nil
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "digest", w.prompts[2].Summary.Text.Inline, "Summed up.")
		same(t, "through", w.prompts[2].Summary.Messages, 2)
		if text := s.messages()[3].Content.Inline; !strings.Contains(text, "the summary before, because there is no new one (no key)") {
			t.Errorf("notice %q", text)
		}
	})
}

func TestAConversationThatCannotBeMadeShorterFailsOnce(t *testing.T) {
	w := &world{}
	var asked *int
	w.GenerateFn, asked = modelWithWindow(100)
	w.DigestFn = func(_ context.Context, in contract.SummarizeInput) (contract.SummarizeResult, error) {
		return contract.SummarizeResult{Summary: in.Wanted}, nil
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "LLM error: the conversation does not fit the model's window.")
		if *asked > 20 {
			t.Errorf("the model was asked %d times", *asked)
		}
	})
}

func TestAnOutputThatDoesNotFitIsMendedOnce(t *testing.T) {
	bad := func(text string) contract.GenerateResult {
		r := withTokens(says(text), 5)
		r.Misfit = "a title is missing."
		return r
	}
	root := sequential("pipeline", llm("plan", key("plan")), llm("write", prompt("write {plan.title}", "plan")))
	root.Nodes[0].OutputSchema = contract.JSON{Raw: json.RawMessage(`{"type":"object"}`)}
	for _, tt := range []struct {
		name    string
		replies []any
		last    string
	}{
		{"and then fits", []any{bad("Sure!"), withTokens(says(`{"title":"T"}`), 5)}, `[plan] {"title":"T"}`},
		{"or fails", []any{bad("Sure!"), bad("Sure!")}, "[plan] LLM error: the model's output does not fit its schema: a title is missing."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{GenerateFn: play(map[string][]any{"plan": tt.replies, "write {plan.title}": {withTokens(says("written"), 1)}})}
			converse(t, w, tree(root), func(s *session) {
				s.rest()
				prompts := read(w, &w.prompts)
				same(t, "the first has no reply to mend", prompts[0].Repair, nil)
				same(t, "the second has", *prompts[1].Repair, contract.Repair{Text: contract.Inline("Sure!"), Problem: "a title is missing."})
				same(t, "schema", string(prompts[1].Schema.Raw), `{"type":"object"}`)
				var said []string
				for _, m := range s.messages() {
					if m.Node == "plan" {
						said = append(said, m.Content.Inline)
					}
				}
				same(t, "said", said, []string{"[plan] The output does not fit its schema: a title is missing. Asking once more.", tt.last})
				same(t, "usage of the misfit", s.messages()[2].Usage.InputTokens, 4)
			})
		})
	}
}

func TestACutOffAnswerSaysSo(t *testing.T) {
	r := says("Half an ans")
	r.Finish, r.DraftID = "length", "d"
	converse(t, &world{GenerateFn: script(r)}, hello(), func(s *session) {
		s.rest()
		same(t, "lines", s.lines()[2:], []string{"assistant: The answer is cut off: the model reached its limit for one reply.", "assistant: Half an ans"})
	})
}

// Another message or report would not match the history.
func TestARecordedReplyThatWasCutOffIsReplayedAsItWas(t *testing.T) {
	r := says("Half an ans")
	r.Finish, r.DraftID = "length", ""
	converse(t, &world{GenerateFn: script(r)}, hello(), func(s *session) {
		s.rest()
		same(t, "lines", s.lines()[2:], []string{"assistant: Half an ans"})
	})
}
