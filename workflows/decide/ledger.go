package decide

import (
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// Ledger records requests, so that a repeated one is carried out once and gets the first
// answer. The zero value is empty. It keeps the last contract.RememberedRequests requests, and
// the answers of the last contract.RememberedAnswers settled ones; unsettled requests are
// always kept. It drops entries only when a request is added, so an answer is available to all
// callers that wait for it, however late it came.
type Ledger struct {
	// OnSettled is called for each request that gets its answer. It may be nil.
	OnSettled func(id string)

	requests []contract.Request
}

// NewLedger continues a ledger.
func NewLedger(requests []contract.Request) *Ledger {
	return &Ledger{requests: slices.Clone(requests)}
}

// Find returns the record of a request, or nil.
func (l *Ledger) Find(id string) *contract.Request {
	for i := len(l.requests) - 1; i >= 0; i-- {
		if l.requests[i].ID == id {
			return &l.requests[i]
		}
	}
	return nil
}

// Add records a request. It returns false if the request is recorded already and must not be
// carried out again.
func (l *Ledger) Add(id, fingerprint string) bool {
	if l.Find(id) != nil {
		return false
	}
	l.requests = append(l.requests, contract.Request{ID: id, Fingerprint: fingerprint})
	l.trim()
	return true
}

// Settle records the answer of a request. The first answer stays.
func (l *Ledger) Settle(id string, result contract.Result) {
	if r := l.Find(id); r != nil && !r.Settled {
		r.Settled, r.Result = true, &result
		l.tell(id)
	}
}

// Refuse settles a request that was not carried out.
func (l *Ledger) Refuse(id string, why contract.Kind, result contract.Result) {
	if r := l.Find(id); r != nil && !r.Settled {
		r.Settled, r.Refused, r.Result = true, why, &result
		l.tell(id)
	}
}

func (l *Ledger) tell(id string) {
	if l.OnSettled != nil {
		l.OnSettled(id)
	}
}

// Requests returns what a continued run needs.
func (l *Ledger) Requests() []contract.Request { return l.requests }

// Settled returns those of the requests that have their answer.
func (l *Ledger) Settled(ids []string) []contract.Request {
	var out []contract.Request
	for _, id := range ids {
		if r := l.Find(id); r != nil && r.Settled {
			out = append(out, *r)
		}
	}
	return out
}

// Open counts the requests that have no answer yet.
func (l *Ledger) Open() int {
	open := 0
	for _, r := range l.requests {
		if !r.Settled {
			open++
		}
	}
	return open
}

// trim drops the oldest settled requests. Open ones do not count: however many there are, a
// request that has just settled is kept.
func (l *Ledger) trim() {
	settled := 0
	for _, r := range l.requests {
		if r.Settled {
			settled++
		}
	}
	l.requests = slices.DeleteFunc(l.requests, func(r contract.Request) bool {
		if !r.Settled || settled <= contract.RememberedRequests {
			return false
		}
		settled--
		return true
	})
	l.trimAnswers()
}

func (l *Ledger) trimAnswers() {
	answers := 0
	for i := len(l.requests) - 1; i >= 0; i-- {
		if l.requests[i].Result == nil {
			continue
		}
		if answers++; answers > contract.RememberedAnswers {
			l.requests[i].Result = nil
		}
	}
}
