package router

import (
	"context"
	"time"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/telemetry"
)

// measurement is that of one call.
type measurement struct {
	model        string
	began, first time.Time // first is zero until a piece arrives
}

// measure starts a measurement. If somebody follows the reply, it notes the first piece.
func measure(req *llm.Request) *measurement {
	m := &measurement{model: req.Model, began: time.Now()}
	if follow := req.Deltas; follow != nil {
		req.Deltas = func(d llm.Delta) {
			if m.first.IsZero() {
				m.first = time.Now()
			}
			follow(d)
		}
	}
	return m
}

func (m *measurement) record(ctx context.Context, entry llm.Entry, reply llm.Reply, err error) {
	c := telemetry.ModelCall{
		Provider: entry.Provider, Model: m.model, Answered: reply.Model, Took: time.Since(m.began), Usage: reply.Usage, Failure: failureOf(err),
	}
	if !m.first.IsZero() {
		c.First = m.first.Sub(m.began)
	}
	c.Record(ctx)
}

// failureOf returns the kind of an error of a model, or "".
func failureOf(err error) contract.Kind {
	return telemetry.FailureOf(err, func(e *llm.Error) contract.Kind { return e.Kind })
}
