package workflows_test

import (
	"context"
	"testing"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/adoption"
	"agent-stop-and-go/workflows/contract/promptversion"
)

// adopt has the conversation take over a configuration, under which approvals hold.
func (s *session) adopt(a contract.Agent, approvals ...string) {
	s.env.SignalWorkflow(adoption.SignalAdopt, adoption.Adopt{Agent: a, By: "ops", Approvals: approvals})
}

// stored is the hash of the configuration that the conversation takes over after its turn, or "".
func (s *session) stored() string {
	s.t.Helper()
	v, err := s.env.QueryWorkflow(adoption.QueryNext)
	if err != nil {
		s.t.Fatal(err)
	}
	var a *contract.Agent
	if err := v.Get(&a); err != nil {
		s.t.Fatal(err)
	}
	if a == nil {
		return ""
	}
	return a.Hash()
}

// agent is the configuration that the conversation has.
func (s *session) agent() contract.Agent {
	s.t.Helper()
	v, err := s.env.QueryWorkflow(adoption.QueryAgent)
	if err != nil {
		s.t.Fatal(err)
	}
	var a contract.Agent
	if err := v.Get(&a); err != nil {
		s.t.Fatal(err)
	}
	return a
}

// other is the agent of a conversation after its file has changed.
func other(in contract.ConversationInput) contract.Agent {
	a := in.Agent
	a.Model, a.Prompt = "other-model", contract.Inline("Be thorough.")
	return a
}

// models are the models that were called, with their prompts.
func (w *world) models() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, in := range w.prompts {
		out = append(out, in.Model+" "+in.Prompt.Inline)
	}
	return out
}

func TestAConversationAdoptsAConfigurationBetweenTurns(t *testing.T) {
	w, in := &world{}, hello()
	before := in.Agent.Model + " " + in.Agent.Prompt.Inline
	s := converse(t, w, in, func(s *session) {
		s.rest()
		s.adopt(other(in))
		s.rest()
		same(t, "configuration", s.agent().Hash(), other(in).Hash())
		same(t, "upserts", s.seen.upserts > 0, true)
		s.say("r2", "more")
		s.rest()
		s.env.SetCurrentHistoryLength(8_000)
		s.say("r3", "more")
		s.rest()
	})
	same(t, "models", w.models(), []string{before, "other-model Be thorough."}) // r3 is left to the next run
	next, _ := s.next()
	same(t, "next run", next.Agent.Hash(), other(in).Hash())
}

// The record has each prompt with its version, also in later runs.
func TestTheRecordHasTheVersionsOfPrompts(t *testing.T) {
	w, in := &world{}, hello()
	in.Agent.PromptVersion = &promptversion.Version{Source: "directory", Number: 1, Digest: "a"}
	changed, text := other(in), other(in)
	changed.PromptVersion = &promptversion.Version{Source: "directory", Number: 2, Digest: "b"}
	text.PromptVersion, text.Prompt = nil, contract.Inline("Be short.")
	s := converse(t, w, in, func(s *session) {
		s.rest()
		s.adopt(changed)
		s.rest()
		s.adopt(text)
		s.rest()
		s.env.SetCurrentHistoryLength(8_000)
		s.say("r2", "more")
		s.rest()
	})
	next, _ := s.next()
	uses := next.Carried.Prompts
	if len(uses) != 3 || uses[0].Number != 1 || uses[0].By != "" || uses[0].At != next.Carried.CreatedAt || uses[1].Digest != "b" || uses[1].By != "ops" || uses[2].Source != "text" {
		t.Errorf("%+v", uses)
	}
	if view := s.view().Prompts; len(view) != 3 {
		t.Errorf("the view has %+v", view)
	}
	if in.Agent.Hash() != hello().Agent.Hash() {
		t.Error("the version changes the hash, by which conversations are found that have another configuration")
	}
}

func TestAWaitingConversationContinuesWithWhatItAdopted(t *testing.T) {
	in := hello()
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	converse(t, w, in, func(s *session) {
		s.rest()
		s.adopt(other(in), s.pending().UUID)
		s.rest()
		same(t, "pending", len(s.view().Pending), 1)
		same(t, "configuration", s.agent().Model, "other-model")
		s.approve()
		s.rest()
	})
	same(t, "models", w.models(), []string{in.Agent.Model + " " + in.Agent.Prompt.Inline, "other-model Be thorough."})
	same(t, "calls", len(w.calls), 1)
}

func TestARunningTurnEndsWithWhatItBegan(t *testing.T) {
	in := silent()
	var s *session
	w := &world{}
	n := 0
	w.GenerateFn = func(context.Context, contract.GenerateInput) (contract.GenerateResult, error) {
		if n++; n == 1 {
			s.adopt(other(in)) // arrives while the model is called
			return asks(list("x")), nil
		}
		return says("Done."), nil
	}
	converse(t, w, in, func(now *session) {
		s = now
		s.rest()
		s.say("r1", "hello")
		s.rest()
		same(t, "configuration after the turn", s.agent().Model, "other-model")
		s.say("r2", "more")
		s.rest()
	})
	before := in.Agent.Model + " " + in.Agent.Prompt.Inline
	same(t, "models", w.models(), []string{before, before, "other-model Be thorough."})
}

func TestATreeThatRunsKeepsItsNodes(t *testing.T) {
	in := hello()
	in.Agent.Tree = &contract.Node{Name: "both", Type: contract.NodeSequential, Nodes: []contract.Node{
		{Name: "one", Type: contract.NodeLLM, Model: "m1"}, {Name: "two", Type: contract.NodeLLM, Model: "m2"},
	}}
	changed := other(in)
	changed.Tree = nil
	w := &world{GenerateFn: script(asks(add("x")), says("Added."), says("Checked."), says("Alone."))}
	converse(t, w, in, func(s *session) {
		s.rest()
		s.adopt(changed)
		s.rest()
		same(t, "configuration of the turn", s.agent().Hash(), in.Agent.Hash())
		s.approve()
		s.rest()
		same(t, "configuration after it", s.agent().Hash(), changed.Hash())
		s.say("r2", "more")
		s.rest()
	})
	same(t, "models", w.models(), []string{"m1 ", "m1 ", "m2 ", "other-model Be thorough."})
}

func TestAConfigurationOfAnotherAgentIsNotAdopted(t *testing.T) {
	in := hello()
	converse(t, &world{}, in, func(s *session) {
		s.rest()
		a := other(in)
		a.Name = "somebody else"
		s.adopt(a)
		s.adopt(contract.Agent{Name: in.Agent.Name})
		s.env.SignalWorkflow(adoption.SignalAdopt, "yes")
		s.rest()
		same(t, "configuration", s.agent().Hash(), in.Agent.Hash())
	})
}

// adoptsMeanwhile returns replies, and has the conversation adopt configurations while the model is
// called first.
func adoptsMeanwhile(s **session, configurations []contract.Agent, replies ...any) func(context.Context, contract.GenerateInput) (contract.GenerateResult, error) {
	then := script(replies...)
	return func(ctx context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
		for _, a := range configurations {
			(*s).adopt(a)
		}
		configurations = nil
		return then(ctx, in)
	}
}

// An approval that opens after a configuration has arrived was compared with nothing.
func TestAStoredConfigurationIsNotTakenOverBesideAnApproval(t *testing.T) {
	in := silent()
	var s *session
	w := &world{GenerateFn: adoptsMeanwhile(&s, []contract.Agent{other(in)}, asks(add("x")), says("Added."), says("More."))}
	converse(t, w, in, func(now *session) {
		s = now
		s.rest()
		s.say("r1", "add x")
		s.rest()
		s.say("r2", "hurry") // refused, and wakes the conversation
		s.rest()
		same(t, "configuration of the turn", s.agent().Hash(), in.Agent.Hash())
		same(t, "configuration after it", s.stored(), other(in).Hash())
		s.approve()
		s.rest()
		same(t, "configuration", s.agent().Hash(), other(in).Hash())
		same(t, "nothing follows", s.stored(), "")
		s.say("r3", "more")
		s.rest()
	})
	before := in.Agent.Model + " " + in.Agent.Prompt.Inline
	same(t, "models", w.models(), []string{before, before, "other-model Be thorough."})
}

func TestAStoredConfigurationIsTakenBack(t *testing.T) {
	in := silent()
	var s *session
	w := &world{GenerateFn: adoptsMeanwhile(&s, []contract.Agent{other(in), in.Agent}, asks(list("x")), says("Done."))}
	converse(t, w, in, func(now *session) {
		s = now
		s.rest()
		s.say("r1", "hello")
		s.rest()
		same(t, "configuration", s.agent().Hash(), in.Agent.Hash())
		same(t, "nothing follows", s.stored(), "")
	})
}

// A worker of before has handled the first signal, and no later one.
func TestARunThatMissedAConfigurationTakesOverALaterOne(t *testing.T) {
	in := hello()
	s := newSession(t, &world{}, contract.ConversationWorkflowID(in.ID))
	for _, id := range []string{"adopt", "adopt-1"} {
		s.env.OnGetVersion(id, workflow.DefaultVersion, workflow.Version(1)).Return(workflow.DefaultVersion)
	}
	s.run(contract.WorkflowConversation, in, func(s *session) {
		s.rest()
		s.adopt(other(in))
		s.rest()
		same(t, "configuration", s.agent().Hash(), in.Agent.Hash())
		s.adopt(other(in))
		s.rest()
		same(t, "configuration after the second signal", s.agent().Hash(), other(in).Hash())
	}, func() { s.close("", "") })
}

// Messages that wait for a turn may have chosen a model which is not offered any more.
func TestQueuedMessagesForgetAModelThatIsGone(t *testing.T) {
	in, w := choosing(silent())
	next := other(in)
	next.Choices = []string{"fast"}
	var s *session
	first := true
	w.GenerateFn = func(_ context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
		if first {
			first = false
			s.message(contract.MessageSignal{RequestID: "r2", Text: contract.Inline("x"), Model: "deep", KeepModel: true})
			s.message(contract.MessageSignal{RequestID: "r3", Text: contract.Inline("x"), Model: "fast"})
			s.adopt(next)
		}
		return says("I am " + in.Model), nil
	}
	converse(t, w, in, func(now *session) {
		s = now
		s.rest()
		s.message(contract.MessageSignal{RequestID: "r1", Text: contract.Inline("x"), Model: "fast", KeepModel: true})
		s.rest()
		same(t, "for the conversation", s.view().Model, "fast")
	})
	same(t, "models", w.models(), []string{"fast " + in.Agent.Prompt.Inline, "fast Be thorough.", "fast Be thorough."})
}

// What a person has approved stays bound, whatever the node may do from now on.
func TestAnApprovedCallStaysBoundIfItsNodeNeedsNoApprovalAnyMore(t *testing.T) {
	in := hello()
	root := in.Agent.Root()
	root.SkipApproval = true
	next := with(in, func(a *contract.Agent) { a.Tree = &root }).Agent
	c, bound := add("x"), contract.Binding{Address: "http://tools", SHA256: "d1"}
	c.Binding = &bound
	free := add("y")
	free.Binding = &bound
	w := &world{GenerateFn: script(asks(c), asks(free), says("Added."))}
	converse(t, w, in, func(s *session) {
		s.rest()
		s.adopt(next, s.pending().UUID)
		s.rest()
		same(t, "configuration", s.agent().Hash(), next.Hash())
		s.approve()
		s.rest()
	})
	calls := read(w, &w.calls)
	same(t, "calls", len(calls), 2)
	same(t, "target of the approved call", calls[0].Binding, &bound)
	same(t, "target of one that nobody has approved", calls[1].Binding == nil, true)
}
