package e2e_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/adoption"
)

// lastModel is the model of the last request.
func (h *home) lastModel() string {
	h.t.Helper()
	all := h.model.Requests()
	_, after, _ := strings.Cut(string(all[len(all)-1].Body), `"model":"`)
	name, _, _ := strings.Cut(after, `"`)
	return name
}

func TestConversationsTakeOverAChangedFile(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, agent := h.outside()
	resting := api.ask("hello").Conversation.ID
	asked := api.ask(`call note_add {"name":"x"}`)
	first := asked.Result.Approval
	second := api.ask(`call note_add {"name":"y"}`).Result.Approval
	agent.kill()

	h.llm = `{model: "openai:other-model"}`
	config := h.configFile()
	api, _ = h.outside()
	shell := shellUser{t, h.dir, append(h.environ(), "USER=carol")}
	eventually(t, "all conversations are listed", func() bool {
		out, _ := shell.run(0, "config", "adopt", "--config", config, "--dry-run")
		return strings.Contains(out, "3 would take it over, 0 after their turn; 0 keep what they have") &&
			strings.Contains(out, `model: "openai:test-model" → "openai:other-model"`) && strings.Contains(out, "waits for "+first.UUID+" (destructive note_add)")
	})
	api.say(resting, "hello again")
	if got := h.lastModel(); got != "test-model" {
		t.Errorf("a dry run changed the model to %s", got)
	}

	// The same server under another address: what was approved there does not hold.
	url := h.tools.URL
	h.tools.URL = strings.Replace(url, "127.0.0.1", "localhost", 1)
	out, _ := shell.run(6, "config", "adopt", "--config", h.configFile(), "--dry-run")
	if !strings.Contains(out, "approval "+first.UUID+": it is for note_add at "+url+", which the file has at "+h.tools.URL) || !strings.Contains(out, "1 would take it over, 0 after their turn; 2 keep") {
		t.Error(out)
	}
	h.tools.URL = url
	h.configFile()

	shell.prints([]string{"config", "adopt", asked.Conversation.ID, resting, "--config", config}, "2 take it over, 0 after their turn; 0 keep")
	api.decide(first.UUID, `{"approved":true}`)
	if got := h.lastModel(); got != "other-model" {
		t.Errorf("the waiting conversation went on with %s", got)
	}
	api.say(resting, "hello again")
	if got := h.lastModel(); got != "other-model" {
		t.Errorf("the resting conversation went on with %s", got)
	}
	api.decide(second.UUID, `{"approved":true}`)
	if got := h.lastModel(); got != "test-model" {
		t.Errorf("the conversation that was told nothing went on with %s", got)
	}
	shell.prints([]string{"config", "adopt", "--config", config}, "1 take it over")
	eventually(t, "the list has it", func() bool {
		return strings.Contains(shell.prints([]string{"config", "adopt", "--config", config}), "0 take it over, 0 after their turn; 0 keep what they have; 3 have it already")
	})
	if n := len(h.tools.called("note_add")); n != 2 {
		t.Errorf("%d calls", n)
	}
}

// A configuration is adopted while an approval waits, and another one at rest.
func TestRecordAnAdoption(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, p := h.inside()
	asked := api.ask(`call note_add {"name":"x"}`)
	id := contract.ConversationWorkflowID(asked.Conversation.ID)
	adopt := func(model string, approvals ...string) {
		now, err := p.Client.QueryWorkflow(t.Context(), id, "", adoption.QueryAgent)
		if err != nil {
			t.Fatal(err)
		}
		var a contract.Agent
		if err := now.Get(&a); err != nil {
			t.Fatal(err)
		}
		a.Model = model
		if err := p.Client.SignalWorkflow(t.Context(), id, "", adoption.SignalAdopt, adoption.Adopt{Agent: a, By: "ops", Approvals: approvals}); err != nil {
			t.Fatal(err)
		}
	}
	adopt("openai:other-model", asked.Result.Approval.UUID)
	api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	adopt("openai:third-model")
	api.say(asked.Conversation.ID, "hello")
	if got := h.lastModel(); got != "third-model" {
		t.Error(got)
	}
	keep(t, p.Client, "adopt", id)
}
