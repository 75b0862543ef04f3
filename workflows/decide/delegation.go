package decide

import (
	"time"

	"agent-stop-and-go/workflows/contract"
)

// SameQuestion reports whether a task still waits for the same as before. A question without an
// ID is identified by its text; a task that only says that it waits, waits for the same. An
// agent that requires a login has not reported the task's state: tokens expire long before
// approvals are given.
func SameQuestion(known, now contract.DelegateResult) bool {
	switch {
	case now.State == contract.TaskAuthRequired && now.Asked == nil:
		return true
	case now.State == contract.TaskAuthRequired:
		return askedUUID(known) == askedUUID(now)
	case !SameRequest(known, now):
		return false
	}
	return askedUUID(known) != "" || now.Text.IsZero() || SameText(known.Text, now.Text)
}

// SameRequest reports whether a task waits for a request with the same ID.
func SameRequest(known, now contract.DelegateResult) bool {
	return now.State == contract.TaskInputRequired && askedUUID(known) == askedUUID(now)
}

// Question returns the text that a decision is about, if the task's question has no ID.
func Question(known contract.DelegateResult) contract.Text {
	if askedUUID(known) != "" {
		return contract.Text{}
	}
	return known.Text
}

// SameText reports whether two texts are equal.
func SameText(a, b contract.Text) bool {
	if a.Blob == nil || b.Blob == nil {
		return a == b
	}
	return a.Blob.SHA256 == b.Blob.SHA256
}

// ContinuesAfterRefusal reports whether a task continues although it was refused.
func ContinuesAfterRefusal(sent contract.DelegateInput, now contract.DelegateResult) bool {
	return sent.Decision == contract.Rejected && (now.State.Running() || now.State == contract.TaskInputRequired)
}

func askedUUID(r contract.DelegateResult) string {
	if r.Asked == nil {
		return ""
	}
	return r.Asked.UUID
}

// How often another agent's task is polled: at decreasing frequency. Each poll adds about a
// dozen events to a history that cannot continue as new meanwhile, so polls are rare once it is
// long; it then has room for years.
const (
	shortestPoll       = 2 * time.Second
	pollShare          = 20
	longestPoll        = 5 * time.Minute
	longestWaitingPoll = 30 * time.Minute

	longEvents             = 20_000
	longBytes              = 16 << 20
	longHistoryPoll        = time.Hour
	longHistoryWaitingPoll = 24 * time.Hour
)

// isLong reports whether a history has no room for frequent polls. Up to twice that size it has
// room for one a day.
func (h History) isLong(times int) bool {
	return h.Events >= times*longEvents || h.Bytes >= times*longBytes
}

// PollInterval returns the pause before the next poll of a task that has worked for the given
// time.
func PollInterval(worked time.Duration, h History) time.Duration {
	switch {
	case h.isLong(2):
		return longHistoryWaitingPoll
	case h.isLong(1):
		return longHistoryPoll
	}
	return min(max(shortestPoll, worked/pollShare), longestPoll)
}

// WaitingPollInterval is PollInterval for a task that has waited for the given time.
func WaitingPollInterval(waited time.Duration, h History) time.Duration {
	if h.isLong(1) {
		return longHistoryWaitingPoll
	}
	return min(max(shortestPoll, waited/pollShare), longestWaitingPoll)
}
