package transcript

import (
	"encoding/json"
	"fmt"
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// ReplaceOffloaded drops the messages from the tail that an activity has moved to the blob
// store. Later messages stay. before is the transcript that the activity was given: if two
// offload at the same time, only the first counts.
func ReplaceOffloaded(t *contract.Transcript, before contract.Transcript, f *contract.Offloaded) {
	if f == nil || t.Head != before.Head {
		return
	}
	t.Head = &f.Head
	t.Tail = slices.Clone(t.Tail[f.Count:])
}

// Clone returns a transcript that later messages do not change.
func Clone(t contract.Transcript) contract.Transcript {
	return contract.Transcript{Head: t.Head, Tail: append([]contract.Message{}, t.Tail...)}
}

// IsLong reports whether a transcript's tail should be offloaded.
func IsLong(t contract.Transcript) bool { return TailSize(t) > OffloadAbove }

// TailSize returns the size of a tail without the coordinates of its messages. Old histories do
// not have them, and a replay must offload at the same point.
func TailSize(t contract.Transcript) int {
	data, err := json.Marshal(withoutCoordinates(t.Tail))
	if err != nil { // wire types can be encoded
		panic(fmt.Sprintf("encode a transcript: %v", err))
	}
	return len(data)
}

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

// Merge appends the messages of an ended node: individually if they are few, else as
// one segment.
func Merge(t *contract.Transcript, run string, node contract.Transcript) {
	switch {
	case node.Head != nil:
		t.Tail = append(t.Tail, contract.Message{Segment: &contract.Segment{Run: run, Transcript: &node}})
	default:
		t.Tail = append(t.Tail, node.Tail...)
	}
}
