package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// judge waits until all conversations are at rest, checks and ends them, and compares the calls
// that ran with those that were approved.
func (e *estate) judge() {
	t := e.t
	hands, waiting := map[string]int{}, 0
	for _, v := range e.visitors {
		c := v.comesToRest(t)
		v.rest = c
		v.check(t, c)
		if len(c.PendingApprovals) > 0 {
			waiting++
		}
		for _, h := range v.hands {
			what, _, _ := strings.Cut(h, " ")
			hands[what]++
		}
	}
	for _, v := range e.visitors {
		v.close(t)
	}
	here, hangUp := e.operator(e.home)
	defer hangUp()
	there, hangUpThere := e.operator(e.far)
	defer hangUpThere()
	e.idle(t, here, e.apis[0], e.queue)
	e.idle(t, there, e.farAPI, e.far.queue)
	books := readLedger(t, here, e.apis[0], "tester")
	farBooks := readLedger(t, there, e.farAPI, "far")
	e.account(t, e.home, books)
	e.account(t, e.far, farBooks)
	e.agree(t, books, farBooks)
	t.Logf("%d conversations, %d of them waited, %d and %d approvals, hands: %v", len(e.visitors), waiting, len(books), len(farBooks), hands)
}

// comesToRest waits until nothing runs, apart from pending approvals.
func (v *visitor) comesToRest(t *testing.T) (rest conversation) {
	t.Helper()
	resting := false
	defer func() {
		if !resting {
			v.autopsy(t)
		}
	}()
	eventually(t, v.name+" is at rest", func() bool {
		c, ok := v.read()
		rest = c
		resting = ok && (len(c.PendingApprovals) > 0 && v.idles() || v.rests(c))
		return resting
	})
	return rest
}

// idles reports whether no leaf is running.
func (v *visitor) idles() bool {
	got, ok := v.insist(v.door(), "GET", "/conversations/"+v.id+"/tree", "")
	var view struct{ Tree node }
	return ok && json.Unmarshal([]byte(got.Raw), &view) == nil && !view.Tree.works()
}

// works reports whether a leaf is running.
func (n node) works() bool {
	return len(n.Agents) == 0 && n.Status == "running" || slices.ContainsFunc(n.Agents, node.works)
}

// check compares the accepted messages with the transcript and the file.
func (v *visitor) check(t *testing.T, c conversation) {
	t.Helper()
	for _, text := range v.said {
		n := v.times(c, text)
		lost := n == 0 && c.Status != "completed" && len(c.PendingApprovals) == 0
		if n > 1 || lost {
			t.Errorf("%s: the message %q is there %d times: %v", v.name, text, n, v.hands)
		}
	}
	taken := 0
	for n := range v.floods {
		taken += v.times(c, fmt.Sprintf("%s.flood%d", v.name, n+1))
	}
	if taken > v.unsure {
		t.Errorf("%s: %d messages of floods were taken, all but %d were refused", v.name, taken, v.unsure)
	}
	if !v.gone && len(c.PendingApprovals) == 0 && c.Status == "active" && answers(c) < len(v.said) {
		t.Errorf("%s: %d answers to %d messages: %v: %v", v.name, answers(c), len(v.said), v.hands, c.texts())
	}
	again := v.say("/conversations", v.plan.message(v.name), v.name)
	if again.Status >= 300 && len(v.hands) == 0 || conversationOf(again) != v.id {
		t.Errorf("%s, asked again: %d %.500s", v.name, again.Status, again.Raw)
	}
	v.compareFile(t)
}

// compareFile waits until the exported file has the same content as the API. Terminated
// conversations are no longer exported.
func (v *visitor) compareFile(t *testing.T) {
	t.Helper()
	if v.gone {
		return
	}
	var file, told conversation
	same := false
	defer func() {
		if !same {
			t.Logf("%s %s %v: file %s %q, API %s %q", v.name, v.id, v.hands, file.Status, file.texts(), told.Status, told.texts())
		}
	}()
	eventually(t, v.name+" is in its file: "+v.id, func() bool {
		told, _ = v.read()
		data, err := os.ReadFile(filepath.Join(v.dir, "data", contract.ConversationFile(v.id)))
		file = conversation{}
		same = err == nil && json.Unmarshal(data, &file) == nil && file.Status == told.Status && slices.Equal(file.texts(), told.texts()) &&
			len(file.PendingApprovals) == len(told.PendingApprovals)
		return same
	})
}

// close ends the conversation, regardless of its state.
func (v *visitor) close(t *testing.T) {
	t.Helper()
	got, ok := v.insist(v.door(), "POST", "/conversations/"+v.id+"/close", "")
	if !ok {
		v.autopsy(t)
	}
	if got.Status != http.StatusOK && got.Status != http.StatusAccepted && got.Status != http.StatusConflict {
		t.Errorf("%s is closed: %d %s", v.name, got.Status, got.Raw)
	}
	eventually(t, v.name+" is closed", func() bool {
		c, ok := v.read()
		return ok && c.Status == "completed"
	})
	v.compareFile(t)
}

// account compares how often each call ran with how often it was allowed, including approved
// repetitions.
func (e *estate) account(t *testing.T, h *home, books ledger) {
	t.Helper()
	allowed, due := map[string]int{}, map[string]int{}
	for _, b := range books {
		if b.grants() {
			allowed[b.name()]++
			due[b.name()]++
		}
		switch b.Reason { // replaces a call that was allowed
		case contract.ReasonUnknownOutcome, contract.ReasonNotReached, contract.ReasonChanged:
			due[b.name()]--
		}
	}
	ran := h.tools.counts()
	for _, name := range slices.Sorted(maps.Keys(e.known(ran, allowed))) {
		leaf, user, _ := strings.Cut(name, " ")
		most, by := allowed[name], e.visitor(user)
		if task := e.plan.tasks[leaf]; task.free {
			most += task.rounds * max(1, by.times(by.rest, user))
		}
		switch {
		case ran[name] > most:
			t.Errorf("%s ran %d times, allowed were %d: %s%s", name, ran[name], most, by, books.about(name))
		case ran[name] < due[name] && len(by.hands) == 0 && !e.plan.stops:
			t.Errorf("%s ran %d times, approved and not asked again were %d: %s%s", name, ran[name], due[name], by, books.about(name))
		}
	}
}

// known returns the names of calls that belong to tasks of the plan.
func (e *estate) known(sets ...map[string]int) map[string]bool {
	out := map[string]bool{}
	for _, set := range sets {
		for name := range set {
			leaf, _, _ := strings.Cut(name, " ")
			if _, ok := e.plan.tasks[leaf]; ok {
				out[name] = true
			}
		}
	}
	return out
}

// visitor returns the visitor with this name, or with a message of this name.
func (e *estate) visitor(name string) *visitor {
	for _, v := range e.visitors {
		if name == v.name || strings.HasPrefix(name, v.name+".") {
			return v
		}
	}
	return &visitor{}
}

func (v *visitor) String() string { return fmt.Sprintf("%s, by hand: %v", v.id, v.hands) }

// about formats the decisions about a call, in order.
func (books ledger) about(name string) (out string) {
	slices.SortFunc(books, func(a, b entry) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, b := range books {
		if b.name() == name {
			out += fmt.Sprintf("\n  %s %s %s: %s by %s %s", b.CreatedAt.Format("15:04:05.000"), b.UUID, b.Reason, b.result.Decision, b.result.By, b.result.Outcome)
		}
	}
	return out
}

// agree compares the decisions about calls of the other agent with those that it received.
func (e *estate) agree(t *testing.T, books, farBooks ledger) {
	t.Helper()
	decided := map[string][]contract.Decision{}
	for _, b := range books {
		if b.Reason == contract.ReasonRemote && b.Origin != nil {
			decided[b.Origin.UUID] = append(decided[b.Origin.UUID], b.result.Decision)
		}
	}
	for _, b := range farBooks {
		here := decided[b.UUID]
		switch b.result.Decision {
		case contract.Approved:
			if !slices.Contains(here, contract.Approved) {
				t.Errorf("%s: the other agent was told yes, the records say %v", b.name(), here)
			}
		case contract.Rejected:
			if !slices.ContainsFunc(here, func(d contract.Decision) bool { return d != contract.Approved }) {
				t.Errorf("%s: the other agent was told no, the records say %v", b.name(), here)
			}
		}
	}
}

// rootStatus returns the status of the root in a response of /tree.
func rootStatus(raw string) string {
	var view struct{ Tree node }
	if json.Unmarshal([]byte(raw), &view) != nil {
		return ""
	}
	return view.Tree.Status
}
