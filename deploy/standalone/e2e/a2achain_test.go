package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// chain has three agents, each a process with its own folder: front delegates to middle, and
// middle to far, whose tool is destructive.
type chain struct {
	homes [3]*home
	apis  [3]*api
	procs [3]*proc
}

var chainNames = [3]string{"front", "middle", "far"}

func newChain(t *testing.T) *chain {
	t.Helper()
	c := &chain{}
	for i := range c.homes {
		c.homes[i] = newHome(t)
		c.homes[i].name = chainNames[i]
	}
	for i := range 2 {
		next := c.homes[i+1]
		c.homes[i].extra = fmt.Sprintf("a2a:\n  - {name: %s, url: 'http://127.0.0.1:%d/a2a'}\n", next.name, next.ports.api)
	}
	for i := range c.homes {
		c.apis[i], c.procs[i] = c.homes[i].outside()
	}
	return c
}

// dies kills one of the agents and restarts it.
func (c *chain) dies(i int) {
	c.procs[i].kill()
	c.apis[i], c.procs[i] = c.homes[i].outside()
}

// delegating returns a message that makes an agent delegate a task.
func delegating(agent, task string) string {
	args, err := json.Marshal(map[string]string{"message": task})
	if err != nil {
		panic(err)
	}
	return "call a2a_" + agent + " " + string(args)
}

var farTask = delegating("middle", delegating("far", `call note_add {"name":"deep"}`))

func TestAnApprovalTravelsThroughThreeAgents(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(*testing.T, *chain, string, approval){
		"by REST": func(_ *testing.T, c *chain, _ string, a approval) {
			c.apis[0].decide(a.UUID, `{"approved":true,"by":"ann"}`)
		},
		"by A2A": func(t *testing.T, c *chain, task string, _ approval) {
			got := c.apis[0].rpc("SendMessage", map[string]any{"message": map[string]any{
				"messageId": "yes-1", "role": "ROLE_USER", "taskId": task, "parts": []any{map[string]any{"text": "approved"}},
			}})
			if state := got.at("result", "task", "status", "state"); state != "TASK_STATE_COMPLETED" {
				t.Errorf("the task is %v: %s", state, got.raw)
			}
		},
		"by signal": func(t *testing.T, c *chain, _ string, a approval) {
			err := c.homes[0].dial().SignalWorkflow(context.Background(), contract.ApprovalWorkflowID(a.UUID), "", contract.SignalDecide,
				map[string]any{"approved": true, "by": "ops"})
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { approvedAtTheFront(t, name, decide) })
	}
}

func approvedAtTheFront(t *testing.T, name string, decide func(*testing.T, *chain, string, approval)) {
	c := newChain(t)
	task := c.begins(name == "by A2A")
	asked := *c.apis[0].conversation(task).PendingApproval
	o := asked.Origin
	if fmt.Sprintf("%v %s", o.Chain, o.Tool) != "[middle far] note_add" || !sameJSON(t, string(o.Arguments), `{"name":"deep"}`) {
		t.Errorf("the approval is of %+v", o)
	}
	c.describedOnce(t, asked.Description)
	for i := range c.homes {
		c.dies(i)
	}
	decide(t, c, task, asked)
	eventually(t, "the front has the answer", func() bool {
		now := c.apis[0].conversation(task)
		return now.PendingApproval == nil && contains(now.last(), "added deep")
	})
	if calls := c.homes[2].tools.called("note_add"); len(calls) != 1 {
		t.Errorf("the tool ran %d times", len(calls))
	}
	c.tellOneStory(t)
}

// describedOnce checks the description of the approval at the front: it has the last agent's
// text, the chain and the call once each, and nothing that is meant for programs.
func (c *chain) describedOnce(t *testing.T, text string) {
	t.Helper()
	for _, once := range []string{"PROXY APPROVAL", "front → middle → far", "**NOTE_ADD**", "Through: ", "Tool: note_add"} {
		if n := strings.Count(text, once); n != 1 {
			t.Errorf("%q is said %d times in %s", once, n, text)
		}
	}
	for _, never := range []string{"Approval required", "data part", contract.TypeApprovalAnswer} {
		if contains(text, never) {
			t.Errorf("%q is said in %s", never, text)
		}
	}
}

// begins sends the task to the first agent, with the session that all agents must have.
func (c *chain) begins(overA2A bool) (id string) {
	if !overA2A {
		got := c.apis[0].want(201, "POST", "/conversations", messageJSON(farTask), "X-Session-ID: chain-1")
		return got.Conversation.ID
	}
	got := c.apis[0].rpc("SendMessage", map[string]any{"message": map[string]any{
		"messageId": "ask-1", "role": "ROLE_USER", "parts": []any{map[string]any{"text": farTask}},
	}}, "X-Session-ID: chain-1")
	id, _ = got.at("result", "task", "id").(string)
	return id
}

// tellOneStory checks that the files of all three agents agree.
func (c *chain) tellOneStory(t *testing.T) {
	t.Helper()
	for i, h := range c.homes {
		files, err := filepath.Glob(filepath.Join(h.dir, "data", "conversation_*.json"))
		if err != nil || len(files) != 1 {
			t.Errorf("%s has the files %v, %v", chainNames[i], files, err)
			continue
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, want := range []string{`"session_id": "chain-1"`, "deep", "[APPROVAL]: Approved", "added deep"} {
			if !strings.Contains(text, want) {
				t.Errorf("the file of %s does not say %s:\n%s", chainNames[i], want, text)
			}
		}
	}
}

func TestARejectionTravelsThroughThreeAgents(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	id := c.begins(false)
	asked := *c.apis[0].conversation(id).PendingApproval
	c.procs[1].kill() // the rejection cannot be delivered at once
	done := c.apis[0].decide(asked.UUID, `{"approved":false,"by":"alice","reason":"too deep"}`)
	if done.Result.Response != "Operation cancelled by user. Reason (alice): too deep" {
		t.Errorf("after the rejection: %+v", done.Result)
	}
	c.apis[1], c.procs[1] = c.homes[1].outside()
	for _, i := range []int{1, 2} {
		through, err := json.Marshal(chainNames[:i])
		if err != nil {
			t.Fatal(err)
		}
		record := `"by":"alice","reason":"too deep","via":"a2a","chain":` + string(through)
		eventually(t, chainNames[i]+" has heard of it, and from whom", func() bool {
			list := c.apis[i].do("GET", "/conversations?include=messages", "").Raw
			return contains(list, record) && contains(list, "Operation cancelled by user. Reason (alice): too deep")
		})
	}
	if calls := c.homes[2].tools.called("note_add"); len(calls) != 0 {
		t.Errorf("the tool ran %d times", len(calls))
	}
}

// passingOn returns an agent that delegates every task.
func passingOn(to string, port int) string {
	return fmt.Sprintf("agent:\n  prompt: 'do: call a2a_%s {\"message\":\"go on\"}'\n  a2a: [{name: %s, url: 'http://127.0.0.1:%d'}]\n", to, to, port)
}

func TestTwoAgentsThatDelegateToEachOtherAreStopped(t *testing.T) {
	t.Parallel()
	a, b := newHome(t), newHome(t)
	a.name, b.name = "ping", "pong"
	a.extra, b.extra = passingOn("pong", b.ports.api), passingOn("ping", a.ports.api)
	front, _ := a.inside()
	b.inside()
	done := front.want(201, "POST", "/conversations", messageJSON("begin"))
	if !contains(done.Result.Response, "ping → pong → ping") {
		t.Errorf("the answer is %q", done.Result.Response)
	}
}
