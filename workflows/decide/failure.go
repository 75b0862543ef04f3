package decide

import (
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// MayFallBack reports whether another model is asked when a call of one has failed
// for good: when the fault may be the provider's, the account's or the model's.
func MayFallBack(f wording.Failure) bool {
	switch f.Kind {
	case contract.KindModelAuth, contract.KindModelRequest, contract.KindModelContext, contract.KindModelRateLimited,
		contract.KindModelUnavailable, contract.KindModelGarbage:
		return true
	}
	return f.Lost
}

// OutcomeUnknown reports whether a failed call may have happened all the same.
// Such a call goes to a human, never to a second attempt.
func OutcomeUnknown(c contract.Call, f wording.Failure) bool {
	return c.Destructive && (f.Lost || f.Kind == contract.KindOutcomeUnknown)
}

// explainedKinds are the kinds that an activity gives a failure of which it knows that nothing
// has happened.
var explainedKinds = []contract.Kind{
	contract.KindToolUnavailable, contract.KindToolFailed, contract.KindPeerUnavailable, contract.KindPeerFailed,
	contract.KindDigest, contract.KindChanged, contract.KindBlob, contract.KindInvalid, contract.KindNotFound,
}

// Unexplained reports whether a failure does not come from the activity itself but from
// what carries its result, such as one that is too large. The activity may have
// done its work.
func Unexplained(f wording.Failure) bool { return !slices.Contains(explainedKinds, f.Kind) }

// NotReached reports whether a destructive call certainly did not happen, because
// its server was not there.
func NotReached(c contract.Call, f wording.Failure) bool {
	return c.Destructive && !f.Lost && (f.Kind == contract.KindToolUnavailable || f.Kind == contract.KindPeerUnavailable)
}
