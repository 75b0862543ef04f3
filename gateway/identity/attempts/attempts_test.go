package attempts_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/attempts"
	"agent-stop-and-go/gateway/identity/forwarded"
)

// trial has attempts, at a time that tests move.
type trial struct {
	*attempts.Attempts
	at             time.Time
	shown, checked int
}

func newTrial() *trial {
	x := &trial{at: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)}
	x.Attempts = attempts.New(forwarded.Proxies{netip.MustParsePrefix("10.0.0.0/8")}, func() time.Time { return x.at })
	return x
}

func from(address string, way ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr, r.Header = address, http.Header{"X-Forwarded-For": way}
	return r
}

var errRefused = &identity.Refused{Reason: "no"}

// show shows a proof of somebody, never the same one, which is checked with a result.
func (x *trial) show(r *http.Request, name string, result error) error {
	x.shown++
	return x.showSecret(r, identity.Claim{Secret: fmt.Sprint("secret ", x.shown), Name: name}, result)
}

func (x *trial) showSecret(r *http.Request, c identity.Claim, result error) error {
	return x.Check(r, c, func() error { x.checked++; return result })
}

// exhaust shows proofs that do not hold until they are not checked any more.
func (x *trial) exhaust(t *testing.T, r *http.Request, name func(int) string) {
	t.Helper()
	for i := range 2 * attempts.Burst {
		if err := x.show(r, name(i), errRefused); errors.As(err, new(*identity.TooMany)) {
			return
		}
	}
	t.Fatalf("%d proofs that do not hold were all checked", 2*attempts.Burst)
}

func invented(i int) string { return fmt.Sprint("nobody ", i) }

func wantWait(t *testing.T, what string, err error, want time.Duration) {
	t.Helper()
	var many *identity.TooMany
	if !errors.As(err, &many) || many.Wait != want {
		t.Errorf("%s: got %v, want a wait of %s", what, err, want)
	}
}

func TestProofsThatDoNotHoldAreNotCheckedWithoutEnd(t *testing.T) {
	x := newTrial()
	attacker := from("192.0.2.1:1")
	x.exhaust(t, attacker, invented)
	if x.checked != attempts.Burst {
		t.Errorf("%d were checked, want %d", x.checked, attempts.Burst)
	}
	wantWait(t, "another one", x.show(from("192.0.2.1:2"), "nobody", nil), attempts.Interval)
	if err := x.show(from("192.0.2.2:1"), "nobody", nil); err != nil {
		t.Errorf("from another address: %v", err)
	}
	x.at = x.at.Add(attempts.Interval)
	if err := x.show(attacker, "nobody else", errRefused); !errors.Is(err, errRefused) {
		t.Errorf("after a while: %v", err)
	}
	wantWait(t, "and again", x.show(attacker, "nobody else", errRefused), attempts.Interval)
	x.at = x.at.Add(time.Hour)
	x.checked = 0
	x.exhaust(t, attacker, invented)
	if x.checked != attempts.Burst {
		t.Errorf("an hour later %d were checked, want %d", x.checked, attempts.Burst)
	}
}

func TestAttemptsOfOthersLockNobodyOutWhoIsKnown(t *testing.T) {
	x := newTrial()
	office := from("192.0.2.1:1")
	if err := x.show(from("198.51.100.1:1"), "alice", nil); err != nil {
		t.Fatal(err)
	}
	x.exhaust(t, office, invented)
	for range 2 * attempts.Burst {
		if err := x.show(office, "alice", nil); err != nil {
			t.Fatalf("a known caller: %v", err)
		}
	}
	x.exhaust(t, office, func(int) string { return "alice" })
	wantWait(t, "in her name", x.show(office, "alice", nil), attempts.Interval)
	if err := x.show(from("198.51.100.1:1"), "alice", nil); err != nil {
		t.Errorf("elsewhere: %v", err)
	}
}

// Whoever writes a name into junk has not the secret that goes with it.
func TestJunkInTheNameOfACallerDoesNotLockItOut(t *testing.T) {
	x, office, alice := newTrial(), from("192.0.2.1:1"), identity.Claim{Secret: "the token of alice", Name: "alice"}
	if err := x.showSecret(office, alice, nil); err != nil {
		t.Fatal(err)
	}
	x.exhaust(t, office, invented)
	x.exhaust(t, office, func(int) string { return "alice" })
	for range 2 * attempts.Burst {
		if err := x.showSecret(office, alice, nil); err != nil {
			t.Fatalf("the token that has held: %v", err)
		}
	}
	if err := x.showSecret(office, alice, errRefused); !errors.Is(err, errRefused) { // it has expired
		t.Errorf("got %v", err)
	}
	wantWait(t, "the token that holds no more", x.showSecret(office, alice, errRefused), attempts.Interval)
}

// Failures that were checked at the same time delay those who come after them by one interval.
func TestConcurrentFailuresCountAsABurst(t *testing.T) {
	x, r := newTrial(), from("192.0.2.1:1")
	var all func(n int) error
	all = func(n int) error {
		if n == 0 {
			return errRefused
		}
		return x.Check(r, identity.Claim{}, func() error { return errors.Join(all(n-1), errRefused) })
	}
	if err := all(10 * attempts.Burst); !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	wantWait(t, "the next", x.show(r, "", nil), attempts.Interval)
}

func TestLoginsAreCountedApart(t *testing.T) {
	x, office := newTrial(), from("192.0.2.1:1")
	x.exhaust(t, office, invented)
	for range attempts.Burst {
		if err := x.CheckLogin(office, func() error { return errRefused }); !errors.Is(err, errRefused) {
			t.Fatalf("a login: %v", err)
		}
	}
	wantWait(t, "another login", x.CheckLogin(office, func() error { return nil }), attempts.Interval)
	if err := x.CheckLogin(from("192.0.2.2:1"), func() error { return nil }); err != nil {
		t.Errorf("a login from elsewhere: %v", err)
	}
}

func TestProofsThatHoldOrCannotBeCheckedDoNotCount(t *testing.T) {
	x := newTrial()
	for range 3 * attempts.Burst {
		if err := x.show(from("192.0.2.1:1"), "", nil); err != nil {
			t.Fatal(err)
		}
		away := &identity.Unavailable{Reason: "away"}
		if err := x.show(from("192.0.2.1:1"), "", away); !errors.Is(err, away) {
			t.Fatal(err)
		}
	}
}

func TestSourcesAreClientsAndNotTheirProxies(t *testing.T) {
	x := newTrial()
	x.exhaust(t, from("10.0.0.1:1", "192.0.2.1"), invented)
	if err := x.show(from("10.0.0.1:1", "192.0.2.2"), "", nil); err != nil {
		t.Errorf("another client of the proxy: %v", err)
	}
	x.exhaust(t, from("192.0.2.9:1", "192.0.2.3"), invented)
	wantWait(t, "another claim of who is no proxy", x.show(from("192.0.2.9:1", "192.0.2.4"), "", nil), attempts.Interval)
	x.exhaust(t, from("[2001:db8::1]:1"), invented)
	wantWait(t, "the same network of IPv6", x.show(from("[2001:db8::2]:1"), "", nil), attempts.Interval)
	if err := x.show(from("[2001:db8:0:1::1]:1"), "", nil); err != nil {
		t.Errorf("another network of IPv6: %v", err)
	}
}

func TestNothingIsLimitedWithoutAttempts(t *testing.T) {
	var none *attempts.Attempts
	for range 2 * attempts.Burst {
		for _, err := range []error{
			none.Check(from("192.0.2.1:1"), identity.Claim{}, func() error { return errRefused }), none.CheckLogin(from("192.0.2.1:1"), func() error { return errRefused }),
		} {
			if !errors.Is(err, errRefused) {
				t.Fatal(err)
			}
		}
	}
}
