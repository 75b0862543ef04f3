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

// Claims remember, outside of every history, which destructive calls were sent. A history
// that an operator winds back (`temporal workflow reset`) knows nothing of the calls that
// came after, and would make them again.
type Claims interface {
	// Claim takes a name for an owner, unless somebody has it, and returns who has it.
	Claim(ctx context.Context, name, owner string) (holder string, err error)
	Release(ctx context.Context, name string) error
}

// claimant is who sends a call. A run knows what it has sent itself.
type claimant struct {
	Run string    `json:"run"`
	At  time.Time `json:"at"`
}

// claim takes the right to send something that must not be sent twice. An error that it
// returns is made by fail: the call was sent before, or it is not known whether it was.
// kind is that of a failure to note it. Settle gives the right back where the call is
// known to have had no effect.
func claim(ctx context.Context, claims Claims, kind contract.Kind, name string, now time.Time) (settle func(harmless bool), err error) {
	if claims == nil {
		return func(bool) {}, nil
	}
	me := claimant{At: now.UTC()}
	if activity.IsActivity(ctx) {
		me.Run = activity.GetInfo(ctx).WorkflowExecution.RunID
	}
	raw, err := json.Marshal(me)
	if err != nil { // of strings
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
	case other.Run != me.Run:
		return nil, fail(contract.KindOutcomeUnknown, sentBeforeText(other), 0)
	}
	return func(harmless bool) {
		if harmless {
			releaseClaim(ctx, claims, name)
		}
	}, nil
}

func sentBeforeText(by claimant) string {
	return fmt.Sprintf("it was sent before, at %s, by a run of this conversation that has been reset since (%s)",
		by.At.Format("2006-01-02 15:04:05 MST"), by.Run)
}

// hadNoEffect reports whether a failure says that nothing has come of a call.
func hadNoEffect(err error) bool {
	var known *temporal.ApplicationError
	return errors.As(err, &known) && slices.Contains(withoutEffect, contract.Kind(known.Type()))
}

var withoutEffect = []contract.Kind{
	contract.KindToolUnavailable, contract.KindToolFailed, contract.KindPeerUnavailable, contract.KindPeerFailed, contract.KindInvalid,
	contract.KindDigest, contract.KindChanged, contract.KindBlob,
}

// releaseClaim lets a call be sent again after a reset. A claim that stays is no harm: a
// person is asked then.
func releaseClaim(ctx context.Context, claims Claims, name string) {
	if err := claims.Release(context.WithoutCancel(ctx), name); err != nil {
		slog.Warn("a call that was not sent is noted as sent", "error", err)
	}
}
