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
	"agent-stop-and-go/workflows/contract"
)

// stopped delegates until the worker stops, which ends with a failure.
func stopped(t *testing.T, failure error) error {
	ctx, cancel := context.WithCancel(t.Context())
	p := peers(t, func(ctx context.Context, _ activities.PeerMessage) (activities.PeerReply, error) {
		cancel()
		<-ctx.Done()
		return activities.PeerReply{}, failure
	})
	_, err := p.Delegate(ctx, delegating(t, `{"message":"x"}`))
	return err
}

func TestACancelledDelegationIsCancelled(t *testing.T) {
	for _, failure := range []error{context.Canceled, errors.New("closed"), &activities.PeerError{Kind: contract.KindPeerUnavailable}} {
		if err := stopped(t, failure); err != context.Canceled {
			t.Errorf("got %#v", err)
		}
	}
}

func TestAWorkerThatStopsDoesNotHideThatTheOutcomeIsUnknown(t *testing.T) {
	err := stopped(t, &activities.PeerError{Kind: contract.KindPeerFailed, Message: "the outcome is unknown"})
	failedAs(t, err, contract.KindPeerFailed, false)
}

// attempted delegates with retries, as a workflow does. It returns which attempts
// were told that the one before may have arrived.
func attempted(t *testing.T, p *activities.Peers, before func(context.Context) error) (repeated []bool) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment().SetTestTimeout(2 * time.Minute).
		SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: 2 * time.Minute}) // as long as a busy machine takes
	send := p.Peer.(fakePeer).SendFn
	p.Peer = fakePeer{func(ctx context.Context, m activities.PeerMessage) (activities.PeerReply, error) {
		repeated = append(repeated, m.Repeated)
		return send(ctx, m)
	}}
	delegate := func(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
		if err := before(ctx); err != nil {
			return contract.DelegateResult{}, err
		}
		return p.Delegate(ctx, in)
	}
	env.RegisterActivityWithOptions(delegate, activity.RegisterOptions{Name: "delegate"})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute, HeartbeatTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 3},
		})
		return workflow.ExecuteActivity(ctx, "delegate", delegating(t, `{"message":"x"}`)).Get(ctx, nil)
	})
	return repeated
}

func TestAnAttemptKnowsWhetherTheOneBeforeMayHaveSentTheMessage(t *testing.T) {
	away := saying(activities.PeerReply{}, &activities.PeerError{Kind: contract.KindPeerUnavailable, Message: "away"})
	// A worker that dies leaves no word.
	dies := func(on int32) func(context.Context) error {
		return func(ctx context.Context) error {
			if activity.GetInfo(ctx).Attempt == on {
				return errors.New("the worker died")
			}
			return nil
		}
	}
	unstored := peers(t, saying(activities.PeerReply{State: contract.TaskCompleted, Text: long}, nil))
	unstored.Blobs.(*memory).putErr = errStore
	for name, tt := range map[string]struct {
		peers  *activities.Peers
		before func(context.Context) error
		want   []bool
	}{
		"each was not sent":         {peers(t, away), dies(0), []bool{false, false, false}},
		"the first died":            {peers(t, away), dies(1), []bool{true, true}},
		"the second died":           {peers(t, away), dies(2), []bool{false, true}},
		"the answer was not stored": {unstored, dies(0), []bool{false, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, attempted(t, tt.peers, tt.before)); diff != "" {
				t.Errorf("repeated (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatNobodyWaitsForIsToldHoweverLateTheAgentWantsIt(t *testing.T) {
	busy := &activities.PeerError{Kind: contract.KindPeerUnavailable, Message: "busy", RetryAfter: time.Hour}
	cancel := deciding("")
	cancel.Cancel = true
	for name, in := range map[string]contract.DelegateInput{"a rejection": deciding(contract.Rejected), "a cancellation": cancel} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, t.Context(), peers(t, saying(activities.PeerReply{}, busy)).Delegate, in)
			if app := failedAs(t, err, contract.KindPeerUnavailable, true); app.NextRetryDelay() != time.Hour {
				t.Errorf("next attempt in %s", app.NextRetryDelay())
			}
		})
	}
}
