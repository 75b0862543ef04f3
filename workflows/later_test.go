package workflows_test

import (
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/later"
)

// putOff sends an update that puts the approval off.
func (s *session) putOff(subject string, d time.Duration) *laterUpdate {
	u := &laterUpdate{}
	s.env.UpdateWorkflow(later.Update, "", u, later.Deferral{Subject: subject, Until: s.env.Now().Add(d)})
	s.rest()
	return u
}

type laterUpdate struct{ refused, err error }

func (u *laterUpdate) Accept()                 {}
func (u *laterUpdate) Reject(err error)        { u.refused = err }
func (u *laterUpdate) Complete(_ any, e error) { u.err = e }

func TestAnApprovalThatIsPutOffIsDecidedAllTheSame(t *testing.T) {
	got := runApprovalAlone(t, question(), func(s *session) {
		u := s.putOff("keys alice", time.Hour)
		same(t, "refused", u.refused, nil)
		same(t, "error", u.err, nil)
		v := s.approval(approvalID)
		same(t, "result", v.Result, nil)
		same(t, "put off by", len(v.Deferrals), 1)
		same(t, "back for bob", v.Deferrals.Of("keys bob", s.env.Now()), nil)
		s.putOff("keys alice", 0)
		same(t, "put off by", len(s.approval(approvalID).Deferrals), 0)
		same(t, "too long", kindOf(s.putOff("keys alice", 2*later.MaxTime).refused), contract.KindInvalid)
		s.putOff("keys alice", time.Hour)
		s.decideOn(approvalID, contract.DecideSignal{Approved: true})
		s.rest()
	})
	same(t, "decision", got.Decision, contract.Approved)
}

func TestPuttingOffNeverStopsTheTime(t *testing.T) {
	in := question()
	in.Timeout = time.Hour
	got := runApprovalAlone(t, in, func(s *session) {
		s.sleep(50 * time.Minute)
		s.putOff("", 24*time.Hour)
		s.sleep(10 * time.Minute)
		if !s.over {
			t.Error("the approval still waits after an hour")
		}
	})
	same(t, "decision", got.Decision, contract.Expired)
}
