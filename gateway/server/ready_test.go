package server_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway/server"
)

// await collects the reports about a gateway that has the given problems at successive
// checks.
func await(ctx context.Context, looks ...[]string) (reports []string, took time.Duration) {
	began := time.Now()
	server.AwaitReady(ctx, func(context.Context) []string {
		now := looks[0]
		if len(looks) > 1 {
			looks = looks[1:]
		}
		return now
	}, func(problems []string) { reports = append(reports, fmt.Sprint(problems)) })
	return reports, time.Since(began)
}

func TestAReadyGatewayIsReportedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if reports, took := await(t.Context(), nil); fmt.Sprint(reports) != "[[]]" || took != 0 {
			t.Errorf("reported %v after %v", reports, took)
		}
	})
}

func TestEachChangeOfProblemsIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports, _ := await(t.Context(), []string{"a", "b"}, []string{"a", "b"}, []string{"b"}, []string{"b"}, nil, []string{"late"})
		if fmt.Sprint(reports) != "[[a b] [b] []]" {
			t.Errorf("reported %v", reports)
		}
	})
}

func TestChecksOfAnUnreadyGatewayBecomeRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		looks := 0
		server.AwaitReady(ctx, func(context.Context) []string { looks++; return []string{"a"} }, func([]string) {})
		if most := int(24*time.Hour/(5*time.Minute)) + 20; looks > most {
			t.Errorf("%d looks a day, expected at most %d", looks, most)
		}
	})
}
