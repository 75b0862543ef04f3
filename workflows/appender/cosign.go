package appender

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract/audit"
)

const (
	cosignTimeout = 15 * time.Second
	// cosignPause lets the events of a call come together, so that one signature is for all of them.
	cosignPause    = time.Second
	cosignRetryMax = 5 * time.Minute
)

// cosign has the witnesses sign until all have signed the newest checkpoint. The log does not wait for them.
// A run that ends leaves it to the next one.
func (a *appender) cosign(ctx workflow.Context) {
	if a.cosigning || a.head.Unsigned == 0 {
		return
	}
	a.cosigning = true
	workflow.Go(ctx, func(ctx workflow.Context) {
		defer func() { a.cosigning = false }()
		for pause := cosignPause; a.head.Unsigned > 0; {
			if workflow.Sleep(ctx, pause) != nil {
				return
			}
			if pause = min(2*pause, cosignRetryMax); a.ask(ctx) {
				pause = cosignPause
			}
		}
	})
}

// ask has the witnesses sign once, and reports whether all have.
func (a *appender) ask(ctx workflow.Context) bool {
	head := a.head
	all, err := activity.Run(ctx, audit.ActivityCosign, activity.Options(cosignTimeout, 1, fmt.Sprintf("%d leaves", head.Size)), head)
	if err != nil {
		workflow.GetLogger(ctx).Warn("the witnesses of the audit log cannot be asked", "error", activity.Failure(err).Message)
		return false
	}
	signed := !slices.ContainsFunc(all, func(w audit.Witnessed) bool { return w.Size < head.Size })
	if signed && a.head.Size == head.Size {
		a.head.Unsigned = 0
	}
	a.witnessed(ctx, all)
	a.show(ctx)
	return signed
}

// witnessed keeps what witnesses have signed, and since when those fail that do.
func (a *appender) witnessed(ctx workflow.Context, all []audit.Witnessed) {
	failing := map[string]time.Time{}
	for _, w := range a.witnesses {
		failing[w.Name] = w.Since
	}
	for i, w := range all {
		if w.Problem == "" {
			continue
		}
		if all[i].Since = failing[w.Name]; all[i].Since.IsZero() {
			all[i].Since = workflow.Now(ctx).UTC()
		}
	}
	a.witnesses = all
}

// unsigned keeps what witnesses have signed if a batch counts as unwritten because too few have.
func (a *appender) unsigned(ctx workflow.Context, err error) {
	var app *temporal.ApplicationError
	var u audit.Unsigned
	if errors.As(err, &app) && app.HasDetails() && app.Details(&u) == nil && len(u.Witnesses) > 0 {
		a.witnessed(ctx, u.Witnesses)
	}
}

// signed keeps which witnesses have signed the head already.
func (a *appender) signed() {
	names := strings.Fields(a.head.Signed)
	if len(names) == 0 && a.head.Unsigned == 0 { // there is no witness any more
		a.witnesses = nil
	}
	all := slices.DeleteFunc(slices.Clone(a.witnesses), func(w audit.Witnessed) bool { return slices.Contains(names, w.Name) })
	for _, name := range names {
		all = append(all, audit.Witnessed{Name: name, Size: a.head.Size})
	}
	a.witnesses = all
}
