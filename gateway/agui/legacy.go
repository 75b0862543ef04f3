package agui

// Legacy rewrites the events of one reader for a client of AG-UI 0.0.54 to 0.0.59,
// which refuses outcomes that it does not know and makes every call of its tools that
// it sees without a result when a run ends. It is for one goroutine.
type Legacy struct {
	withheld
}

// NewLegacy returns a Legacy for a client that makes the calls of some tools. own reports
// whether a call is one of them, and the client does not hold it yet; nil is none.
func NewLegacy(own func(toolCallID, tool string) bool) *Legacy {
	return &Legacy{withheld{own: own, released: map[string]bool{}}}
}

// Rewrite returns the events as the client knows them. Some are held back and returned by
// a later call. When the client has tools, no event has an ID: events that were held back
// are not in the order of positions.
func (l *Legacy) Rewrite(events []Event) []Event {
	if l.own == nil {
		return rewritten(events)
	}
	var out []Event
	for _, e := range events {
		for _, data := range l.pass(e.Data) {
			out = append(out, Event{Data: older(data)})
		}
	}
	return out
}

func rewritten(events []Event) []Event {
	out := make([]Event, len(events))
	for n, e := range events {
		out[n] = Event{ID: e.ID, Data: older(e.Data)}
	}
	return out
}

// older is an event without what versions before 1.0 do not know.
func older(data any) any {
	switch d := data.(type) {
	case RunStarted:
		d.ProtocolVersion = ""
		return d
	case RunFinished:
		d.Outcome = d.Outcome.older()
		return d
	}
	return data
}

// older is an outcome without what versions before 1.0 do not know. One that they do
// not know at all is left out.
func (o Outcome) older() Outcome {
	switch o.Type {
	case OutcomeSuccess:
		return Outcome{Type: OutcomeSuccess}
	case OutcomeInterrupt:
		return Outcome{Type: OutcomeInterrupt, Interrupts: o.Interrupts}
	}
	return Outcome{}
}
