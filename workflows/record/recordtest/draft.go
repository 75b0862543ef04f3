package recordtest

import "agent-stop-and-go/workflows/contract/generation"

// makeDraft publishes a reply in one attempt, or in two, the first of which is abandoned.
func (l *leaf) makeDraft(r reply) {
	if l.IntN(5) == 0 {
		l.attempt(r, 1, false)
		l.attempt(r, 2, true)
		return
	}
	l.attempt(r, 1, true)
}

// attempt publishes a reply piece by piece. An abandoned attempt may have another text.
func (l *leaf) attempt(r reply, number int, last bool) {
	l.step(func() { l.add(Step{Draft: &generation.Draft{ID: r.draft, Node: l.node, Attempt: number}}) })
	if l.IntN(3) == 0 {
		l.step(func() {
			l.publish(generation.Delta{DraftID: r.draft, Kind: generation.Reasoning, Text: "hm " + l.words()})
		})
	}
	if !last && l.IntN(2) == 0 {
		r.text = l.words()
	}
	l.step(func() {
		for _, piece := range l.cut(r.text, last) {
			l.publish(generation.Delta{DraftID: r.draft, Kind: generation.Text, Text: piece})
		}
	})
	for n, call := range r.calls {
		l.step(func() {
			l.publish(generation.Delta{DraftID: r.draft, Kind: generation.Call, Call: n, Tool: call.Name})
			for _, piece := range l.cut(string(call.Arguments.Raw), last) {
				l.publish(generation.Delta{DraftID: r.draft, Kind: generation.Arguments, Call: n, Text: piece})
			}
		})
	}
}

func (l *leaf) publish(d generation.Delta) { l.add(Step{Delta: &d}) }

// cut splits a text into pieces and returns all of them, or only the first ones.
func (l *leaf) cut(s string, all bool) []string {
	var pieces []string
	for s != "" {
		n := 1 + l.IntN(len(s))
		pieces, s = append(pieces, s[:n]), s[n:]
		if !all && l.IntN(3) == 0 {
			break
		}
	}
	return pieces
}
