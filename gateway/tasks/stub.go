package tasks

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Event is an event of a stream with its SSE ID.
type Event struct {
	ID    string
	Event a2a.Event
}

type Dialect int

const (
	V10 Dialect = iota
	V03
	Old
)

type Call struct {
	Dialect    Dialect
	Extensions []string
	Activate   func(string)
}

func CallOf(context.Context) Call { return Call{} }
