package e2e_test

import (
	"fmt"
	"sync"
	"testing"
)

// At most ten workflows of 50 conversations and their approvals are in memory.
func TestConversationsThatWereEvictedAnswerAndGoOn(t *testing.T) {
	t.Parallel()
	const count = 50
	h := newHome(t)
	h.cache = 10
	api, _ := h.outside()
	asked := make([]body, count)
	together(count, func(i int) { asked[i] = api.ask(fmt.Sprintf(`call note_add {"name":"item-%d"}`, i)) })
	for i, a := range asked {
		if c := api.conversation(a.Conversation.ID); c.PendingApproval == nil || c.PendingApproval.UUID != a.Result.Approval.UUID {
			t.Fatalf("conversation %d waits for %+v", i, c.PendingApproval)
		}
	}
	together(count, func(i int) {
		done := api.decide(asked[i].Result.Approval.UUID, `{"approved":true}`)
		if want := fmt.Sprintf("The tool said: added item-%d", i); done.Result.Response != want {
			t.Errorf("approval %d: %+v, want %s", i, done.Result, want)
		}
	})
	calls := map[any]int{}
	for _, c := range h.tools.called("note_add") {
		calls[c.Args["name"]]++
	}
	for i := range count {
		name := fmt.Sprintf("item-%d", i)
		if calls[name] != 1 {
			t.Errorf("%s was added %d times", name, calls[name])
		}
		if c := api.conversation(asked[i].Conversation.ID); c.PendingApproval != nil || c.Messages[len(c.Messages)-1].Content != "The tool said: added "+name {
			t.Errorf("conversation %d afterwards: %+v", i, c)
		}
	}
	if again := api.say(asked[0].Conversation.ID, "say hello"); again.Result.Response != "hello" {
		t.Errorf("the next turn of an evicted conversation: %+v", again.Result)
	}
}

// together calls f for each number below count, several concurrently.
func together(count int, f func(int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i := range count {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	all.Wait()
}
