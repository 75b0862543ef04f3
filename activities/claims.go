package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
)

// Claims record, outside of every history, which destructive calls were sent. After `temporal
// workflow reset` the history lacks the calls made after that point, and would make them again.
// So does one that was restored from a backup, or that a power cut has shortened.
type Claims interface {
	// Claim takes a name for an owner, unless it is taken, and returns its holder.
	Claim(ctx context.Context, name, owner string) (holder string, err error)
	Release(ctx context.Context, name string) error
}

// claimant is the attempt that sends a call. A run makes a call once without a grant, and once
// for each; only a later attempt of the same activity may send it again.
type claimant struct {
	Run string    `json:"run"`
	At  time.Time `json:"at"`
	// Attempt is 0 in claims of earlier versions.
	Attempt int32 `json:"attempt,omitempty"`
}

// follows reports whether an attempt is a later one of the activity that has the claim.
func (c claimant) follows(other claimant) bool {
	return c.Run == other.Run && c.Attempt > other.Attempt
}

// claim reserves the right to send something that must not be sent twice. Its error is made by
// fail: the call was sent before, or this is not known. kind is the kind of a failure of the
// store. settle releases the claim if the call is known to have had no effect.
func claim(ctx context.Context, claims Claims, kind contract.Kind, name string, now time.Time) (settle func(harmless bool), err error) {
	if claims == nil {
		return func(bool) {}, nil
	}
	me := claimant{At: now.UTC()}
	if activity.IsActivity(ctx) {
		info := activity.GetInfo(ctx)
		me.Run, me.Attempt = info.WorkflowExecution.RunID, info.Attempt
	}
	raw, err := json.Marshal(me)
	if err != nil { // strings can be encoded
		return nil, fail(contract.KindInternal, err.Error(), 0)
	}
	holder, err := claims.Claim(ctx, name, string(raw))
	if err != nil {
		return nil, fail(kind, fmt.Sprintf("it could not be noted that the call is sent: %v", err), 0)
	}
	var other claimant
	switch err := json.Unmarshal([]byte(holder), &other); {
	case err != nil || other.Run == "" && other.At.IsZero():
		return nil, fail(contract.KindOutcomeUnknown, "it may have been sent before: what was noted about it cannot be read", 0)
	case holder != string(raw) && !me.follows(other):
		return nil, fail(contract.KindOutcomeUnknown, sentBeforeText(other, me), 0)
	}
	return func(harmless bool) {
		if harmless {
			releaseClaim(ctx, claims, name)
		}
	}, nil
}

func sentBeforeText(by, me claimant) string {
	who := fmt.Sprintf("a run of this conversation that has been reset since (%s)", by.Run)
	if by.Run == me.Run {
		who = "this run, whose history does not have it: its process ended meanwhile, the machine lost power, or a backup was restored"
	}
	return fmt.Sprintf("it was sent before, at %s, by %s", by.At.Format("2006-01-02 15:04:05 MST"), who)
}

// hadNoEffect reports whether a failure says that a call had no effect.
func hadNoEffect(err error) bool {
	var known *temporal.ApplicationError
	return errors.As(err, &known) && slices.Contains(withoutEffect, contract.Kind(known.Type()))
}

var withoutEffect = []contract.Kind{
	contract.KindToolUnavailable, contract.KindToolFailed, contract.KindPeerUnavailable, contract.KindPeerFailed, contract.KindInvalid,
	contract.KindDigest, contract.KindChanged, contract.KindBlob,
}

// releaseClaim allows the call to be sent again after a reset. If it fails, a person is asked
// then.
func releaseClaim(ctx context.Context, claims Claims, name string) {
	if err := claims.Release(context.WithoutCancel(ctx), name); err != nil {
		slog.Warn("a call that was not sent is noted as sent", "error", err)
	}
}
