package activity

import (
	"errors"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/wording"
)

// Failure converts an activity's error.
func Failure(err error) wording.Failure {
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return wording.Failure{Kind: contract.KindTimeout, Message: wording.CauseNoAnswer, Lost: true}
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		f := wording.Failure{Kind: contract.Kind(app.Type()), Message: app.Message()}
		var hold audit.Hold
		f.Unrecorded = f.Kind == contract.KindPaused && app.Details(&hold) == nil && hold.Unrecorded
		return f
	}
	var crash *temporal.PanicError
	if errors.As(err, &crash) { // a call may have been made by then
		return wording.Failure{Kind: contract.KindOutcomeUnknown, Message: crash.Error()}
	}
	return wording.Failure{Kind: contract.KindInternal, Message: innermost(err).Error()}
}

// innermost removes the SDK's wrappers around an error: event numbers, which do not help
// people.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
