package front_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway/front"
)

// await collects what is told about a gateway that has problems at its looks, one
// after the other.
func await(ctx context.Context, looks ...[]string) (told []string, took time.Duration) {
	began := time.Now()
	front.AwaitReady(ctx, func(context.Context) []string {
		now := looks[0]
		if len(looks) > 1 {
			looks = looks[1:]
		}
		return now
	}, func(problems []string) { told = append(told, fmt.Sprint(problems)) })
	return told, time.Since(began)
}

func TestAGatewayThatIsReadySaysSoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if told, took := await(t.Context(), nil); fmt.Sprint(told) != "[[]]" || took != 0 {
			t.Errorf("told %v after %v", told, took)
		}
	})
}

func TestEachChangeOfWhatIsMissingIsToldOnceUntilNothingIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told, _ := await(t.Context(), []string{"a", "b"}, []string{"a", "b"}, []string{"b"}, []string{"b"}, nil, []string{"late"})
		if fmt.Sprint(told) != "[[a b] [b] []]" {
			t.Errorf("told %v", told)
		}
	})
}

func TestAGatewayThatStaysUnreadyIsLookedAtEverMoreRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		looks := 0
		front.AwaitReady(ctx, func(context.Context) []string { looks++; return []string{"a"} }, func([]string) {})
		if most := int(24*time.Hour/(5*time.Minute)) + 20; looks > most {
			t.Errorf("%d looks a day, expected at most %d", looks, most)
		}
	})
}
