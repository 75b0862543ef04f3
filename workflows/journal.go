package workflows

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// journal is the messages that a leaf writes and its model reads.
type journal struct {
	transcript *contract.Transcript
	node       string
	seq        *int                 // of the last message
	id         func(seq int) string // of a message
	wrote      func(time.Time)      // called after every message
	before     *contract.Transcript // what the model sees before it
	digest     *contract.Digest     // stands in for the oldest of both, for the model
}

// append adds a message and returns its ID.
func (j *journal) append(ctx workflow.Context, m contract.Message) string {
	*j.seq++
	m.ID, m.CreatedAt = j.id(*j.seq), now(ctx)
	if m.Node == "" && m.Role != contract.RoleSystem && m.Role != contract.RoleUser {
		m.Node = j.node
	}
	j.transcript.Tail = append(j.transcript.Tail, m)
	j.wrote(m.CreatedAt)
	return m.ID
}

// next is the ID that the next message will have.
func (j *journal) next() string { return j.id(*j.seq + 1) }

// fold drops the messages from the tail that an activity has moved to the blob
// store. Messages that came later stay. before is the transcript as the activity
// was given it: of two that were folding at a time, one was in vain.
func fold(t *contract.Transcript, before contract.Transcript, f *contract.Folded) {
	if f == nil || t.Head != before.Head {
		return
	}
	t.Head = &f.Head
	t.Tail = slices.Clone(t.Tail[f.Count:])
}

// copyOf is a transcript that later messages do not change.
func copyOf(t contract.Transcript) contract.Transcript {
	return contract.Transcript{Head: t.Head, Tail: append([]contract.Message{}, t.Tail...)}
}

// long reports whether a transcript's tail should be folded.
func long(t contract.Transcript) bool { return tailSize(t) > transcript.FoldAbove }

// tailSize is the size of a tail without the coordinates of its messages: histories of before
// do not have them, and what was folded then has to be folded when they are replayed.
func tailSize(t contract.Transcript) int { return size(withoutCoordinates(t.Tail)) }

func withoutCoordinates(tail []contract.Message) []contract.Message {
	tail = slices.Clone(tail)
	for i, m := range tail {
		tail[i].ResultOf, tail[i].ApprovalID, tail[i].Outcome = "", "", ""
		if m.Part != nil && m.Part.Transcript != nil {
			inside := *m.Part.Transcript
			inside.Tail = withoutCoordinates(inside.Tail)
			tail[i].Part = &contract.Part{Run: m.Part.Run, Transcript: &inside}
		}
	}
	return tail
}

// size is the length of a value on the wire, in bytes.
func size(v any) int {
	data, err := json.Marshal(v)
	if err != nil { // wire types can be encoded
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return len(data)
}

// absorb appends the messages of a finished node: as they are when they are few,
// else as one part.
func absorb(t *contract.Transcript, run string, node contract.Transcript) {
	switch {
	case node.Head != nil:
		t.Tail = append(t.Tail, contract.Message{Part: &contract.Part{Run: run, Transcript: &node}})
	default:
		t.Tail = append(t.Tail, node.Tail...)
	}
}
