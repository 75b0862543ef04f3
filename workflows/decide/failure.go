package decide

import (
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// MayFallBack reports whether a fallback model is called after a permanent failure: if the
// fault may be the provider's, the account's or the model's.
func MayFallBack(f wording.Failure) bool {
	switch f.Kind {
	case contract.KindModelAuth, contract.KindModelRequest, contract.KindModelContext, contract.KindModelRateLimited,
		contract.KindModelUnavailable, contract.KindModelGarbage:
		return true
	}
	return f.Lost
}

// OutcomeUnknown reports whether a failed call may have run. Such a call is submitted to a
// person and never retried automatically.
func OutcomeUnknown(c contract.Call, f wording.Failure) bool {
	return c.Destructive && (f.Lost || f.Kind == contract.KindOutcomeUnknown)
}

// explainedKinds are the kinds with which an activity itself reports that a call had no effect.
var explainedKinds = []contract.Kind{
	contract.KindToolUnavailable, contract.KindToolFailed, contract.KindPeerUnavailable, contract.KindPeerFailed,
	contract.KindDigest, contract.KindChanged, contract.KindPaused, contract.KindRateLimited, contract.KindBlob, contract.KindInvalid, contract.KindNotFound,
}

// Unexplained reports whether a failure does not come from the activity itself but from the
// transport of its result, such as a result that is too large. The activity may have done its
// work.
func Unexplained(f wording.Failure) bool { return !slices.Contains(explainedKinds, f.Kind) }

// NotReached reports whether a destructive call certainly did not run, because its server was
// not reachable.
func NotReached(c contract.Call, f wording.Failure) bool {
	return c.Destructive && !f.Lost && (f.Kind == contract.KindToolUnavailable || f.Kind == contract.KindPeerUnavailable)
}
