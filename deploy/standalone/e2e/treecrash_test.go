package e2e_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// once requires that each of these names was given to a counting tool exactly once.
func once(t *testing.T, h *home, names ...string) {
	t.Helper()
	counts := h.tools.counts()
	for _, name := range names {
		if counts[name] != 1 {
			t.Errorf("%q was called %d times: %v", name, counts[name], counts)
		}
	}
}

const deepTree = `agent:
  name: pipeline
  type: sequential
  agents:
    - {name: before, output_key: one, prompt: 'do: call look {"name":"before {user_message}"}'}
    - name: both
      type: parallel
      agents:
        - name: branch
          type: sequential
          approval: required
          agents:
            - {name: ready, output_key: two, prompt: 'do: call look {"name":"ready {user_message}"}'}
            - {name: deep, output_key: three, prompt: 'do: call tick {"name":"deep {user_message}"}'}
            - {name: next, output_key: four, prompt: 'do: call look {"name":"next {user_message}"}'}
        - {name: sibling, output_key: five, prompt: 'do: call tick {"name":"sibling {user_message}"}'}
    - {name: after, prompt: 'do: say {one}, {two}, {three}, {four}, {five}'}
`

func TestAPauseAtDepthThreeSurvivesKillMinusNine(t *testing.T) {
	t.Parallel()
	const paused = "pipeline:waiting[before:done both:waiting[branch:waiting[ready:done deep:waiting next:pending] sibling:done] after:pending]"
	eachDeath(t, deepTree, func(t *testing.T, m *mortal) {
		undisturbed := ""
		for _, run := range []string{"undisturbed", "disturbed"} {
			asked := m.ask(run)
			id := asked.Conversation.ID
			m.becomes(id, paused)
			if run == "disturbed" {
				m.die()
				m.becomes(id, paused)
			}
			waits := m.conversation(id)
			if len(waits.PendingApprovals) != 1 || waits.PendingApproval.UUID != asked.Result.Approval.UUID {
				t.Fatalf("what waits: %+v", waits.PendingApprovals)
			}
			done := m.decide(asked.Result.Approval.UUID, `{"approved":true}`)
			once(t, m.home, "before "+run, "ready "+run, "deep "+run, "next "+run, "sibling "+run)
			if run == "undisturbed" {
				undisturbed = done.Result.Response
			}
			said := strings.TrimSuffix(strings.Repeat("The tool said: 1, ", 5), ", ")
			if done.Result.Response != undisturbed || undisturbed != said {
				t.Errorf("%s: the answer is %q, undisturbed %q, want %q", run, done.Result.Response, undisturbed, said)
			}
			same(t, run+": texts", without(done.Conversation.texts(), "This action requires approval"), []string{
				"[before] The tool said: 1", "[ready] The tool said: 1", "[deep] The tool said: 1", "[next] The tool said: 1",
				"[sibling] The tool said: 1", "[after] " + said,
			})
		}
	})
}

// without drops the texts with a prefix.
func without(texts []string, prefix string) []string {
	var out []string
	for _, s := range texts {
		if !strings.HasPrefix(s, prefix) {
			out = append(out, s)
		}
	}
	return out
}

func TestBranchesInEveryStateSurviveKillMinusNine(t *testing.T) {
	t.Parallel()
	const tree = `agent:
  name: pipeline
  type: sequential
  agents:
    - name: sides
      type: parallel
      agents:
        - {name: done, output_key: one, prompt: 'do: call tick {"name":"done {user_message}"}'}
        - {name: running, output_key: two, prompt: 'do: call slow_read {"name":"{user_message}"}'}
        - {name: waiting, output_key: three, approval: required, prompt: 'do: call tick {"name":"waiting {user_message}"}'}
    - {name: after, prompt: 'do: say {one}, {two}, {three}'}
`
	const midway = "pipeline:running[sides:running[done:done running:running waiting:waiting] after:pending]"
	eachDeath(t, tree, func(t *testing.T, m *mortal) {
		asked := m.ask("disturbed")
		id := asked.Conversation.ID
		<-m.tools.entered
		m.becomes(id, midway)
		m.die()
		m.becomes(id, midway)
		decided := make(chan body)
		go func() { decided <- m.decide(asked.Result.Approval.UUID, `{"approved":true}`) }()
		m.becomes(id, strings.Replace(midway, "waiting:waiting", "waiting:done", 1))
		m.tools.release()
		const want = "The tool said: 1, The tool said: done at last, The tool said: 1"
		if got := <-decided; got.Result.Response != want {
			t.Errorf("the disturbed run says %+v", got.Result)
		}
		once(t, m.home, "done disturbed", "waiting disturbed")
		undisturbed := m.ask("undisturbed")
		done := m.decide(undisturbed.Result.Approval.UUID, `{"approved":true}`)
		if done.Result.Response != want {
			t.Errorf("the undisturbed run says %q", done.Result.Response)
		}
		same(t, "messages", roles(m.conversation(id)), roles(done.Conversation))
	})
}

// roles lists the author, kind and node of each message, in order.
func roles(c conversation) string {
	var out []string
	for _, m := range c.Messages {
		kind := m.Role
		if m.ToolCall != nil {
			kind += " " + m.ToolCall.Name
		}
		out = append(out, kind+"@"+m.Node)
	}
	return strings.Join(out, ", ")
}

func TestTheFourthIterationSurvivesKillMinusNine(t *testing.T) {
	t.Parallel()
	const tree = `agent:
  name: around
  type: loop
  max_iterations: 6
  agents:
    - {name: step, output_key: n, prompt: 'do: call tick {"name":"step {user_message}"}'}
    - {name: hold, approval: required, output_key: held, prompt: 'do: if {n} is The tool said: 4 => call tick {"name":"hold {user_message}"}'}
    - {name: end, prompt: 'do: say {n} and {held}'}
`
	eachDeath(t, tree, func(t *testing.T, m *mortal) {
		answers := map[string]string{}
		for _, run := range []string{"undisturbed", "disturbed"} {
			asked := m.ask(run)
			id := asked.Conversation.ID
			m.becomes(id, "around:waiting[step:done hold:waiting end:pending]")
			if run == "disturbed" {
				m.die()
			}
			if n := m.tree(id).Iteration; n != 4 {
				t.Errorf("it waits in iteration %d", n)
			}
			done := m.decide(asked.Result.Approval.UUID, `{"approved":true}`)
			answers[run] = fmt.Sprint(done.Result.Response, without(done.Conversation.texts(), "This action"))
			once(t, m.home, "hold "+run)
			if n := m.tools.counts()["step "+run]; n != 6 {
				t.Errorf("%d steps in 6 iterations", n)
			}
		}
		if answers["disturbed"] != answers["undisturbed"] || !strings.HasPrefix(answers["disturbed"], "The tool said: 6 and not yet") {
			t.Errorf("the answers: %q", answers)
		}
	})
}

// A destructive call without an approval is not repeated after a crash either.
func TestADestructiveCallInABranchCutOffByACrashAsksAHuman(t *testing.T) {
	t.Parallel()
	const tree = `agent:
  name: sides
  type: parallel
  agents:
    - {name: writes, prompt: 'do: call slow_write'}
    - {name: ticks, prompt: 'do: call tick {"name":"ticks"}'}
`
	h := newHome(t)
	h.extra = tree
	api, agent := h.outside()
	id := api.want(201, "POST", "/conversations", "").Conversation.ID
	go api.try("POST", "/conversations/"+id+"/messages", messageJSON("go"))
	<-h.tools.entered
	api.becomes(id, "sides:running[writes:running ticks:done]")
	agent.kill()
	api, _ = h.outside()
	api.becomes(id, "sides:waiting[writes:waiting ticks:done]")
	if n := len(h.tools.called("slow_write")); n != 1 {
		t.Errorf("the call was made %d times before anybody answered", n)
	}
	h.tools.release()
	done := api.decide(api.conversation(id).PendingApproval.UUID, `{"approved":true}`)
	if done.Result.Response != "The tool said: done at last\nThe tool said: 1" {
		t.Errorf("after the approved repetition: %+v", done.Result)
	}
	if calls := h.tools.called("slow_write"); len(calls) != 2 || calls[0].Key != calls[1].Key {
		t.Errorf("the repetition must have the same idempotency key: %+v", calls)
	}
	once(t, h, "ticks")
}

func TestAPausedRunFinishesByTheFileItBeganWith(t *testing.T) {
	t.Parallel()
	tree := func(word string, more string) string {
		return fmt.Sprintf(`agent:
  name: pipeline
  type: sequential
  agents:
    - {name: first, output_key: one, prompt: 'do: call tick {"name":"%s"}'}
    - {name: last, prompt: 'do: say %s {one}'}
%s`, word, word, more)
	}
	h := newHome(t)
	h.extra = tree("old", "")
	api, agent := h.outside()
	paused := api.ask("go")
	agent.kill()
	h.extra = tree("new", "    - {name: extra, prompt: 'do: say and more'}\n")
	api, _ = h.outside()
	id := paused.Conversation.ID
	same(t, "the paused tree", api.statuses(id), "pipeline:waiting[first:waiting last:pending]")
	done := api.decide(paused.Result.Approval.UUID, `{"approved":true}`)
	same(t, "the paused run", done.Result.Response, "old The tool said: 1")
	fresh := api.ask("go")
	done = api.decide(fresh.Result.Approval.UUID, `{"approved":true}`)
	same(t, "the next conversation", done.Result.Response, "and more")
	same(t, "calls", maps.Clone(h.tools.counts()), map[string]int{"old": 1, "new": 1})
	again := api.say(id, "once more")
	done = api.decide(again.Result.Approval.UUID, `{"approved":true}`)
	same(t, "the old conversation's next turn", done.Result.Response, "old The tool said: 2")
}
