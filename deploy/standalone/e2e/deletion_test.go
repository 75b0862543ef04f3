package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// deletionReply is the reply to DELETE, and the part of a 410 that matters.
type deletionReply struct {
	Status   string
	Deletion deletion.Tombstone
	Error    string
}

func (a *api) delete(status int, id, query string) (r deletionReply) {
	a.t.Helper()
	got := a.do("DELETE", "/conversations/"+id+query, "")
	if err := json.Unmarshal([]byte(got.Raw), &r); err != nil || got.Status != status {
		a.t.Fatalf("DELETE %s: %d %s, want %d", id, got.Status, got.Raw, status)
	}
	return r
}

// nothingLeft requires that nothing is left of a conversation but its tombstone.
func (h *home) nothingLeft(c client.Client, api *api, id string) {
	h.t.Helper()
	if got := api.do("GET", "/conversations/"+id, ""); got.Status != http.StatusGone {
		h.t.Errorf("GET %s: %d %s", id, got.Status, got.Raw)
	}
	list, err := c.ListWorkflow(context.Background(), &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf("%s = '%s'", contract.AttrConversationID, id),
	})
	if err != nil || len(list.GetExecutions()) > 0 {
		h.t.Errorf("%s: these are left: %v, %v", id, list.GetExecutions(), err)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "data", contract.ConversationFile(id))); !os.IsNotExist(err) {
		h.t.Errorf("%s: its file is left: %v", id, err)
	}
}

func TestADeletedConversationLeavesATombstone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = deepTree
	api, _ := h.inside()
	c := h.dial()
	asked := api.ask("first", "Idempotency-Key: start")
	id := asked.Conversation.ID
	approved := asked.Result.Approval.UUID
	next := api.decide(approved, `{"approved":true,"by":"alice","reason":"a secret reason"}`)
	for next.Result.WaitingApproval {
		next = api.decide(next.Result.Approval.UUID, `{"approved":true}`)
	}
	waits := api.say(id, "second").Result.Approval.UUID // several runs, children and approvals
	other := api.ask("other").Conversation.ID

	if r := api.delete(http.StatusConflict, id, ""); !contains(r.Error, "waits") {
		t.Errorf("got %+v", r)
	}
	if got := api.conversation(id); got.PendingApproval == nil || got.PendingApproval.UUID != waits {
		t.Errorf("after a refusal: %+v", got)
	}
	r := api.delete(http.StatusOK, id, "?force=true")
	decisions := map[string]deletion.Decision{}
	for _, d := range r.Deletion.Decisions {
		decisions[d.UUID] = d
	}
	if d := decisions[approved]; r.Status != "deleted" || d.Tool != "tick" || d.Decision != contract.Approved || d.By != "alice" || d.ArgumentsSHA256 == "" {
		t.Errorf("got %+v", r)
	}
	if d := decisions[waits]; d.Decision != contract.Cancelled {
		t.Errorf("the withdrawn approval: %+v", d)
	}
	h.nothingLeft(c, api, id)
	raw := api.do("GET", "/conversations/"+id, "").Raw
	if contains(raw, "secret reason") || contains(raw, "first") {
		t.Errorf("the tombstone says too much: %s", raw)
	}
	api.delete(http.StatusGone, id, "")
	for path, content := range map[string]string{"/messages": `{"message":"x"}`, "/cancel": "", "/close": ""} {
		if got := api.do("POST", "/conversations/"+id+path, content); got.Status != http.StatusGone {
			t.Errorf("POST %s: %d %s", path, got.Status, got.Raw)
		}
	}
	if got := api.do("POST", "/conversations", `{"message":"first"}`, "Idempotency-Key: start"); got.Status != http.StatusGone {
		t.Errorf("the key of the deleted conversation: %d %s", got.Status, got.Raw)
	}
	if got := api.do("GET", "/approvals/"+waits, ""); got.Status != http.StatusNotFound {
		t.Errorf("its approval: %d %s", got.Status, got.Raw)
	}
	if got := api.conversation(other); len(got.Messages) == 0 {
		t.Errorf("another conversation: %+v", got)
	}
}

func TestDeletingStopsWhatRuns(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	entered, release := h.holdModel()
	done := make(chan reply, 1)
	go func() {
		r, _ := api.try("POST", "/conversations", `{"message":"hold"}`, "Idempotency-Key: k")
		done <- r
	}()
	<-entered
	var id string
	eventually(t, "the conversation is listed", func() bool {
		list := api.do("GET", "/conversations", "").Body.Conversations
		if len(list) == 1 {
			id = list[0].ID
		}
		return id != ""
	})
	api.delete(http.StatusOK, id, "")
	release()
	<-done
	h.nothingLeft(h.dial(), api, id)
}

// The process is killed at random moments of many deletions. All are finished by the next one.
func TestDeletionsSurviveKillMinusNine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = "request_timeout: 5s\n"
	api, agent := h.outside()
	const n = 12
	var ids []string
	for i := range n {
		id := api.ask(fmt.Sprintf(`call note_add {"name":"item-%d"}`, i)).Conversation.ID
		ids = append(ids, id)
	}
	var asked []string
	for round := range 3 {
		var sent sync.WaitGroup
		for _, id := range ids[round*n/3 : (round+1)*n/3] {
			asked = append(asked, id)
			sent.Go(func() { _, _ = api.try("DELETE", "/conversations/"+id+"?force=true", "") })
		}
		time.Sleep(time.Duration(100+rand.IntN(1500)) * time.Millisecond)
		agent.kill()
		sent.Wait()
		api, agent = h.outside()
		started := map[string]bool{}
		for _, id := range asked { // a request that did not arrive in time changes nothing
			got := api.do("GET", "/conversations/"+id, "")
			_, err := h.dial().DescribeWorkflowExecution(context.Background(), deletion.WorkflowID(id), "")
			started[id] = err == nil || got.Status == http.StatusGone
			if !started[id] && got.Body.Conversation.PendingApproval == nil {
				t.Errorf("%s was not deleted and does not wait: %s", id, got.Raw)
			}
		}
		for _, id := range asked {
			if !started[id] {
				api.delete(http.StatusOK, id, "?force=true")
			}
			eventually(t, "the deletion ends", func() bool {
				d, err := h.dial().DescribeWorkflowExecution(context.Background(), deletion.WorkflowID(id), "")
				return err == nil && d.GetWorkflowExecutionInfo().GetCloseTime() != nil
			})
		}
	}
	for _, id := range ids {
		h.nothingLeft(h.dial(), api, id)
	}
	if names := h.tools.counts(); len(names) > 0 {
		t.Errorf("these calls ran: %v", names)
	}
}

// Conversations that wait are deleted all at once.
func TestManyDeletionsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = "request_timeout: 5s\n"
	api, _ := h.inside()
	var ids []string
	for i := range 40 {
		ids = append(ids, api.ask(fmt.Sprintf(`call note_add {"name":"item-%d"}`, i)).Conversation.ID)
	}
	var sent sync.WaitGroup
	for _, id := range ids {
		sent.Go(func() { _, _ = api.try("DELETE", "/conversations/"+id+"?force=true", "") })
	}
	sent.Wait()
	c := h.dial()
	for _, id := range ids {
		eventually(t, "the deletion ends", func() bool {
			d, err := c.DescribeWorkflowExecution(context.Background(), deletion.WorkflowID(id), "")
			return err == nil && d.GetWorkflowExecutionInfo().GetCloseTime() != nil
		})
		h.nothingLeft(c, api, id)
	}
}

// upkeep runs an upkeep to its end.
func (h *home) upkeep(in deletion.UpkeepInput) (out deletion.UpkeepResult) {
	h.t.Helper()
	run, err := worker.RunUpkeep(h.t.Context(), h.dial(), h.queue, in)
	if err == nil {
		err = run.Get(h.t.Context(), &out)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// Many old conversations are deleted, and one that waits is kept.
func TestOldConversationsAreDeleted(t *testing.T) {
	h := newHome(t)
	h.extra = "conversations: {delete_after: 2s}\n"
	api, _ := h.inside()
	const n = 250
	waits := api.ask(`call note_add {"name":"kept"}`).Conversation.ID
	ids := make(chan string, n)
	var starts sync.WaitGroup
	for range 10 {
		starts.Go(func() {
			for range n / 10 {
				if r, err := api.try("POST", "/conversations", ""); err == nil {
					ids <- r.Body.Conversation.ID
				}
			}
		})
	}
	starts.Wait()
	close(ids)
	time.Sleep(3 * time.Second)
	eventually(t, "all are listed", func() bool { return api.do("GET", "/conversations", "").Body.Summary.Total == n+1 })
	if got := h.upkeep(deletion.UpkeepInput{DryRun: true}); got.Expired.Deleted != n || got.Expired.Waiting != 1 || got.Marked != nil {
		t.Errorf("dry: %+v", got)
	}
	start := time.Now()
	if got := h.upkeep(deletion.UpkeepInput{}); got.Expired.Deleted != n || got.Expired.Waiting != 1 {
		t.Errorf("got %+v", got)
	}
	t.Logf("%d deletions in %s", n, time.Since(start).Round(time.Second))
	count := 0
	for id := range ids {
		if count++; count%20 == 0 {
			h.nothingLeft(h.dial(), api, id)
		}
	}
	if got := api.conversation(waits); got.PendingApproval == nil {
		t.Errorf("the one that waits: %+v", got)
	}
	if left := api.do("GET", "/conversations", "").Body.Summary.Total; left != 1 {
		t.Errorf("%d are left", left)
	}
}

// The process is killed at random moments of an upkeep. The next one finishes it.
func TestAnUpkeepSurvivesKillMinusNine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = "conversations: {delete_after: 1s}\n"
	api, agent := h.outside()
	var ids []string
	for range 24 {
		ids = append(ids, api.want(http.StatusCreated, "POST", "/conversations", "").Conversation.ID)
	}
	waits := api.ask(`call note_add {"name":"kept"}`).Conversation.ID
	time.Sleep(2 * time.Second)
	in := deletion.UpkeepInput{Collect: true}
	if _, err := worker.RunUpkeep(t.Context(), h.dial(), h.queue, in); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Millisecond)
		agent.kill()
		api, agent = h.outside()
	}
	h.upkeep(in) // joins it, or runs again
	for _, id := range ids {
		h.nothingLeft(h.dial(), api, id)
	}
	if got := api.conversation(waits); got.PendingApproval == nil {
		t.Errorf("the one that waits: %+v", got)
	}
}

// Values of a deleted conversation go, those that another one shares stay.
func TestValuesThatNothingRefersToAreCollected(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.whole()
	long := func(text string) string {
		return fmt.Sprintf(`{"message":%q}`, "say "+strings.Repeat(text+" ", 20_000))
	}
	first := api.want(http.StatusCreated, "POST", "/conversations", long("shared")).Conversation.ID
	second := api.want(http.StatusCreated, "POST", "/conversations", long("shared")).Conversation.ID
	alone := api.want(http.StatusCreated, "POST", "/conversations", long("alone")).Conversation.ID
	before := h.blobs()
	days := func() {
		t.Helper()
		for _, path := range h.values() {
			old := time.Now().Add(-deletion.Grace - time.Hour)
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	days()
	if got := h.upkeep(deletion.UpkeepInput{Collect: true}); got.Collected == nil || got.Collected.Used < 2 {
		t.Errorf("with all of them: %+v", got.Collected)
	}
	api.delete(http.StatusOK, first, "")
	api.delete(http.StatusOK, alone, "")
	got := h.upkeep(deletion.UpkeepInput{Collect: true}).Collected
	if got.Discarded == 0 {
		t.Errorf("after the deletion: %+v of %d", got, before)
	}
	days()
	if got := h.upkeep(deletion.UpkeepInput{Collect: true}).Collected; got.Removed == 0 {
		t.Errorf("a day later: %+v", got)
	}
	kept := api.conversation(second)
	n := len(kept.Messages)
	if n < 2 || !contains(kept.Messages[n-2].Content, "shared shared") || !contains(kept.Messages[n-1].Content, "shared shared") {
		t.Errorf("the one that shares a value: %d messages", n)
	}
}

// values returns the files of the blob store.
func (h *home) values() (paths []string) {
	h.t.Helper()
	root := filepath.Join(h.dir, "data", "blobs")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return paths
}
