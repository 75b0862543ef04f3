package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/config/feed/feedtest"
	"agent-stop-and-go/config/keyring"
	"agent-stop-and-go/workflows/contract"
)

// farName is the prefix of the names of users of far ends.
const farName = "far-user"

// farUser is a user who asks for a strike, by a tool or by another agent.
type farUser struct {
	name, id string
	grants   int  // approved calls and delegations
	again    int  // calls of unknown outcome that a decision repeated
	yes, no  int  // approvals that another agent requested, approved or rejected
	task     bool // whether it is an A2A task
	decided  map[string]bool
}

// far has the unreliable far ends of an agent in the chaos. Every credential for them has a
// canary.
type far struct {
	*chaos
	dice  *dice
	tools *liar
	peer  *forgetter
	birds *aviary

	mu    sync.Mutex
	users []*farUser
	hook  string
	hooks int // number of requests to the webhook
}

// newFar creates the far ends of the chaos, before the agent starts.
func newFar(c *chaos, seed uint64) *far {
	d := &dice{r: rand.New(rand.NewPCG(seed, 200))}
	f := &far{chaos: c, dice: d, tools: newLiar(c.t, d), peer: newForgetter(c.t, d), birds: &aviary{}}
	hook := httptest.NewServer(http.HandlerFunc(f.webhook))
	c.t.Cleanup(hook.Close)
	f.hook = lineTo(c.t, d, 6, hook.URL)
	c.model.Always(moody(d))
	self, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	redis := feedtest.NewServer(c.t, canary("redis"))
	sealing := base64.StdEncoding.EncodeToString([]byte(canary("sealing-key"))[:32])
	c.more = map[string]string{
		keyring.Variable: "k1:" + sealing,
		"OPENAI_API_KEY": canary("model-key"), "OPENAI_BASE_URL": lineTo(c.t, d, 20, c.model.URL()), "MODEL_HEADER": canary("model-header"),
		"TOOL_KEY": canary("tool-header"), "CHILD_TOKEN": canary("child"), "PEER_KEY": canary("peer-header"), "PUSH_KEY": canary("push-signing-key"),
		"FEED": strings.Replace(redis.URL(), canary("redis"), url.QueryEscape(canary("redis")), 1),
	}
	c.served += fmt.Sprintf("  - {name: far, url: %q, timeout: 2s, headers: {X-Api-Key: \"${TOOL_KEY}\"}}\n", lineTo(c.t, d, 12, f.tools.URL)+"/mcp?api_key="+canary("tool-query"))
	c.served += fmt.Sprintf("  - {name: child, command: %q, env: {%s: \"1\", CHAOS_TOKEN: \"${CHILD_TOKEN}\"}}\n", self, childMarker)
	c.llm = `{model: far}`
	c.extra += "models:\n  far: {provider: openai, model: test-model, timeout: 5s, headers: {X-Model-Key: \"${MODEL_HEADER}\"}}\n" +
		fmt.Sprintf("a2a:\n  - {name: far, url: %q, destructiveHint: true, timeout: 1m, headers: {X-Peer-Key: \"${PEER_KEY}\"}}\n",
			lineTo(c.t, d, 12, f.peer.URL)+"/a2a?token="+canary("peer-query")) +
		"push: {allow_loopback: true, signing_key: \"${PUSH_KEY}\"}\nevents: {redis: \"${FEED}\"}\n"
	return f
}

// begin starts the failures. From now on every reply of the API is searched.
func (f *far) begin() {
	f.api.http.Transport = f.birds
	f.dice.last(time.Now(), f.end)
}

// webhook echoes the credentials of its requests.
func (f *far) webhook(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.hooks++
	f.mu.Unlock()
	if !f.dice.trouble(2) {
		return
	}
	lies[f.dice.roll(len(lies))].tell(w, json.RawMessage("1"), secretsOf(r), func() {})
}

// visit asks for a strike and decides its approvals, until there is an answer or the user
// leaves.
func (f *far) visit(r *rand.Rand, name string) {
	u := &farUser{name: farName + name, decided: map[string]bool{}}
	task := `call strike {"name":"` + u.name + `"}`
	switch r.IntN(8) {
	case 0, 1, 2, 3:
		task = delegating("far", u.name)
	case 4:
		task = `call whisper {"name":"` + u.name + `"}`
	}
	if !f.ask(r, u, task) {
		return
	}
	f.mu.Lock()
	f.users = append(f.users, u)
	f.mu.Unlock()
	if r.IntN(10) == 0 {
		for _, path := range []string{"/tools", "/health/ready", "/approvals", "/.well-known/agent-card.json"} {
			_, _ = f.api.try("GET", path, "") // the transport searches the reply
		}
	}
	for range 10 {
		p := f.asked(u)
		if p == nil || !f.answer(r, u, p) {
			return
		}
	}
}

// ask starts the conversation, by REST or as an A2A task with a webhook.
func (f *far) ask(r *rand.Rand, u *farUser, task string) bool {
	bearer := "Authorization: Bearer " + canary("requester")
	if r.IntN(4) > 0 {
		reply, ok := f.insist("POST", "/conversations", messageJSON(task), "Idempotency-Key: "+u.name, bearer)
		u.id = conversationOf(reply)
		return ok
	}
	push := map[string]any{"url": f.hook, "token": canary("push-token"),
		"authentication": map[string]any{"scheme": "Bearer", "credentials": canary("push-credentials")}}
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": map[string]any{
		"message":       map[string]any{"messageId": u.name, "role": "ROLE_USER", "parts": []any{map[string]any{"text": task}}},
		"configuration": map[string]any{"returnImmediately": true, "taskPushNotificationConfig": push},
	}})
	if err != nil {
		f.t.Error(err)
		return false
	}
	for time.Now().Before(f.end.Add(patience)) {
		reply, ok := f.insist("POST", "/a2a", string(request), "A2A-Version: 1.0", bearer)
		var out struct {
			Result struct{ Task struct{ ID string } }
			Error  struct{ Code int }
		}
		if ok && json.Unmarshal([]byte(reply.Raw), &out) == nil && out.Result.Task.ID != "" {
			u.id, u.task = out.Result.Task.ID, true
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.t.Errorf("%s is never accepted over A2A", u.name)
	return false
}

// asked returns the next pending approval of a conversation, or nil if it is at rest.
func (f *far) asked(u *farUser) *approval {
	for time.Now().Before(f.end) {
		r, ok := f.insist("GET", "/conversations/"+u.id+"?include=messages", "")
		c := r.Body.Conversation
		switch p := c.PendingApproval; {
		case !ok || !c.AsOf.IsZero():
		case p != nil && !u.decided[p.UUID]:
			return p
		case p == nil && resting(c):
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// resting reports whether a conversation is at rest.
func resting(c conversation) bool {
	if c.Status == "completed" {
		return true
	}
	if len(c.Messages) == 0 || c.Status != "active" {
		return false
	}
	last := c.Messages[len(c.Messages)-1]
	return last.Role == "assistant" && last.ToolCall == nil && last.Content != "" && !strings.Contains(last.Content, "Approval UUID")
}

// answer decides an approval, and counts the recorded decision. It returns false if the user
// leaves.
func (f *far) answer(r *rand.Rand, u *farUser, p *approval) bool {
	bearer := "Authorization: Bearer " + canary("approver")
	votes := []string{fmt.Sprintf(`{"approved":%t,"by":%q}`, r.IntN(5) > 0, u.name)}
	doubt := strings.Contains(p.Description, "OUTCOME UNKNOWN")
	switch {
	case doubt && r.IntN(5) == 0:
		return false
	case doubt:
		votes = []string{[]string{`{"answer":"ran"}`, `{"answer":"ran"}`, `{"approved":true}`, `{"approved":false,"reason":"enough"}`}[r.IntN(4)]}
	case r.IntN(4) == 0:
		votes = append(votes, fmt.Sprintf(`{"approved":%t,"by":"another"}`, r.IntN(2) > 0))
	}
	var all sync.WaitGroup
	for _, vote := range votes {
		all.Go(func() { f.insist("POST", "/approvals/"+p.UUID, vote, bearer) })
	}
	all.Wait()
	u.decided[p.UUID] = true
	decision := f.recorded(p.UUID)
	u.count(p.Description, decision == "approved", votes[0] == `{"answer":"ran"}`)
	return decision != ""
}

// recorded returns the decision that counts.
func (f *far) recorded(uuid string) string {
	for time.Now().Before(f.end.Add(patience)) {
		r, ok := f.insist("GET", "/approvals/"+uuid, "")
		if ok && r.Body.Decision.Decision != "" {
			return r.Body.Decision.Decision
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.t.Errorf("the approval %s has been answered and is never decided", uuid)
	return ""
}

// count counts a decision. An approval that is requested again, because its call was not made
// or its decision was not delivered, grants nothing new.
func (u *farUser) count(asked string, approved, ran bool) {
	switch {
	case strings.Contains(asked, "OUTCOME UNKNOWN"):
		if approved && !ran {
			u.again++
		}
	case strings.Contains(asked, "PROXY APPROVAL") && approved:
		u.yes++
		if strings.Contains(asked, "ASKED AGAIN") {
			u.again++
		}
	case strings.Contains(asked, "PROXY APPROVAL"):
		u.no++
	case approved && !strings.Contains(asked, "NOT REACHED") && !strings.Contains(asked, "CHANGED SINCE IT WAS APPROVED"):
		u.grants++
	}
}

// judge checks every user, and then searches for canaries.
func (f *far) judge(t *testing.T, c client.Client) {
	t.Helper()
	var sum farUser
	doubts, done := 0, 0
	for _, u := range f.users {
		said := f.judgeOne(t, c, u)
		if strings.Contains(said, "OUTCOME UNKNOWN") {
			doubts++
		}
		done += f.tools.of(u.name) + f.peer.of(u.name)
		sum.grants, sum.again, sum.yes, sum.no = sum.grants+u.grants, sum.again+u.again, sum.yes+u.yes, sum.no+u.no
		if u.task {
			_, _ = f.api.try("POST", "/a2a", `{"jsonrpc":"2.0","id":1,"method":"ListTaskPushNotificationConfigs","params":{"taskId":"`+u.id+`"}}`, "A2A-Version: 1.0")
		}
	}
	for _, path := range []string{"/conversations?include=messages", "/approvals", "/tools", "/health/ready", "/mcp/resources", "/mcp/prompts", "/a2a"} {
		_, _ = f.api.try("GET", path, "") // the transport searches the reply
	}
	f.birds.search(t, f.dir, c)
	t.Logf("%d users of far ends (A2A %s): %d calls approved, %d strikes, %d with an outcome unknown, %d made again; "+
		"%d asked by another agent said yes, %d no; %d notifications; looked for secrets in %d places",
		len(f.users), f.peer.dialect, sum.grants, done, doubts, sum.again, sum.yes, sum.no, f.hooks, f.birds.seen)
}

// judgeOne waits until a conversation is at rest, checks it, and returns its text.
func (f *far) judgeOne(t *testing.T, c client.Client, u *farUser) string {
	t.Helper()
	var rest conversation
	eventually(t, u.name+" is at rest", func() bool {
		r, ok := f.insist("GET", "/conversations/"+u.id+"?include=messages", "")
		rest = r.Body.Conversation
		return ok && rest.AsOf.IsZero() && (rest.PendingApproval != nil || resting(rest))
	})
	struck, story, results := f.tools.of(u.name)+f.peer.of(u.name), storyOf(rest), resultsOf(rest)
	says := func(format string, args ...any) {
		t.Errorf("%s: "+format+", %+v\n%s", append(append([]any{u.name}, args...), *u, story)...)
		t.Logf("what the far ends were asked:\n%s\n%s\nthe last run:", f.tools.notes(u.name), f.peer.notes(u.name))
		for _, e := range historyOf(t, c, contract.ConversationWorkflowID(u.id), "").Events {
			t.Logf("%.3000s", readable(e))
		}
	}
	switch {
	case struck > u.grants+u.again:
		says("it was done %d times, and approved %d times", struck, u.grants+u.again)
	case struck > 0 && !strings.Contains(results, "struck "+u.name) && !strings.Contains(results, "could not strike") && !strings.Contains(story, "OUTCOME UNKNOWN"):
		says("it was done %d times, and nobody is told", struck)
	case struck == 0 && strings.Contains(results, "struck "+u.name):
		says("it was not done, and the record says that it was")
	case struck == 0 && u.grants > 0 && rest.PendingApproval == nil && results == "" && !strings.Contains(story, "cancelled by user"):
		says("it was approved, not done, and nobody is told")
	}
	f.compareTold(t, u)
	asked := 0
	for _, m := range rest.Messages {
		if m.Role == "user" && strings.HasPrefix(m.Content, "call ") {
			asked++
		}
	}
	if asked != 1 {
		says("the message is there %d times", asked)
	}
	f.compareFarFile(t, u)
	return story
}

// compareTold checks that another agent never received the opposite of the decision. The old
// dialect can end a task only with "rejected".
func (f *far) compareTold(t *testing.T, u *farUser) {
	t.Helper()
	f.peer.mu.Lock()
	defer f.peer.mu.Unlock()
	for _, task := range f.peer.tasks {
		if task.name != u.name {
			continue
		}
		told := strings.Join(task.told, ", ")
		if strings.Contains(told, "approved") && u.yes == 0 || strings.Contains(told, "rejected") && u.no == 0 && f.peer.dialect != "old" {
			t.Errorf("%s: the other agent was told %q: %+v", u.name, told, *u)
		}
	}
}

func (f *far) compareFarFile(t *testing.T, u *farUser) {
	t.Helper()
	eventually(t, u.name+" is in its file", func() bool {
		now, ok := f.insist("GET", "/conversations/"+u.id+"?include=messages", "")
		return ok && f.inFile(u.id, now.Body.Conversation)
	})
}

func storyOf(c conversation) string {
	text := c.Status
	for _, m := range c.Messages {
		text += "\n" + m.Role + " " + m.Content
		if call := m.ToolCall; call != nil {
			text += fmt.Sprintf(" %.100s %.300s → %.1000s %s", call.Name, call.Arguments, call.Result, call.Note)
		}
	}
	if c.PendingApproval != nil {
		text += "\npending: " + c.PendingApproval.Description
	}
	return text
}

// resultsOf returns the results of calls.
func resultsOf(c conversation) (text string) {
	for _, m := range c.Messages {
		if m.Role == "tool" && m.ToolCall != nil {
			text += m.ToolCall.Result + "\n"
		}
	}
	return text
}
