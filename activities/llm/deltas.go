package llm

import "agent-stop-and-go/activities/mask"

// maskedDeltas masks secrets in deltas, also if they span several pieces. The possible
// beginning of a secret is held back until the next piece of its kind or the end.
type maskedDeltas struct {
	mask    *mask.Mask
	next    func(Delta)
	places  []deltaPlace // in the order in which they began
	emitted map[deltaPlace]*mask.Stream
}

// deltaPlace is the part of a reply that a delta belongs to.
type deltaPlace struct {
	kind DeltaKind
	call int
}

// newMaskedDeltas returns a function that takes deltas and passes them on to next, masked, and
// a function to call at the end.
func newMaskedDeltas(m *mask.Mask, next func(Delta)) (take func(Delta), end func()) {
	if m == nil || next == nil {
		return next, func() {}
	}
	d := &maskedDeltas{mask: m, next: next, emitted: map[deltaPlace]*mask.Stream{}}
	return d.take, d.end
}

func (d *maskedDeltas) take(piece Delta) {
	if piece.Kind == DeltaCall {
		piece.ID, piece.Name = d.mask.Text(piece.ID), d.mask.Text(piece.Name)
		d.next(piece)
		return
	}
	at := deltaPlace{piece.Kind, piece.Call}
	if d.emitted[at] == nil {
		d.emitted[at] = d.mask.Stream()
		d.places = append(d.places, at)
	}
	d.emit(at, d.emitted[at].Write(piece.Text))
}

func (d *maskedDeltas) end() {
	for _, at := range d.places {
		d.emit(at, d.emitted[at].End())
	}
}

func (d *maskedDeltas) emit(at deltaPlace, text string) {
	if text != "" {
		d.next(Delta{Kind: at.kind, Call: at.call, Text: text})
	}
}
