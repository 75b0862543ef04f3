package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/workflows/contract"
)

func TestTheTreeIsShownAtEveryStage(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = `agent:
  name: pipeline
  type: sequential
  agents:
    - {name: read, output_key: seen, prompt: 'do: call slow_read'}
    - name: change
      type: sequential
      agents:
        - {name: write, output_key: written, prompt: 'do: call note_add {"name":"{user_message}"}'}
    - {name: tell, prompt: 'do: say {seen}, {written}, {unknown}'}
`
	api, _ := h.inside()
	id := api.want(201, "POST", "/conversations", "").Conversation.ID
	same(t, "before the first turn", api.statuses(id), "pipeline:pending[read:pending change:pending[write:pending] tell:pending]")
	answered := make(chan body)
	go func() { answered <- api.say(id, "apple") }()
	<-h.tools.entered
	api.becomes(id, "pipeline:running[read:running change:pending[write:pending] tell:pending]")
	h.tools.release()
	asked := <-answered
	same(t, "while it waits", api.statuses(id), "pipeline:waiting[read:done change:waiting[write:waiting] tell:pending]")
	root := api.tree(id)
	if w := root.at("write"); fmt.Sprint(w.Path, w.Approvals) != fmt.Sprint([]int{1, 0}, []string{asked.Result.Approval.UUID}) {
		t.Errorf("the node that waits: %+v", w)
	}
	if r := root.at("read"); r.Output != "The tool said: done at last" || r.DurationMS == nil || r.Usage.Input == 0 {
		t.Errorf("the node that is done: %+v", r)
	}
	if want := contract.ConversationWorkflowID(id) + "/turn-1/pipeline"; root.Run != want || root.at("change").Run != want+"/change" {
		t.Errorf("the workflows are %s and %s", root.Run, root.at("change").Run)
	}
	paused := api.conversation(id)
	same(t, "pipeline state", *paused.PipelineState, pipelineState{
		Path: []int{1, 0}, OutputKey: "written", State: map[string]string{"seen": "The tool said: done at last"}, Message: "apple",
	})
	same(t, "the approval's node", paused.PendingApproval.Node, "write")
	sameAsFile(t, h, api, id)
	keysInFile(t, h, id)

	done := api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	const said = "The tool said: done at last, The tool said: added apple, {unknown}"
	same(t, "the answer", done.Result.Response, said)
	same(t, "in the end", api.statuses(id), "pipeline:done[read:done change:done[write:done] tell:done]")
	same(t, "the root's output", api.tree(id).Output, said)
	same(t, "messages", roles(done.Conversation), "system@, user@, assistant slow_read@read, tool slow_read@read, assistant@read, "+
		"assistant note_add@write, assistant@write, user@write, tool note_add@write, assistant@write, assistant@tell")
	if done.Conversation.PipelineState != nil {
		t.Errorf("there is a pipeline state when nothing waits: %+v", done.Conversation.PipelineState)
	}
	sameAsFile(t, h, api, id)
}

// keysInFile checks the order of keys that readers of the files rely on.
func keysInFile(t *testing.T, h *home, id string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.dir, "data", "conversation_"+id+".json"))
	if err != nil {
		t.Fatal(err)
	}
	whole := keysOf(t, data)
	same(t, "keys of the file", whole[:8], []string{
		"id", "session_id", "status", "messages", "pending_approval", "pipeline_state", "created_at", "updated_at",
	})
	var doc struct {
		Pipeline json.RawMessage `json:"pipeline_state"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	same(t, "keys of the pipeline state", keysOf(t, doc.Pipeline), []string{
		"paused_node_path", "paused_node_output_key", "session_state", "user_message",
	})
}

// keysOf lists the keys of a JSON object in their order.
func keysOf(t *testing.T, object []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, fmt.Sprint(key))
		if err := d.Decode(new(json.RawMessage)); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

const twoAsk = `agent:
  name: sides
  type: parallel
  approval: required
  agents:
    - {name: left, prompt: 'do: call tick {"name":"left {user_message}"}'}
    - {name: right, prompt: 'do: call tick {"name":"right {user_message}"}'}
    - {name: quiet, prompt: 'do: say nothing to ask'}
`

// pair waits until both approvals of twoAsk are listed, by node.
func (a *api) pair(id string) map[string]string {
	a.t.Helper()
	uuids := map[string]string{}
	eventually(a.t, "both approvals are listed", func() bool {
		clear(uuids)
		for _, p := range a.conversation(id).PendingApprovals {
			uuids[p.Node] = p.UUID
		}
		return len(uuids) == 2
	})
	return uuids
}

func TestTwoApprovalsOfOneParallelDecidedAtTheSameMoment(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = twoAsk
	api, _ := h.inside()
	id := api.want(201, "POST", "/conversations", "").Conversation.ID
	for round := range 12 {
		message := fmt.Sprintf("round-%d", round)
		api.say(id, message)
		uuids := api.pair(id)
		var group sync.WaitGroup
		var mu sync.Mutex
		var final []string
		for _, uuid := range uuids {
			group.Go(func() {
				r, err := api.try("POST", "/approvals/"+uuid, `{"approved":true}`)
				if err != nil || r.Status != 200 {
					t.Errorf("%s: %v, status %d: %s", message, err, r.Status, r.Raw)
				}
				mu.Lock()
				defer mu.Unlock()
				if !r.Body.Result.WaitingApproval {
					final = append(final, r.Body.Result.Response)
				}
			})
		}
		group.Wait()
		if len(final) == 0 {
			t.Errorf("%s: nobody got the answer", message)
		}
		for _, text := range final {
			same(t, message, text, "The tool said: 1\nThe tool said: 1\nnothing to ask")
		}
		once(t, h, "left "+message, "right "+message)
		if c := api.conversation(id); c.Status != "active" || len(c.PendingApprovals) > 0 {
			t.Fatalf("%s: afterwards it is %s, and waits for %+v", message, c.Status, c.PendingApprovals)
		}
	}
}

func TestRejectingOneOfTwoLeavesTheOtherOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, answer, status string }{
		"a rejection ends the turn": {
			twoAsk, "Operation cancelled by user.\n\nDone: right, quiet.\n\nNot done: left (rejected).",
			"sides:rejected[left:rejected right:done quiet:done]",
		},
		"on_reject: continue": {
			strings.ReplaceAll(twoAsk, "{name: left,", "{name: left, on_reject: continue,"),
			"Operation cancelled by user.\nThe tool said: 1\nnothing to ask", "sides:done[left:rejected right:done quiet:done]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.extra = c.file
			api, _ := h.inside()
			id := api.ask("go").Conversation.ID
			uuids := api.pair(id)
			first := api.decide(uuids["left"], `{"approved":false}`)
			if !first.Result.WaitingApproval || first.Result.Approval == nil || first.Result.Approval.UUID != uuids["right"] {
				t.Errorf("after the rejection: %+v", first.Result)
			}
			second := api.decide(uuids["right"], `{"approved":true}`)
			same(t, "answer", second.Result.Response, c.answer)
			same(t, "tree", api.statuses(id), c.status)
			same(t, "calls", h.tools.counts(), map[string]int{"right go": 1})
			if said := api.say(id, "again"); !said.Result.WaitingApproval {
				t.Errorf("the next turn: %+v", said.Result)
			}
		})
	}
}

// running lists the workflows of a conversation that have not ended.
func running(t *testing.T, c client.Client, id string) []string {
	t.Helper()
	list, err := c.ListWorkflow(context.Background(), &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: "default", Query: fmt.Sprintf("%s = '%s' AND ExecutionStatus = 'Running'", contract.AttrConversationID, id),
	})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range list.GetExecutions() {
		ids = append(ids, e.GetExecution().GetWorkflowId())
	}
	slices.Sort(ids)
	return ids
}

func TestACancelReachesEveryNodeAndCall(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = `agent:
  name: pipeline
  type: sequential
  agents:
    - name: sides
      type: parallel
      agents:
        - name: inner
          type: loop
          agents:
            - {name: reads, prompt: 'do: call slow_read'}
        - {name: reads too, prompt: 'do: call slow_read'}
        - name: asks
          type: sequential
          approval: required
          agents:
            - {name: adds, prompt: 'do: call note_add {"name":"x"}'}
    - {name: after, prompt: 'do: call note_list'}
`
	api, p := h.inside()
	asked := api.ask("go")
	id := asked.Conversation.ID
	<-h.tools.entered
	<-h.tools.entered
	eventually(t, "every workflow is listed", func() bool { return len(running(t, p.Client, id)) == 6 })
	cancelled := api.want(200, "POST", "/conversations/"+id+"/cancel", `{"reason":"Enough."}`)
	if !strings.HasPrefix(cancelled.Result.Response, "The turn was cancelled.") || cancelled.Conversation.Status != "active" {
		t.Errorf("cancel: %+v", cancelled.Result)
	}
	for range 2 { // the calls end when their activities are cancelled
		<-h.tools.left
	}
	eventually(t, "only the conversation runs on", func() bool {
		return slices.Equal(running(t, p.Client, id), []string{contract.ConversationWorkflowID(id)})
	})
	same(t, "tree", api.statuses(id),
		"pipeline:cancelled[sides:cancelled[inner:cancelled[reads:cancelled] reads too:cancelled asks:cancelled[adds:cancelled]] after:skipped]")
	if n := len(h.tools.called("note_add")) + len(h.tools.called("note_list")); n != 0 {
		t.Errorf("%d calls after the cancel", n)
	}
	late := api.do("POST", "/approvals/"+asked.Result.Approval.UUID, `{"approved":true}`)
	if late.Status != 409 {
		t.Errorf("a decision after the cancel: status %d: %s", late.Status, late.Raw)
	}
}
