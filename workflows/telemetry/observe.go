package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"agent-stop-and-go/workflows/contract"
)

// Survey is what waits at one moment.
type Survey struct {
	Waiting []Waiting
	// Stuck is the number of workflows whose task fails repeatedly.
	Stuck int64
	// Witnesses are those of the audit log, if they are known.
	Witnesses []Witness
}

// Witness is how far a witness of the audit log is behind.
type Witness struct {
	Name     string
	Unsigned int64
	// Age is the time since when it has failed to sign, in seconds.
	Age float64
}

// Waiting are the open approvals of an agent with one reason.
type Waiting struct {
	Agent  string
	Reason contract.Reason
	Open   int64
	// Oldest is the age of the oldest one in seconds.
	Oldest float64
}

// ObserveSurvey reads a survey whenever metrics are collected, until stop is called.
func ObserveSurvey(read func(context.Context) (Survey, error)) (stop func()) {
	return observe(func(ctx context.Context, o metric.Observer) error {
		s, err := read(ctx)
		if err != nil {
			o.ObserveFloat64(unread, 1)
			return err
		}
		o.ObserveFloat64(unread, 0)
		o.ObserveFloat64(stuck, float64(s.Stuck))
		for _, w := range s.Waiting {
			a := metric.WithAttributes(attribute.String(attrAgent, agentNames.of(w.Agent)), attribute.String(attrReason, string(w.Reason)))
			o.ObserveFloat64(waiting, float64(w.Open), a)
			o.ObserveFloat64(oldest, w.Oldest, a)
		}
		for _, w := range s.Witnesses {
			a := metric.WithAttributes(attribute.String(attrWitness, w.Name))
			o.ObserveFloat64(unsigned, float64(w.Unsigned), a)
			o.ObserveFloat64(failing, w.Age, a)
		}
		return nil
	}, waiting, oldest, stuck, unread, unsigned, failing)
}

// ObserveFeed reads the state of the feed whenever metrics are collected, until stop is called.
// A feed without a problem is ready.
func ObserveFeed(carrier func() (kind, problem string)) (stop func()) {
	return observe(func(_ context.Context, o metric.Observer) error {
		kind, problem := carrier()
		ready := 1.0
		if problem != "" {
			ready = 0
		}
		o.ObserveFloat64(feedReady, ready, metric.WithAttributes(attribute.String(attrFeed, kind)))
		return nil
	}, feedReady)
}

func observe(f metric.Callback, instruments ...metric.Observable) (stop func()) {
	r := must(meter.RegisterCallback(f, instruments...))
	return func() { _ = r.Unregister() } // fails only for foreign registrations
}
