package exchange

import (
	"slices"
	"strings"

	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Reply is what came of a request: the turn of a message up to its end or to what waits, or the part
// of a turn after a decision.
type Reply struct {
	// Text is what the agent said, as it was told.
	Text string
	// Entries are those of the reply.
	Entries []record.Entry
	// Response is the agent's last answer alone, "" while something waits.
	Response string
	// Failure is the text that says that the model failed, "" if it did not. Text has it too, unless it was held.
	Failure string
	// Waiting are the approvals that wait.
	Waiting []contract.PendingApproval
	// Usage is that of the reply.
	Usage contract.Usage
	// Outcome is how the turn ended; "" while it goes on or waits.
	Outcome contract.Outcome
	// State is the conversation after it.
	State *record.State
}

// Calls returns the calls that the client executes.
func (r Reply) Calls() []contract.PendingApproval { return r.waiting(true) }

// Approvals returns the approvals that people decide.
func (r Reply) Approvals() []contract.PendingApproval { return r.waiting(false) }

// CutOff reports whether the last text of the reply reached the model's limit.
func (r Reply) CutOff() (cut bool) {
	for _, e := range r.Entries {
		cut = e.CutOff() || cut && e.Kind == record.KindNotice
	}
	return cut
}

func (r Reply) waiting(client bool) (out []contract.PendingApproval) {
	for _, p := range r.Waiting {
		if (p.Reason == contract.ReasonClientTool) == client {
			out = append(out, p)
		}
	}
	return out
}

// opens reports whether calls wait for the client, and others of the reply have neither a result nor
// wait.
func (r Reply) opens() bool {
	known := map[int]bool{} // Seq of calls
	for _, e := range r.Entries {
		known[e.Answers] = true
	}
	waits := func(id string) bool {
		return slices.ContainsFunc(r.Waiting, func(p contract.PendingApproval) bool { return p.Call == id })
	}
	return len(r.Calls()) > 0 && slices.ContainsFunc(r.Entries, func(e record.Entry) bool { return e.Kind == record.KindCall && !known[e.Seq] && !waits(e.ID) })
}

// replyOf returns the reply in the turn's part of a state. result may be nil.
func (x *Exchange) replyOf(part record.State, result *service.Result) Reply {
	r := Reply{Waiting: part.Document.PendingApprovals}
	var over bool
	if r.Entries, over = x.entries(part); over {
		r.Waiting = nil
	}
	var texts []string
	for _, e := range r.Entries {
		r.Usage = r.Usage.Add(e.Usage)
		if e.Outcome != "" {
			r.Outcome = e.Outcome
		}
		if e.ModelFailed() {
			r.Failure = history.Text(e)
		}
		if e.Kind == record.KindText {
			if text := history.Text(e); text != "" {
				texts = append(texts, text)
			}
		}
	}
	if result != nil && !result.WaitingApproval && len(r.Waiting) == 0 {
		r.Response = result.Response
	}
	if len(texts) == 0 && r.Response != "" { // the message is not in the record any more, or nothing was said
		texts = []string{r.Response}
	}
	r.Text = strings.Join(texts, separator)
	return r
}

// entries returns the entries of the reply in the turn's part of a state. over: the turn went on in
// another reply.
func (x *Exchange) entries(part record.State) (own []record.Entry, over bool) {
	entries := part.Entries()
	at := -1
	for i, e := range entries {
		if e.Kind == record.KindMessage && (x.turn.First && at < 0 || e.ID == x.name() || e.DraftID == x.name()) {
			at = i
		}
	}
	if at < 0 {
		return nil, false
	}
	own = slices.DeleteFunc(slices.Clone(entries[at+1:]), func(e record.Entry) bool { return x.known[e.ID] || e.Missing || e.Kind == record.KindMessage })
	n := pause(own)
	return own[:n], n < len(own)
}

// pause returns the number of entries up to the decision behind which the turn went on in another
// reply.
func pause(entries []record.Entry) int {
	began := false // the agent has done something since the decisions that the reply begins with
	for i, e := range entries {
		switch e.Kind {
		case record.KindDecision:
			if began {
				return i
			}
		case record.KindText, record.KindCall, record.KindRequest:
			began = true
		}
	}
	return len(entries)
}

// name is the name of the message whose turn it is.
func (x *Exchange) name() string {
	if x.turn.Message != "" {
		return x.turn.Message
	}
	return x.turn.Anchor
}
