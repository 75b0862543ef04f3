package backend

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/telemetry"
)

const (
	surveyPage = 500
	// A survey is kept for surveyPace, and longer if it takes long: reading costs the server at
	// most a twentieth of its time.
	surveyPace  = 15 * time.Second
	surveyShare = 20
)

// stuck selects workflows whose task has failed repeatedly. The server sets the attribute after
// five times.
const stuck = "TemporalReportedProblems IS NOT NULL AND ExecutionStatus = 'Running'"

// auditWait bounds the question for the witnesses, which a worker answers: without one, the rest is
// reported all the same.
const auditWait = 2 * time.Second

// Surveyor reads what waits from Temporal's visibility, and keeps it for a while. It is safe for
// concurrent use.
type Surveyor struct {
	backend   *Temporal
	witnesses []string

	mu     sync.Mutex
	groups map[group]*waiting
	stuck  int64
	lags   []audit.Lag
	err    error // of the last read
	due    time.Time
}

// group is what the metrics of approvals distinguish.
type group struct {
	agent  string
	reason contract.Reason
}

type waiting struct {
	open   int64
	oldest time.Time
}

// NewSurveyor makes a Surveyor. It says how far the named witnesses of the audit log are behind.
func NewSurveyor(t *Temporal, witnesses ...string) *Surveyor {
	return &Surveyor{backend: t, witnesses: witnesses}
}

// Survey returns what waits now, or did some seconds ago. Ages are those of now. A failure is kept
// like a result: a server that has trouble is not asked more often.
func (s *Surveyor) Survey(ctx context.Context) (telemetry.Survey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if began := s.backend.now(); !began.Before(s.due) {
		s.err = s.read(ctx)
		ended := s.backend.now()
		s.due = ended.Add(max(surveyPace, surveyShare*ended.Sub(began)))
	}
	if s.err != nil {
		return telemetry.Survey{}, s.err
	}
	out, now := telemetry.Survey{Stuck: s.stuck}, s.backend.now()
	for g, w := range s.groups {
		out.Waiting = append(out.Waiting, telemetry.Waiting{Agent: g.agent, Reason: g.reason, Open: w.open, Oldest: now.Sub(w.oldest).Seconds()})
	}
	for _, l := range s.lags {
		w := telemetry.Witness{Name: l.Name, Unsigned: l.Leaves}
		if !l.Since.IsZero() {
			w.Age = now.Sub(l.Since).Seconds()
		}
		out.Witnesses = append(out.Witnesses, w)
	}
	return out, nil
}

func (s *Surveyor) read(ctx context.Context) error {
	groups, err := s.backend.waitingByReason(ctx)
	if err != nil {
		return err
	}
	r, err := s.backend.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: s.backend.namespace, Query: s.backend.ours(stuck),
	})
	if err != nil {
		return fault(err, "count stuck workflows")
	}
	s.groups, s.stuck, s.lags = groups, r.GetCount(), s.readLags(ctx)
	return nil
}

// readLags asks the Audit. Where nobody answers, nothing is known.
func (s *Surveyor) readLags(ctx context.Context) (out []audit.Lag) {
	if len(s.witnesses) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, auditWait)
	defer cancel()
	var v audit.View
	if open, err := s.backend.queryOpen(ctx, audit.WorkflowID, audit.QueryAudit, &v); err != nil || !open {
		return nil
	}
	for _, name := range s.witnesses {
		out = append(out, v.Lag(name))
	}
	return out
}

// waitingByReason lists all approvals that wait, page by page.
func (t *Temporal) waitingByReason(ctx context.Context) (map[group]*waiting, error) {
	groups := map[group]*waiting{}
	for q := (service.ListQuery{Limit: surveyPage}); ; {
		page, err := t.Waiting(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			g := group{item.AgentName, item.Card.Reason}
			w := groups[g]
			if w == nil {
				w = &waiting{oldest: item.CreatedAt}
				groups[g] = w
			}
			w.open++
			if item.CreatedAt.Before(w.oldest) {
				w.oldest = item.CreatedAt
			}
		}
		if q.Token = page.Next; len(q.Token) == 0 {
			return groups, nil
		}
	}
}
