package ledger_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/config/feed/feedtest"
	"agent-stop-and-go/config/ledger"
)

func open(t *testing.T, s *feedtest.Server, agent string) *ledger.Redis {
	t.Helper()
	r, err := ledger.Open(s.URL(), agent, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestGatewaysCountTogether(t *testing.T) {
	s := feedtest.NewServer(t, "secret")
	gateways := []*ledger.Redis{open(t, s, "a"), open(t, s, "a")}
	var taken atomic.Int64
	var requests sync.WaitGroup
	for i := range 60 {
		requests.Go(func() {
			wait, err := gateways[i%2].Take(t.Context(), "alice", time.Hour, 10)
			if err != nil {
				t.Error(err)
			}
			if wait == 0 {
				taken.Add(1)
			} else if wait < 59*time.Minute || wait > time.Hour {
				t.Errorf("wait for %s", wait)
			}
		})
	}
	requests.Wait()
	if n := taken.Load(); n != 10 {
		t.Errorf("%d requests were taken, want 10", n)
	}
	for name, take := range map[string]func() (time.Duration, error){
		"another caller": func() (time.Duration, error) { return gateways[0].Take(t.Context(), "bob", time.Hour, 10) },
		"another agent":  func() (time.Duration, error) { return open(t, s, "b").Take(t.Context(), "alice", time.Hour, 10) },
	} {
		if wait, err := take(); wait != 0 || err != nil {
			t.Errorf("%s: wait for %s, %v", name, wait, err)
		}
	}
}

func TestStartsAreNotedInTheirOrder(t *testing.T) {
	s := feedtest.NewServer(t, "")
	one, two := open(t, s, "a"), open(t, s, "a")
	want := func(r *ledger.Redis, id string, known bool, before ...string) {
		t.Helper()
		got, is, err := r.Begin(t.Context(), "alice", id)
		if err != nil || is != known || !slices.Equal(got, before) {
			t.Errorf("%s: %q, %v, %v, want %q, %v", id, got, is, err, before, known)
		}
	}
	want(one, "1", false)
	want(two, "2", false, "1")
	want(one, "2", true, "1")
	want(two, "3", false, "1", "2")
	if err := one.Withdraw(t.Context(), "alice", "1"); err != nil {
		t.Error(err)
	}
	want(one, "4", false, "2", "3")
}

func TestErrorsDoNotShowThePassword(t *testing.T) {
	s := feedtest.NewServer(t, "wonderland")
	r := open(t, s, "a")
	other, err := ledger.Open(strings.Replace(s.URL(), "wonderland", "looking-glass", 1), "a", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	s.Kill()
	for _, l := range []*ledger.Redis{r, other} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err := l.Take(ctx, "alice", time.Hour, 1)
		cancel()
		if text := fmt.Sprint(err); err == nil || strings.Contains(text, "wonderland") || strings.Contains(text, "looking-glass") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := ledger.Open("redis://:wonderland@a b", "a", time.Minute); err == nil || strings.Contains(err.Error(), "wonderland") {
		t.Errorf("got %v", err)
	}
}
