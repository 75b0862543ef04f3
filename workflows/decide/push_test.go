package decide_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

func items(states ...contract.TaskState) (out []contract.PushItem) {
	for _, s := range states {
		out = append(out, contract.PushItem{ID: string(s), State: contract.PushState{State: s}})
	}
	return out
}

func TestNewsGivesWayToNewerNewsUnlessItIsFinal(t *testing.T) {
	const working, asks, done = contract.TaskWorking, contract.TaskInputRequired, contract.TaskCompleted
	for _, c := range []struct {
		name        string
		queue, want []contract.PushItem
		next        contract.TaskState
	}{
		{"nothing waits", nil, items(working), working},
		{"a state that has passed", items(working), items(asks), asks},
		{"the last state of all", items(asks), items(done), done},
		{"a final state is always told", items(done), items(done, working), working},
		{"and what came after it gives way", items(done, working), items(done, asks), asks},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(c.queue)
			got := decide.QueueNotification(c.queue, items(c.next)[0])
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(c.queue) != before {
				t.Error("the queue that was given has changed")
			}
		})
	}
}
