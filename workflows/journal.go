package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/run"
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
	m.ID, m.CreatedAt = j.id(*j.seq), run.Now(ctx)
	if m.Node == "" && m.Role != contract.RoleSystem && m.Role != contract.RoleUser {
		m.Node = j.node
	}
	j.transcript.Tail = append(j.transcript.Tail, m)
	j.onAppend(m.CreatedAt)
	return m.ID
}

// nextID returns the ID of the next message.
func (j *journal) nextID() string { return j.id(*j.seq + 1) }
