package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
)

// streamSeed returns a random seed, or that of the environment variable STREAM_SEED, to repeat
// a failed run.
func streamSeed(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if given := os.Getenv("STREAM_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("STREAM_SEED=%d", seed)
	return seed
}

// audience has a hundred readers of several tasks, and decides their approvals.
type audience struct {
	t       *testing.T
	api     *api
	seed    uint64
	jobs    []*job
	readers []*reader
	again   chan struct{} // closed when the agent has been restarted after the kill

	mu   sync.Mutex
	held map[string]bool // jobs that wait for the restart
}

func newAudience(t *testing.T, a *api, seed uint64) *audience {
	c := &audience{t: t, api: a, seed: seed, again: make(chan struct{}), held: map[string]bool{}}
	for i, steps := range []string{
		"look", "tell,look,tell", "tell,add,look,hold", "two,tell,hold,tell,look", "hold,no",
		"look,look,tell,hold,two,tell", "add,hold,add,tell", "tell,hold,look,no", "tell",
	} {
		c.jobs = append(c.jobs, &job{name: fmt.Sprintf("j%d", i), steps: strings.Split(steps, ",")})
	}
	return c
}

// begin sends the message of a job and starts its readers at random times, with all methods.
func (c *audience) begin(j *job, readers int, running *sync.WaitGroup) {
	params := map[string]any{
		"message":       map[string]any{"messageId": j.name, "role": "ROLE_USER", "parts": []any{map[string]any{"text": j.text()}}},
		"configuration": map[string]any{"returnImmediately": true},
	}
	eventually(c.t, j.name+" has begun", func() bool {
		var got struct {
			Result struct{ Task struct{ ID string } }
		}
		raw, err := c.post("SendMessage", params)
		if err == nil {
			err = json.Unmarshal(raw, &got)
		}
		if err != nil || got.Result.Task.ID == "" {
			c.t.Logf("%s: %v: %s", j.name, err, raw)
		}
		j.id = got.Result.Task.ID
		return j.id != ""
	})
	for range readers {
		n := len(c.readers)
		r := &reader{t: c.t, base: c.api.base, Rand: rand.New(rand.NewPCG(c.seed, uint64(n))), job: j, v03: n%2 == 0, sends: n%3 == 0}
		c.readers = append(c.readers, r)
		running.Go(func() {
			time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
			r.follow()
		})
	}
	running.Go(func() { c.decide(j, rand.New(rand.NewPCG(c.seed, uint64(1000+len(c.readers))))) })
}

// decide decides the approvals of a job, by REST or A2A, until it has ended. Requests that fail
// because the agent is down are repeated.
func (c *audience) decide(j *job, random *rand.Rand) {
	given, deadline := 0, time.Now().Add(patience)
	for ; time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		r, err := c.api.try("GET", "/conversations/"+j.id, "")
		now := r.Body.Conversation
		switch {
		case err != nil || r.Status != http.StatusOK:
			continue
		case now.Status == string(contract.StatusCompleted):
			return
		case now.PendingApproval == nil:
			continue
		}
		time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
		if step := j.step(given); step == "hold" {
			c.hold(j)
			c.give(j, *now.PendingApproval, true, random.IntN(2) == 0)
		} else {
			c.give(j, *now.PendingApproval, step != "no", random.IntN(2) == 0)
		}
		if c.settled(j, now.PendingApproval.UUID) {
			given++
		}
	}
	c.t.Errorf("%s is not over", j.name)
}

func (c *audience) hold(j *job) {
	c.mu.Lock()
	c.held[j.name] = true
	c.mu.Unlock()
	<-c.again
}

// settled waits until an approval is no longer pending.
func (c *audience) settled(j *job, uuid string) bool {
	r, err := c.api.try("GET", "/conversations/"+j.id, "")
	return err == nil && r.Status == http.StatusOK &&
		!slices.ContainsFunc(r.Body.Conversation.PendingApprovals, func(a approval) bool { return a.UUID == uuid })
}

// give sends a decision, if the agent is up.
func (c *audience) give(j *job, a approval, yes, rest bool) {
	var err error
	if rest {
		_, err = c.api.try("POST", "/approvals/"+a.UUID, fmt.Sprintf(`{"approved":%t}`, yes))
	} else {
		answer := map[string]any{"type": contract.TypeApprovalAnswer, "uuid": a.UUID, "approved": yes}
		_, err = c.post("SendMessage", map[string]any{"message": map[string]any{
			"messageId": "answer " + a.UUID, "role": "ROLE_USER", "taskId": j.id, "parts": []any{map[string]any{"data": answer}},
		}})
	}
	if err != nil {
		c.t.Logf("%s: %v", j.name, err)
	}
}

// post calls a method and returns its response or error.
func (c *audience) post(method string, params any) ([]byte, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	res, err := c.api.http.Post(c.api.base+"/a2a", "application/json", strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

// TestAHundredReadersOfTasksMissAndDoubleNothing: A2A streams break at random moments, and the
// agent is killed in between. Readers resume after their last event, and in the end all have
// received the same events.
func TestAHundredReadersOfTasksMissAndDoubleNothing(t *testing.T) {
	t.Parallel()
	seed := streamSeed(t)
	h := newHome(t)
	h.model.Always(laborer)
	api, agent := h.outside()
	begun := time.Now()
	c := newAudience(t, api, seed)
	var running sync.WaitGroup
	last := len(c.jobs) - 1
	for _, j := range c.jobs[:last] {
		c.begin(j, 12, &running)
	}
	holding := 0
	for _, j := range c.jobs {
		if slices.Contains(j.steps, "hold") {
			holding++
		}
	}
	eventually(t, "all tasks are over or wait", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.held) == holding
	})
	time.Sleep(time.Duration(rand.New(rand.NewPCG(seed, 999)).IntN(300)) * time.Millisecond)
	agent.kill()
	t.Logf("killed after %s", time.Since(begun))
	h.outside()
	close(c.again)
	c.begin(c.jobs[last], 4, &running)
	running.Wait()
	t.Logf("over after %s", time.Since(begun))
	c.judge()
	for name, n := range h.tools.additions() {
		if n != 1 {
			t.Errorf("%s was added %d times", name, n)
		}
	}
}

// additions returns the number of times that each note was added.
func (s *tools) additions() map[string]int {
	out := map[string]int{}
	for _, c := range s.called("note_add") {
		out[fmt.Sprint(c.Args["name"])]++
	}
	return out
}

// judge compares the events of the readers.
func (c *audience) judge() {
	cuts, late := 0, 0
	for _, j := range c.jobs {
		all := map[bool][]taskEvent{}
		for _, v03 := range []bool{false, true} {
			all[v03] = (&reader{t: c.t, base: c.api.base, v03: v03, job: j}).all()
			var briefs []string
			for _, e := range all[v03] {
				briefs = append(briefs, e.brief())
			}
			if diff := cmp.Diff(j.want(), briefs); diff != "" {
				c.t.Errorf("%s (-want +got):\n%s", j.name, diff)
			}
		}
		c.agrees(j, all[false])
		for i, r := range c.readers {
			if r.job != j {
				continue
			}
			if err := r.check(all[r.v03]); err != nil {
				c.t.Errorf("reader %d of %s: %v", i, j.name, err)
			}
			for _, refused := range r.refused {
				c.t.Logf("reader %d of %s: %s", i, j.name, refused)
			}
			if cuts += r.cuts; len(r.got) == 0 {
				late++
			}
		}
	}
	c.t.Logf("streams broke %d times, %d of %d readers came too late", cuts, late, len(c.readers))
	if cuts < 2*len(c.readers) || late > len(c.readers)/3 { // tasks without approvals have fewer
		c.t.Error("that is no proof")
	}
}

// agrees requires that the task matches its streams.
func (c *audience) agrees(j *job, all []taskEvent) {
	got := c.api.rpc("GetTask", map[string]any{"id": j.id})
	raw, err := json.Marshal(got.at("result"))
	if err != nil {
		c.t.Fatal(err)
	}
	task, err := readEvent("-", "task", raw)
	if err != nil {
		c.t.Fatal(err)
	}
	last := all[len(all)-1]
	if task.state != last.state || task.text != last.text {
		c.t.Errorf("%s is %s, and its streams end with %s", j.name, task.brief(), last.brief())
	}
	for _, e := range all {
		if !e.within(task) || e.kind == "artifact-update" && !strings.Contains(got.raw, `"text":"`+e.text+`"`) {
			c.t.Errorf("%s was told, and is not in the task %s", e.brief(), got.raw)
		}
	}
}

// TestASubscriberIsToldWhatLasts: a turn is cancelled while its last step is being recorded, so
// its outcome differs from what the agent has already read.
func TestASubscriberIsToldWhatLasts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.outside()
	got := api.rpc("SendMessage", map[string]any{"message": map[string]any{
		"messageId": "m-1", "role": "ROLE_USER", "parts": []any{map[string]any{"text": `call note_add {"name":"x"}`}},
	}})
	id, _ := got.at("result", "task", "id").(string)
	asked := api.conversation(id).PendingApproval
	file := filepath.Join(h.dir, "data", "conversation_"+id+".json")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil { // opening it blocks
		t.Fatal(err)
	}
	r := &reader{t: t, base: api.base, job: &job{id: id}}
	var following sync.WaitGroup
	following.Go(r.followToTheEnd)
	go api.try("POST", "/approvals/"+asked.UUID, `{"approved":true}`)
	eventually(t, "the tool was called", func() bool { return len(h.tools.called("note_add")) == 1 })
	eventually(t, "the model was told", func() bool { return h.model.Served() == 2 })
	time.Sleep(300 * time.Millisecond) // until the file is opened
	cancelled := make(chan error, 1)
	go func() {
		_, err := api.try("POST", "/conversations/"+id+"/cancel", "")
		cancelled <- err
	}()
	time.Sleep(300 * time.Millisecond) // until the request has arrived
	eventually(t, "the file is written", func() bool {
		f, err := os.OpenFile(file, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			err = f.Close()
		}
		info, statErr := os.Stat(file)
		return err == nil && statErr == nil && info.Mode().IsRegular()
	})
	if err := <-cancelled; err != nil {
		t.Fatal(err)
	}
	following.Wait()
	last := r.got[len(r.got)-1]
	if state := api.rpc("tasks/get", map[string]any{"id": id}).at("result", "status", "state"); state != last.state {
		t.Errorf("the task is %v, and the subscriber was told %v", state, lines(r.got))
	}
}
