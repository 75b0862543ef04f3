package activities_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
)

// delegateAndStop delegates while the worker stops, which makes the delegation fail.
func delegateAndStop(t *testing.T, failure error) error {
	ctx, cancel := context.WithCancel(t.Context())
	p := peers(t, func(ctx context.Context, _ peer.Message) (peer.Reply, error) {
		cancel()
		<-ctx.Done()
		return peer.Reply{}, failure
	})
	_, err := p.Delegate(ctx, delegating(t, `{"message":"x"}`))
	return err
}

func TestACancelledDelegationIsCancelled(t *testing.T) {
	for _, failure := range []error{context.Canceled, errors.New("closed"), &peer.Error{Kind: contract.KindPeerUnavailable}} {
		if err := delegateAndStop(t, failure); err != context.Canceled {
			t.Errorf("got %#v", err)
		}
	}
}

func TestAWorkerThatStopsDoesNotHideThatTheOutcomeIsUnknown(t *testing.T) {
	err := delegateAndStop(t, &peer.Error{Kind: contract.KindPeerFailed, Message: "the outcome is unknown"})
	failedAs(t, err, contract.KindPeerFailed, false)
}

// delegateWithRetries delegates with retries, as a workflow does. It returns Message.Repeated
// of each attempt, and the final error.
func delegateWithRetries(t *testing.T, p *activities.Peers, in contract.DelegateInput, before func(context.Context) error, after ...func(context.Context, error) error) (repeated []bool, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment().SetTestTimeout(2 * time.Minute).
		SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: 2 * time.Minute}) // enough for a busy machine
	send := p.Peer.(fakePeer).SendFn
	p.Peer = fakePeer{func(ctx context.Context, m peer.Message) (peer.Reply, error) {
		repeated = append(repeated, m.Repeated)
		return send(ctx, m)
	}}
	delegate := func(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
		if err := before(ctx); err != nil {
			return contract.DelegateResult{}, err
		}
		out, err := p.Delegate(ctx, in)
		for _, f := range after {
			err = f(ctx, err)
		}
		return out, err
	}
	env.RegisterActivityWithOptions(delegate, activity.RegisterOptions{Name: "delegate"})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute, HeartbeatTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 3},
		})
		return workflow.ExecuteActivity(ctx, "delegate", in).Get(ctx, nil)
	})
	return repeated, env.GetWorkflowError()
}

func TestAnAttemptKnowsWhetherTheOneBeforeMayHaveSentTheMessage(t *testing.T) {
	away := saying(peer.Reply{}, &peer.Error{Kind: contract.KindPeerUnavailable, Message: "away"})
	unstored := peers(t, saying(peer.Reply{State: contract.TaskCompleted, Text: long}, nil))
	unstored.Blobs.(*memory).putErr = errStore
	for name, tt := range map[string]struct {
		peers  *activities.Peers
		before func(context.Context) error
		want   []bool
	}{
		"each was not sent":         {peers(t, away), dieInAttempt(0), []bool{false, false, false}},
		"the first died":            {peers(t, away), dieInAttempt(1), []bool{true, true}},
		"the second died":           {peers(t, away), dieInAttempt(2), []bool{false, true}},
		"the answer was not stored": {unstored, dieInAttempt(0), []bool{false, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			repeated, _ := delegateWithRetries(t, tt.peers, delegating(t, `{"message":"x"}`), tt.before)
			if diff := cmp.Diff(tt.want, repeated); diff != "" {
				t.Errorf("repeated (-want +got):\n%s", diff)
			}
		})
	}
}

// dieInAttempt simulates a worker that dies in an attempt without a report.
func dieInAttempt(on int32) func(context.Context) error {
	return func(ctx context.Context) error {
		if activity.GetInfo(ctx).Attempt == on {
			return errors.New("the worker died")
		}
		return nil
	}
}

// A worker may die after an attempt has failed and before the server has its report.
func TestAnAttemptWhoseReportIsLostMayHaveSentTheMessage(t *testing.T) {
	for kind, want := range map[contract.Kind][]bool{
		contract.KindOutcomeUnknown:  {false, true},
		contract.KindPeerFailed:      {false, true},
		contract.KindPeerUnavailable: {false, false}, // it certainly did not
	} {
		p := peers(t, func(_ context.Context, m peer.Message) (peer.Reply, error) {
			return peer.Reply{State: contract.TaskCompleted}, &peer.Error{Kind: kind}
		})
		repeated, _ := delegateWithRetries(t, p, delegating(t, `{"message":"x"}`), dieInAttempt(0), func(ctx context.Context, err error) error {
			if activity.GetInfo(ctx).Attempt == 1 {
				return errors.New("the worker died")
			}
			return temporal.NewNonRetryableApplicationError("enough", "", nil)
		})
		if diff := cmp.Diff(want, repeated); diff != "" {
			t.Errorf("%s: repeated (-want +got):\n%s", kind, diff)
		}
	}
}

// A later failure does not prove that the message had no effect, and keeps the claim.
func TestADestructiveMessageThatMayHaveBeenSentStaysInDoubt(t *testing.T) {
	held := func() *claims { return &claims{holders: map[string]string{}} }
	away := func(t *testing.T) *activities.Peers {
		return peers(t, saying(peer.Reply{}, &peer.Error{Kind: contract.KindPeerUnavailable, Message: "away"}))
	}
	for name, tt := range map[string]struct {
		claims *claims
		change func(*activities.Peers, *contract.DelegateInput)
	}{
		"the agent is away":  {held(), func(*activities.Peers, *contract.DelegateInput) {}},
		"it cannot be noted": {&claims{claimErr: errStore}, func(*activities.Peers, *contract.DelegateInput) {}},
		"the arguments cannot be read": {held(), func(p *activities.Peers, in *contract.DelegateInput) {
			in.Arguments = contract.JSON{Blob: &contract.Blob{}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p, in := away(t), delegating(t, `{"message":"wipe it"}`)
			in.Destructive = true
			p.Claims = tt.claims
			tt.change(p, &in)
			_, err := delegateWithRetries(t, p, in, dieInAttempt(1))
			failedAs(t, err, contract.KindOutcomeUnknown, false)
			if tt.claims.claimErr == nil && len(tt.claims.holders) != 1 {
				t.Errorf("claims %v", tt.claims.holders)
			}
		})
	}
}

func TestWhatNobodyWaitsForIsToldHoweverLateTheAgentWantsIt(t *testing.T) {
	busy := &peer.Error{Kind: contract.KindPeerUnavailable, Message: "busy", RetryAfter: time.Hour}
	cancel := deciding("")
	cancel.Cancel = true
	for name, in := range map[string]contract.DelegateInput{"a rejection": deciding(contract.Rejected), "a cancellation": cancel} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, t.Context(), peers(t, saying(peer.Reply{}, busy)).Delegate, in)
			if app := failedAs(t, err, contract.KindPeerUnavailable, true); app.NextRetryDelay() != time.Hour {
				t.Errorf("next attempt in %s", app.NextRetryDelay())
			}
		})
	}
}
