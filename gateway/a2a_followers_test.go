package gateway_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/workflows/contract"
)

// randomTask plays a random task step by step, and records what a stream has to send: the
// states, and the texts that come with them.
type randomTask struct {
	*script
	*rand.Rand
	feed   *feed
	want   []string
	open   []string // waiting approvals
	asked  int
	logins int
	first  string // the request that began it
	login  string // the request that waits for a login
}

const pleaseLogin = "Log in, please."

func newRandomTask(seed uint64) *randomTask {
	x := &randomTask{script: newScript(), Rand: rand.New(rand.NewPCG(seed, 1)), feed: &feed{}}
	x.exists = false
	x.onMessage = func(m contract.MessageSignal) {
		x.first = m.RequestID
		x.begin(m)
	}
	return x
}

// seeds returns random seeds, or the one in the environment variable STREAM_SEED, to repeat a
// failure.
func seeds(t *testing.T, n int) []uint64 {
	t.Helper()
	given := os.Getenv("STREAM_SEED")
	if given == "" {
		list := make([]uint64, n)
		for i := range list {
			list[i] = rand.Uint64()
		}
		return list
	}
	seed, err := strconv.ParseUint(given, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return []uint64{seed}
}

// play plays the task from the first message to the end.
func (x *randomTask) play() {
	for range 3 + x.IntN(12) {
		switch k := x.IntN(6); {
		case k == 0:
			x.remark()
		case k == 1:
			x.call()
		case k == 2 && len(x.open) < 3:
			x.ask()
		case k <= 4 && len(x.open) > 0:
			x.approve()
		case k == 5 && x.logins == 0 && len(x.open) == 0:
			x.wantLogin()
		}
	}
	for len(x.open) > 0 {
		x.approve()
	}
	x.finish()
}

// step changes the conversation. Followers get an event, or find out by reading.
func (x *randomTask) step(f func(*contract.ConversationView)) {
	now := x.write(func(v *contract.ConversationView) {
		v.UpdatedAt = v.UpdatedAt.Add(time.Second)
		f(v)
	})
	switch x.IntN(4) {
	case 0:
		x.feed.publish(contract.Event{})
	case 1:
		x.feed.publish(contract.Event{Settled: &now})
	}
	time.Sleep(time.Duration(x.IntN(600)) * time.Millisecond)
}

// says adds a message of the conversation and, unless state is "", the event that a stream
// must send for it.
func (x *randomTask) says(v *contract.ConversationView, m contract.Message, state string) {
	m.ID, m.CreatedAt = contract.MessageID(v.ID, len(v.Transcript.Tail)), v.UpdatedAt
	v.Transcript.Tail = append(v.Transcript.Tail, m)
	if state != "" {
		x.want = append(x.want, state+" "+m.Content.Inline)
	}
}

func (x *randomTask) state() string {
	if len(x.open) > 0 {
		return "input-required"
	}
	return "working"
}

func (x *randomTask) remark() {
	x.step(func(v *contract.ConversationView) {
		text := fmt.Sprintf("remark %d", len(v.Transcript.Tail))
		x.says(v, contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(text)}, x.state())
	})
	x.call() // the text preceded this call
}

func (x *randomTask) call() {
	for _, role := range []contract.Role{contract.RoleAssistant, contract.RoleTool} {
		x.step(func(v *contract.ConversationView) {
			x.says(v, contract.Message{Role: role, ToolCall: &contract.ToolCall{Name: "list"}}, "")
		})
	}
}

func (x *randomTask) ask() {
	x.asked++
	p := contract.PendingApproval{
		UUID: contract.NameUUID(someID, fmt.Sprint(x.asked)), ToolName: "drop", Description: "Drop?",
		ToolArgs: contract.JSON{Raw: json.RawMessage(`{"name":"all"}`)}, CreatedAt: epoch,
	}
	x.open = append(x.open, p.UUID)
	x.step(func(v *contract.ConversationView) {
		p.ConversationID = v.ID
		v.Pending, v.Running, v.Status = append(v.Pending, p), false, contract.StatusWaitingApproval
		x.says(v, contract.Message{Role: contract.RoleAssistant, Content: contract.Inline("Approval required " + p.UUID), Notice: true, ApprovalID: p.UUID}, x.state())
		x.settle(contract.Result{WaitingApproval: true})
	})
}

// settle answers the last message.
func (x *randomTask) settle(r contract.Result) {
	for _, id := range []string{x.first, x.login} {
		if _, settled := x.settled[id]; id != "" && !settled {
			x.settled[id] = contract.Request{ID: id, Settled: true, Result: &r}
		}
	}
}

func (x *randomTask) approve() {
	at := x.IntN(len(x.open))
	uuid := x.open[at]
	x.open = slices.Delete(x.open, at, at+1)
	x.step(func(v *contract.ConversationView) {
		v.Pending = slices.DeleteFunc(v.Pending, func(p contract.PendingApproval) bool { return p.UUID == uuid })
		if len(v.Pending) == 0 {
			v.Status, v.Running = contract.StatusActive, true
		}
		record := &contract.ApprovalResult{UUID: uuid, Decision: contract.Approved}
		x.says(v, contract.Message{Role: contract.RoleUser, Content: contract.Inline("[APPROVAL]: " + uuid), Approval: record, Notice: true}, x.state())
	})
}

// wantLogin ends the turn but not the task. The next message begins another turn.
func (x *randomTask) wantLogin() {
	x.logins++
	x.step(func(v *contract.ConversationView) {
		x.says(v, contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(pleaseLogin)}, "")
	})
	x.step(func(v *contract.ConversationView) {
		v.Running = false
		v.Last = &contract.LastTurn{Turn: 1, Outcome: contract.OutcomeFailed, AuthRequired: "list", Response: contract.Inline(pleaseLogin)}
		x.settle(contract.Result{AuthRequired: true})
	})
	x.step(func(v *contract.ConversationView) {
		v.Running = true
		x.says(v, contract.Message{Role: contract.RoleUser, Content: contract.Inline("I have."), DraftID: "m-login"}, "")
	})
	x.call()
}

// finish records the reply before the task ends.
func (x *randomTask) finish() {
	outcome, states := contract.OutcomeDone, []string{"artifact", "completed"}
	switch x.IntN(4) {
	case 0:
		outcome, states = contract.OutcomeFailed, []string{"failed"}
	case 1:
		outcome, states = contract.OutcomeRejected, []string{"rejected"}
	}
	const reply = "This is all."
	x.step(func(v *contract.ConversationView) {
		x.says(v, contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(reply)}, "")
	})
	x.step(func(v *contract.ConversationView) {
		v.Running, v.Status = false, contract.StatusCompleted
		v.Last = &contract.LastTurn{Turn: 2, Outcome: outcome, Response: contract.Inline(reply)}
		x.settle(contract.Result{Response: contract.Inline(reply)})
	})
	for _, state := range states {
		if state != "completed" {
			state += " " + reply
		}
		x.want = append(x.want, state)
	}
}

func (x *randomTask) api(t *testing.T) *api {
	return newAPI(t, x.backend(), withFeed(x.feed), func(d *gateway.Deps) { d.RequestTimeout = time.Hour })
}
