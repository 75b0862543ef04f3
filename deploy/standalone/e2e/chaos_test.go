package e2e_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/workflows/contract"
)

// For manual runs: make chaos, or make chaos CHAOS=10m SEED=(the seed of a failed run).
var (
	chaosTime = flag.Duration("chaos", 12*time.Second, "how long chaos lasts")
	chaosFar  = flag.Bool("far", false, "whether there are users of far ends that lie and forget")
	chaosSeed = flag.Uint64("seed", 0, "of the chaos; 0 is a new one")
	chaosMode = flag.String("mode", "", "execution of the agents under chaos: regular, auto, lean; else the seed draws one")
)

// A user asks for one destructive call and decides about it.
type user struct {
	name     string // argument of the tool
	id       string // ID of the conversation
	decision string // recorded decision of its first approval; "" without one
	hands    bool   // an operator has reset or terminated the conversation
}

// chaos has many users, an agent that is killed, and a tool server that fails.
type chaos struct {
	*home
	api *api
	end time.Time

	mu    sync.Mutex
	users []*user
}

// drawMode draws how an agent runs its calls, and returns that line of its file.
func drawMode(t *testing.T, r *rand.Rand) string {
	t.Helper()
	drawn := []contract.Execution{contract.ExecutionRegular, contract.ExecutionAuto, contract.ExecutionLean}[r.IntN(3)]
	line := "execution: " + cmp.Or(*chaosMode, string(drawn))
	t.Log(line)
	return line + "\n"
}

// Under all failures, an approved call runs once or its outcome is reported as unknown, a call
// that was not approved never runs, and every accepted message has an answer or a pending
// approval.
func TestChaos(t *testing.T) {
	t.Parallel()
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("SEED=%d", seed)
	c := &chaos{home: newHome(t)}
	c.extra = drawMode(t, rand.New(rand.NewPCG(seed, 400)))
	far := newFar(c, seed)
	_, agent := c.outside()
	c.api = newAPI(t, fmt.Sprintf("http://127.0.0.1:%d", c.ports.api))
	c.api.http.Timeout = 10 * time.Second
	c.end = time.Now().Add(*chaosTime)
	far.begin()
	var crowd sync.WaitGroup
	strangers := uint64(0)
	if *chaosFar {
		strangers = 8
	}
	for n := range strangers {
		crowd.Go(func() {
			r := rand.New(rand.NewPCG(seed, 300+n))
			for i := 0; time.Now().Before(c.end); i++ {
				far.visit(r, fmt.Sprintf("-%d-%d", n, i))
			}
		})
	}
	for n := range uint64(4) {
		crowd.Go(func() {
			r := rand.New(rand.NewPCG(seed, n))
			for i := 0; time.Now().Before(c.end); i++ {
				c.visit(r, fmt.Sprintf("user-%d-%d", n, i))
			}
		})
	}
	kills := 0
	for r := rand.New(rand.NewPCG(seed, 100)); time.Now().Before(c.end); kills++ {
		time.Sleep(time.Duration(500+r.IntN(2500)) * time.Millisecond)
		if r.IntN(3) == 0 {
			c.tools.breakDown(true)
			time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
		}
		agent.kill()
		_, agent = c.outside()
		c.tools.breakDown(false)
	}
	crowd.Wait()
	doubts := 0
	for _, u := range c.users {
		doubts += c.judge(t, u)
	}
	far.judge(t, c.dial())
	t.Logf("%d conversations, %d kills, %d outcomes unknown", len(c.users), kills, doubts)
}

// visit sends a message and decides its approval. Sometimes an operator interferes. Requests
// are repeated until they have a response.
func (c *chaos) visit(r *rand.Rand, name string) {
	u := &user{name: name}
	asked, ok := c.insist("POST", "/conversations", messageJSON(`call tick {"name":"`+name+`"}`), "Idempotency-Key: "+name)
	if !ok {
		return
	}
	if r.IntN(3) == 0 { // repeats the request
		again, ok := c.insist("POST", "/conversations", messageJSON(`call tick {"name":"`+name+`"}`), "Idempotency-Key: "+name)
		if ok && conversationOf(again) != conversationOf(asked) {
			c.t.Errorf("%s: two conversations, %s and %s", name, again.Raw, asked.Raw)
		}
	}
	u.id = conversationOf(asked)
	c.mu.Lock()
	c.users = append(c.users, u)
	c.mu.Unlock()
	p := c.awaitApproval(u.id)
	if p == nil {
		return
	}
	c.decideAtOnce(r, p.UUID, u)
	if r.IntN(4) == 0 {
		c.layHands(r, u)
		c.goOn(r, u)
	}
}

// goOn approves what a conversation asks again after a reset. For a call of unknown outcome it
// answers that it ran, or leaves it undecided.
func (c *chaos) goOn(r *rand.Rand, u *user) {
	for range 3 {
		reply, ok := c.insist("GET", "/conversations/"+u.id+"?include=messages", "")
		p := reply.Body.Conversation.PendingApproval
		switch {
		case !ok || p == nil:
			return
		case !strings.Contains(p.Description, "OUTCOME UNKNOWN"):
			c.insist("POST", "/approvals/"+p.UUID, `{"approved":true}`)
		case r.IntN(2) == 0:
			c.insist("POST", "/approvals/"+p.UUID, `{"answer":"ran"}`)
		default:
			return
		}
	}
}

// conversationOf returns the ID of a reply's conversation.
func conversationOf(r reply) string {
	var out struct {
		ConversationID string `json:"conversation_id"`
	}
	if r.Body.Conversation.ID != "" {
		return r.Body.Conversation.ID
	}
	_ = json.Unmarshal([]byte(r.Raw), &out) // failure messages contain the raw reply
	return out.ConversationID
}

// insist repeats a request until it has a response, or until some time after the chaos.
func (c *chaos) insist(method, path, content string, headers ...string) (reply, bool) {
	for time.Now().Before(c.end.Add(patience)) {
		r, err := c.api.try(method, path, content, headers...)
		if err == nil && r.Status < http.StatusInternalServerError {
			return r, true
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.t.Errorf("%s %s is never answered", method, path)
	return reply{}, false
}

func (c *chaos) awaitApproval(id string) *approval {
	for time.Now().Before(c.end) {
		r, ok := c.insist("GET", "/conversations/"+id+"?include=messages", "")
		if ok && r.Body.Conversation.PendingApproval != nil && r.Body.Conversation.AsOf.IsZero() {
			return r.Body.Conversation.PendingApproval
		}
		if ok && resting(r.Body.Conversation) { // its model could not be reached
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// decideAtOnce sends up to three concurrent decisions. The record has the one that counts.
func (c *chaos) decideAtOnce(r *rand.Rand, uuid string, u *user) {
	var votes sync.WaitGroup
	for range 1 + r.IntN(3) {
		answer := fmt.Sprintf(`{"approved":%t,"by":%q}`, r.IntN(4) > 0, u.name)
		votes.Go(func() { c.insist("POST", "/approvals/"+uuid, answer) })
	}
	votes.Wait()
	if record, ok := c.insist("GET", "/approvals/"+uuid, ""); ok {
		u.decision = record.Body.Decision.Decision
	}
}

// layHands resets or terminates the conversation as an operator.
func (c *chaos) layHands(r *rand.Rand, u *user) {
	u.hands = true
	lazy, err := client.NewLazyClient(client.Options{HostPort: fmt.Sprintf("127.0.0.1:%d", c.ports.grpc), Logger: quiet{}})
	if err != nil {
		c.t.Error(err)
		return
	}
	defer lazy.Close()
	o := operator{c.t, lazy}
	if r.IntN(3) == 0 {
		_ = o.TerminateWorkflow(c.t.Context(), contract.ConversationWorkflowID(u.id), "", "chaos") // the server may be down
		return
	}
	_ = o.tryReset(contract.ConversationWorkflowID(u.id), true) // likewise
}

// judge waits until a conversation is at rest and checks it. It returns the number of its calls
// with an unknown outcome.
func (c *chaos) judge(t *testing.T, u *user) (doubts int) {
	t.Helper()
	var rest conversation
	eventually(t, u.name+" is at rest", func() bool {
		r, ok := c.insist("GET", "/conversations/"+u.id+"?include=messages", "")
		rest = r.Body.Conversation
		return ok && rest.AsOf.IsZero() && (rest.PendingApproval != nil || rest.Status == "completed" || answers(rest) > 0 && c.settled(u.id))
	})
	ran := c.tools.counts()[u.name]
	unknown := strings.Contains(strings.Join(rest.texts(), "\n"), "OUTCOME UNKNOWN")
	switch {
	case ran > 1:
		t.Errorf("%s: the tool ran %d times: %v", u.name, ran, rest.texts())
	case u.decision != "approved" && !u.hands && ran > 0:
		t.Errorf("%s: it was %q, and the tool ran", u.name, u.decision)
	case u.decision == "approved" && !u.hands && ran == 0 && !unknown && rest.PendingApproval == nil:
		t.Errorf("%s: it was approved, did not run, and nobody is asked: %v", u.name, rest.texts())
	}
	asked := 0
	for _, m := range rest.Messages {
		if m.Role == "user" && strings.Contains(m.Content, u.name) && strings.HasPrefix(m.Content, "call ") {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("%s: the message is there %d times", u.name, asked)
	}
	c.compareFile(t, u, rest)
	if unknown {
		doubts = 1
	}
	return doubts
}

func answers(c conversation) (n int) {
	for _, m := range c.Messages {
		if m.Role == "assistant" && m.Content != "" {
			n++
		}
	}
	return n
}

// settled reports whether a conversation is at rest after a decision.
func (c *chaos) settled(id string) bool {
	r, ok := c.insist("GET", "/conversations/"+id+"?include=messages", "")
	if !ok || len(r.Body.Conversation.Messages) == 0 {
		return false
	}
	last := r.Body.Conversation.Messages[len(r.Body.Conversation.Messages)-1]
	return r.Body.Conversation.Status == "active" && last.Role == "assistant" && !strings.Contains(last.Content, "requires approval")
}

// compareFile waits until the exported file has the same content as the API.
func (c *chaos) compareFile(t *testing.T, u *user, want conversation) {
	t.Helper()
	if u.hands { // terminated conversations are no longer exported
		return
	}
	eventually(t, u.name+" is in its file", func() bool { return c.inFile(u.id, want) })
}

// inFile reports whether the exported file of a conversation has the same content as the API.
func (c *chaos) inFile(id string, want conversation) bool {
	data, err := os.ReadFile(filepath.Join(c.dir, "data", "conversation_"+id+".json"))
	var got conversation
	return err == nil && json.Unmarshal(data, &got) == nil && got.Status == want.Status && slices.Equal(got.texts(), want.texts())
}
