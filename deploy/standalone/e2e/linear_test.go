package e2e_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"agent-stop-and-go/deploy/standalone/e2e/linear"
)

// For longer runs: make linear LINEAR=5m SEED=(the seed of a failed run).
var linearTime = flag.Duration("linear", 8*time.Second, "how long people decide while the agent is killed")

// round is one call that asks people, who all act at once. Their names end in its own.
type round struct {
	*home
	api     *api
	name    string
	rand    *rand.Rand // of the people who begin
	slow    bool       // people take longer than an approval has
	history *linear.History
	open    atomic.Pointer[approval]
	seen    []string // UUIDs, as they opened
	over    atomic.Bool
}

func (r *round) who(person string) string { return person + "-" + r.name }

// headers are those of a person, as the proxy in front of the agent sets them.
func (r *round) headers(person string) []string {
	out := []string{"X-Subject: " + r.who(person)}
	switch person {
	case "ann", "bob", "carol", "dan":
		return append(out, ops)
	case "boss", "chief":
		return append(out, "X-Groups: bosses")
	}
	return out
}

func (r *round) rule() linear.Rule {
	return linear.Rule{
		Count: 2, Group: []string{r.who("ann"), r.who("bob"), r.who("carol"), r.who("dan")},
		Escalate: []string{r.who("boss"), r.who("chief")}, Not: r.who("ann"),
	}
}

// Decisions, expiries, escalations and changes of deputies happen at once, and the process dies in
// between. One order of all explains what everybody was told: each approval has one outcome, none
// after its time, nothing runs without two people, and nobody counts twice.
func TestApprovalsAreLinearizable(t *testing.T) {
	t.Parallel()
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("SEED=%d", seed)
	h := newHome(t)
	h.extra = proxyAuth + `approval:
  rules:
    - name: two
      when: 'tool == "tick"'
      then: {ask: {by: ["group:ops"], not_requester: true, count: 2, expires: 1s, on_expiry: escalate, escalate: ["group:bosses"]}}
`
	_, agent := h.outside()
	end := time.Now().Add(*linearTime)
	var rounds []*round
	var mu sync.Mutex
	var all sync.WaitGroup
	for lane := range uint64(6) {
		all.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				r := &round{home: h, name: fmt.Sprintf("%d-%d", lane, n), rand: rand.New(rand.NewPCG(seed, lane<<32+uint64(n))), history: linear.NewHistory(), slow: n%2 == 1}
				r.api = newAPI(t, fmt.Sprintf("http://127.0.0.1:%d", h.ports.api))
				r.api.http.Timeout = 5 * time.Second
				if r.play(end) {
					mu.Lock()
					rounds = append(rounds, r)
					mu.Unlock()
				}
			}
		})
	}
	kills := 0
	for r := rand.New(rand.NewPCG(seed, 100)); time.Now().Before(end); kills++ {
		time.Sleep(time.Duration(300+r.IntN(1500)) * time.Millisecond)
		agent.kill()
		time.Sleep(time.Duration(r.IntN(1000)) * time.Millisecond) // the time of approvals goes on
		_, agent = h.outside()
	}
	all.Wait()
	results := map[string]int{}
	for _, r := range rounds {
		r.close(results)
		if err := linear.Check(r.rule(), r.history.Operations(), patience); err != nil {
			t.Errorf("call %s: %v", r.name, err)
		}
	}
	t.Logf("%d calls, %d kills, %v", len(rounds), kills, results)
	for _, must := range []string{"decide done", "decide forbidden", "read approved", "run"} {
		if results[must] == 0 {
			t.Errorf("the history has no %s: %v", must, results)
		}
	}
}

// play has people act until the call is over, or for some seconds. It returns false if the call
// was not made.
func (r *round) play(end time.Time) bool {
	id := ""
	for id == "" {
		asked, err := r.api.try("POST", "/conversations", messageJSON(`call tick {"name":"`+r.name+`"}`), append(r.headers("ann"), "Idempotency-Key: "+r.name)...)
		if id = conversationOf(asked); err == nil && id != "" {
			break
		}
		if time.Now().After(end) {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	var people sync.WaitGroup
	own := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(r.rand.Uint64(), n)) }
	for i, person := range []string{"ann", "bob", "carol", "dan", "eve", "boss", "chief"} {
		chance := own(uint64(i))
		people.Go(func() { r.act(i+1, person, chance) })
	}
	first, second := own(20), own(21)
	people.Go(func() { r.deputize(20, "carol", "eve", first) })
	people.Go(func() { r.deputize(21, "dan", "bob", second) })
	for until := time.Now().Add(6 * time.Second); time.Now().Before(until) && !r.look(id); {
		time.Sleep(20 * time.Millisecond)
	}
	r.over.Store(true)
	people.Wait()
	return true
}

// look reads what waits. It returns true if the call is over.
func (r *round) look(id string) bool {
	call := time.Now()
	got, err := r.api.try("GET", "/conversations/"+id+"?include=messages", "", r.headers("ann")...)
	if err != nil || got.Status != 200 {
		return false
	}
	p := got.Body.Conversation.PendingApproval
	switch {
	case p == nil:
		r.open.Store(nil)
		return resting(got.Body.Conversation) && answers(got.Body.Conversation) > 0
	case strings.Contains(p.Description, "OUTCOME UNKNOWN"): // it was killed during the call
		r.open.Store(nil)
		return true
	}
	if !slices.Contains(r.seen, p.UUID) { // a conversation lists what is decided a little longer
		now := time.Now()
		r.history.Add(0, linear.Input{Op: linear.See, Approval: p.UUID, Escalated: p.ExpiresAt == nil}, linear.Output{}, call, now)
		r.seen = append(r.seen, p.UUID)
		if at := p.ExpiresAt; at != nil {
			// An approval expires at its time, also while no process is there to say so, and before
			// anybody has seen it.
			from, to := *at, at.Add(time.Millisecond)
			if at.Before(call) {
				from, to = call, now
			}
			r.history.Add(30, linear.Input{Op: linear.Expire, Approval: p.UUID}, linear.Output{}, from, to)
		}
	}
	r.open.Store(p)
	return false
}

// act has a person decide what waits, now and then.
func (r *round) act(client int, person string, draw *rand.Rand) {
	pause := 700
	if r.slow {
		pause = 2500
	}
	refused := false
	for !r.over.Load() {
		if wait := time.Duration(draw.IntN(pause)) * time.Millisecond; !refused { // else as soon as the agent is there
			time.Sleep(wait)
		} else {
			time.Sleep(5 * time.Millisecond)
		}
		p := r.open.Load()
		if p == nil {
			continue
		}
		in := linear.Input{Op: linear.Decide, Approval: p.UUID, Who: r.who(person), Approves: draw.IntN(8) > 0}
		if person == "eve" {
			in.For = r.who("carol")
		}
		out := r.history.Do(client, in, func() linear.Output {
			got, err := r.api.try("POST", "/approvals/"+p.UUID, fmt.Sprintf(`{"approved":%t}`, in.Approves), r.headers(person)...)
			return linear.Output{Result: resultOf(got, err)}
		})
		refused = out.Result == linear.Unsent
	}
}

// resultOf reads the answer to a decision. One without a record may have been taken, or not.
func resultOf(got reply, err error) linear.Result {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return linear.Unsent
	case err != nil || got.Status >= 500:
		return linear.Lost
	case got.Status == 200 || got.Status == 202 && got.Body.Decision.Decision != "":
		return linear.Done
	case got.Status == 409:
		return linear.Decided
	case got.Status == 403 || got.Status == 404:
		return linear.Forbidden
	}
	return linear.Lost
}

// deputize appoints and revokes a deputy, in turn.
func (r *round) deputize(client int, from, to string, draw *rand.Rand) {
	for !r.over.Load() {
		in := linear.Input{Op: linear.Appoint, Who: r.who(to), For: r.who(from)}
		var id string
		out := r.history.Do(client, in, func() linear.Output {
			got, err := r.api.try("POST", "/deputies", fmt.Sprintf(`{"to":{"subject":%q},"for":"15s"}`, in.Who), r.headers(from)...)
			var made struct{ ID string }
			if err != nil || got.Status != 201 || json.Unmarshal([]byte(got.Raw), &made) != nil {
				return linear.Output{Result: linear.Lost}
			}
			id = made.ID
			return linear.Output{Result: linear.Done}
		})
		if out.Result == linear.Lost { // it may be there, and nobody knows its ID
			return
		}
		time.Sleep(time.Duration(draw.IntN(1500)) * time.Millisecond)
		in.Op = linear.Revoke
		out = r.history.Do(client, in, func() linear.Output {
			got, err := r.api.try("DELETE", "/deputies/"+id, "", r.headers(from)...)
			if err != nil || got.Status != 204 {
				return linear.Output{Result: linear.Lost}
			}
			return linear.Output{Result: linear.Done}
		})
		if out.Result == linear.Lost {
			return
		}
		time.Sleep(time.Duration(draw.IntN(500)) * time.Millisecond)
	}
}

// close adds what the records say in the end, and when the tool ran.
func (r *round) close(results map[string]int) {
	for _, uuid := range r.seen {
		call := time.Now()
		var is struct {
			Status   string
			Decision struct {
				Decision, By string
				For          struct{ From struct{ Subject string } }
			}
		}
		got := r.api.do("GET", "/approvals/"+uuid, "", r.headers("ann")...)
		if err := json.Unmarshal([]byte(got.Raw), &is); err != nil || got.Status != 200 {
			r.t.Fatalf("%d: %s", got.Status, got.Raw)
		}
		out := linear.Output{Record: linear.Record{Decision: is.Decision.Decision, By: is.Decision.By, For: is.Decision.For.From.Subject}}
		r.history.Add(0, linear.Input{Op: linear.Read, Approval: uuid}, out, call, time.Now())
		results["read "+out.Record.Decision]++
	}
	for _, c := range r.tools.called("tick") {
		if c.Args["name"] == r.name {
			r.history.Add(0, linear.Input{Op: linear.Run}, linear.Output{}, c.At, c.At)
			results["run"]++
		}
	}
	for _, o := range r.history.Operations() {
		if in, out := o.Input.(linear.Input), o.Output.(linear.Output); in.Op != linear.Read && in.Op != linear.Run {
			results[strings.TrimSpace(fmt.Sprint(in.Op, " ", out.Result))]++
		}
	}
}
