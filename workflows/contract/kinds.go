package contract

import "slices"

// Kind is the kind of a failure. Across an activity's boundary it is the type of the
// application error, the only part of an error's identity that Temporal preserves. The gateway
// has one table from Kind to HTTP status.
type Kind string

// Kinds of request failures.
const (
	KindInvalid   Kind = "invalid"          // the request is invalid
	KindNotFound  Kind = "not_found"        // no such conversation or approval
	KindForbidden Kind = "forbidden"        // the caller may not do this
	KindWaiting   Kind = "waiting_approval" // a pending approval must be answered first
	KindCompleted Kind = "completed"        // the conversation has ended
	KindDecided   Kind = "decided"          // the approval was decided already
	KindKeyReused Kind = "idempotency_key"  // the key was used for another request
	KindBusy      Kind = "busy"             // too many requests wait; try again later
	KindTooLarge  Kind = "too_large"        // the request is over a bound
	KindTimeout   Kind = "timeout"          // the answer is not available yet
	KindInternal  Kind = "internal"         // a fault of this program
)

// Kinds of model failures.
const (
	KindModelAuth        Kind = "model_auth"         // no key, or a refused one; never retried
	KindModelRequest     Kind = "model_bad_request"  // the provider refused the request; never retried
	KindModelContext     Kind = "model_context"      // the conversation is too long for the model; never retried
	KindModelRateLimited Kind = "model_rate_limited" // retried, at the provider's own pace
	KindModelUnavailable Kind = "model_unavailable"  // down, or answering with an error; retried
	KindModelGarbage     Kind = "model_garbage"      // an invalid answer; retried
)

// Kinds of tool and storage failures.
const (
	KindToolUnavailable Kind = "tool_unavailable" // the server was not reached; the call did not run
	KindToolFailed      Kind = "tool_failed"      // the server answered with a protocol error; never retried
	KindOutcomeUnknown  Kind = "outcome_unknown"  // the call was sent and its answer lost; never retried
	KindPeerUnavailable Kind = "peer_unavailable" // the other agent was not reached, or answered with a temporary error; retried
	KindPeerFailed      Kind = "peer_failed"      // the other agent refused the message; never retried
	KindPushUnavailable Kind = "push_unavailable" // a webhook was not reached, or answered with a temporary error; retried
	KindPushRefused     Kind = "push_refused"     // a webhook refused a notification, or must not be reached; never retried
	KindDigest          Kind = "arguments_digest" // the arguments are not those that were shown; never retried
	KindChanged         Kind = "grant_changed"    // the call would go elsewhere, or to another tool, than was approved; never retried
	KindPaused          Kind = "paused"           // a switch pauses the call, which did not run; never retried
	KindRateLimited     Kind = "rate_limited"     // a rate limit is reached, and the call did not run; never retried
	KindBlob            Kind = "blob"             // the blob store failed
	KindExport          Kind = "export"           // the conversation file could not be written
)

var permanent = []Kind{
	KindModelAuth, KindModelRequest, KindModelContext,
	KindToolFailed, KindPeerFailed, KindPushRefused, KindOutcomeUnknown, KindDigest, KindChanged, KindPaused, KindRateLimited, KindInvalid, KindNotFound,
}

// Permanent reports whether a retry cannot help.
func (k Kind) Permanent() bool { return slices.Contains(permanent, k) }

// PermanentKinds lists every permanent kind, for retry policies.
func PermanentKinds() []string {
	out := make([]string, len(permanent))
	for i, k := range permanent {
		out[i] = string(k)
	}
	return out
}
