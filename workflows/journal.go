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

// journal appends the messages of a leaf to a transcript.
type journal struct {
	transcript *contract.Transcript
	node       string
	seq        *int                 // of the last message
	id         func(seq int) string // of a message
	onAppend   func(time.Time)      // called after every message
	before     *contract.Transcript // messages that the model sees before it
	summary    *contract.Summary    // replaces the oldest of both, for the model
}

// append adds a message and returns its ID.
func (j *journal) append(ctx workflow.Context, m contract.Message) string {
	*j.seq++
	m.ID, m.CreatedAt = j.id(*j.seq), now(ctx)
	if m.Node == "" && m.Role != contract.RoleSystem && m.Role != contract.RoleUser {
		m.Node = j.node
	}
	j.transcript.Tail = append(j.transcript.Tail, m)
	j.onAppend(m.CreatedAt)
	return m.ID
}

// nextID returns the ID of the next message.
func (j *journal) nextID() string { return j.id(*j.seq + 1) }

// replaceOffloaded drops the messages from the tail that an activity has moved to the blob
// store. Later messages stay. before is the transcript that the activity was given: if two
// offload at the same time, only the first counts.
func replaceOffloaded(t *contract.Transcript, before contract.Transcript, f *contract.Offloaded) {
	if f == nil || t.Head != before.Head {
		return
	}
	t.Head = &f.Head
	t.Tail = slices.Clone(t.Tail[f.Count:])
}

// cloneTranscript returns a transcript that later messages do not change.
func cloneTranscript(t contract.Transcript) contract.Transcript {
	return contract.Transcript{Head: t.Head, Tail: append([]contract.Message{}, t.Tail...)}
}

// isLong reports whether a transcript's tail should be offloaded.
func isLong(t contract.Transcript) bool { return tailSize(t) > transcript.OffloadAbove }

// tailSize returns the size of a tail without the coordinates of its messages. Old histories do
// not have them, and a replay must offload at the same point.
func tailSize(t contract.Transcript) int { return size(withoutCoordinates(t.Tail)) }

func withoutCoordinates(tail []contract.Message) []contract.Message {
	tail = slices.Clone(tail)
	for i, m := range tail {
		tail[i].ResultOf, tail[i].ApprovalID, tail[i].Outcome = "", "", ""
		if m.Segment != nil && m.Segment.Transcript != nil {
			inside := *m.Segment.Transcript
			inside.Tail = withoutCoordinates(inside.Tail)
			tail[i].Segment = &contract.Segment{Run: m.Segment.Run, Transcript: &inside}
		}
	}
	return tail
}

// size returns the length of a value as JSON, in bytes.
func size(v any) int {
	data, err := json.Marshal(v)
	if err != nil { // wire types can be encoded
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return len(data)
}

// mergeTranscript appends the messages of an ended node: individually if they are few, else as
// one segment.
func mergeTranscript(t *contract.Transcript, run string, node contract.Transcript) {
	switch {
	case node.Head != nil:
		t.Tail = append(t.Tail, contract.Message{Segment: &contract.Segment{Run: run, Transcript: &node}})
	default:
		t.Tail = append(t.Tail, node.Tail...)
	}
}
