package agui

// Legacy rewrites the events of one reader for a client of AG-UI 0.0.54 to 0.0.59. Such a
// client refuses outcomes that it does not know, and makes every call of its own tools that
// has no result when a run ends. A Legacy is for one goroutine.
type Legacy struct {
	withheldCalls
}

// NewLegacy returns a Legacy. own reports whether a call is of one of the client's tools and
// not yet in its messages; it is nil for a client without tools.
func NewLegacy(own func(toolCallID, tool string) bool) *Legacy {
	return &Legacy{withheldCalls{own: own, released: map[string]bool{}}}
}

// Rewrite returns the events in the form that the client knows. Some are held back and
// returned by a later call, out of the order of positions; so for a client with tools no
// event has an ID.
func (l *Legacy) Rewrite(events []Event) []Event {
	if l.own == nil {
		return rewriteAll(events)
	}
	var out []Event
	for _, e := range events {
		for _, data := range l.filter(e.Data) {
			out = append(out, Event{Data: legacyData(data)})
		}
	}
	return out
}

func rewriteAll(events []Event) []Event {
	out := make([]Event, len(events))
	for n, e := range events {
		out[n] = Event{ID: e.ID, Data: legacyData(e.Data)}
	}
	return out
}

// legacyData returns an event without the members that versions before 1.0 do not know.
func legacyData(data any) any {
	switch d := data.(type) {
	case RunStarted:
		d.ProtocolVersion = ""
		return d
	case RunFinished:
		d.Outcome = d.Outcome.legacy()
		return d
	}
	return data
}

// legacy returns an outcome without the members that versions before 1.0 do not know, or none
// if they do not know its type.
func (o Outcome) legacy() Outcome {
	switch o.Type {
	case OutcomeSuccess:
		return Outcome{Type: OutcomeSuccess}
	case OutcomeInterrupt:
		return Outcome{Type: OutcomeInterrupt, Interrupts: o.Interrupts}
	}
	return Outcome{}
}
