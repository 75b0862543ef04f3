package workflows_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// decisionLog keeps the log lines about decisions, without the SDK's own fields.
type decisionLog struct {
	slog.Handler
	seen *recorder
}

func (d decisionLog) Enabled(context.Context, slog.Level) bool { return true }

func (d decisionLog) WithAttrs([]slog.Attr) slog.Handler { return d }

func (d decisionLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message == contract.LogDecision {
		line := r.Level.String()
		r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
		d.seen.decisions = append(d.seen.decisions, line)
	}
	return nil
}

func TestEveryDecisionIsLoggedOnceWithoutItsWords(t *testing.T) {
	const about = "INFO uuid=" + approvalID + " conversation=" + conversationID + " agent=tester tool=resources_add server=resources decision="
	long := strings.Repeat("ä", 500)
	tests := map[string]struct {
		decide func(s *session)
		want   string
	}{
		"a yes": {
			func(s *session) { s.decideOn(approvalID, typed(`{"approved":true,"by":"alice","via":"rest"}`)) }, "approved by=alice via=rest reason=false",
		},
		"a no with a reason": {
			func(s *session) {
				s.decideOn(approvalID, typed(`{"approved":false,"by":"bob","reason":"a secret of ours"}`))
			},
			"rejected by=bob via=signal reason=true",
		},
		"after what is no decision": {
			func(s *session) {
				s.decideOn(approvalID, typed(`{}`))
				s.decideOn(approvalID, typed(`{"approved":true}`))
			},
			"approved by= via=signal reason=false",
		},
		"by somebody with a long name": {
			func(s *session) { s.decideOn(approvalID, typed(fmt.Sprintf(`{"approved":true,"by":%q}`, long))) },
			"approved by=" + strings.Repeat("ä", 100) + " via=signal reason=false",
		},
		"too late":  {func(s *session) { s.sleep(2 * time.Hour) }, "expired by= via= reason=true"},
		"withdrawn": {func(s *session) { s.env.CancelWorkflow() }, "cancelled by= via= reason=true"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := question()
			in.Timeout = time.Hour
			var seen *recorder
			runApprovalAlone(t, in, func(s *session) {
				seen = s.seen
				tt.decide(s)
				s.rest()
			})
			same(t, "log", seen.decisions, []string{about + tt.want + " sid= caller= trace="})
		})
	}
}
