// Package attempts limits how fast proofs are checked that do not hold.
//
// A key has 256 random bits and a token a signature, so nobody guesses one; but each attempt costs
// a check, a line of the log and, at a login, a request to the provider. Attempts are counted by
// the address that they come from. Callers behind one address must not lock each other out, so
// whoever has proved who it is lately is counted apart: attempts in other names do not count for it.
package attempts

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/forwarded"
)

// An address may show Burst proofs that do not hold at once, and another one after each Interval.
const (
	Burst    = 100
	Interval = 50 * time.Millisecond
)

// maxSources bounds what is kept of sources and of callers, in each of two lists. Those that were
// silent longest are forgotten.
const maxSources = 10_000

// Attempts is safe for concurrent use. A nil one limits nothing.
type Attempts struct {
	proxies forwarded.Proxies
	now     func() time.Time

	mu     sync.Mutex
	paid   *lru.Cache[source, time.Time] // until when the failures last if they are spread evenly
	proven *lru.Cache[claim, struct{}]   // who has proved who it is lately
}

// source is what failures are counted by. The claim is empty for those who have not proved it
// before.
type source struct {
	from  netip.Prefix
	claim claim
}

// claim is a hash of whom a caller claims to be.
type claim [16]byte

// New returns Attempts that know proxies, which send the address of their clients.
func New(proxies forwarded.Proxies, now func() time.Time) *Attempts {
	paid, _ := lru.New[source, time.Time](maxSources) // fails only for sizes below 1
	proven, _ := lru.New[claim, struct{}](maxSources)
	return &Attempts{proxies: proxies, now: now, paid: paid, proven: proven}
}

// Check calls check, which checks a proof that a request shows, and returns its error: an
// *identity.Refused if the proof does not hold. It returns an *identity.TooMany instead if too many
// did not hold that came from there. The name is whom the proof is about, proven or not; "" if that is not known.
func (a *Attempts) Check(r *http.Request, name string, check func() error) error {
	if a == nil {
		return check()
	}
	at, wait := a.wait(r, name)
	if wait > 0 {
		return &identity.TooMany{Wait: wait}
	}
	err := check()
	switch {
	case err == nil:
		a.hold(name)
	case errors.As(err, new(*identity.Refused)):
		a.fail(at)
	}
	return err
}

// wait returns the source of a request, and how long it has to wait.
func (a *Attempts) wait(r *http.Request, name string) (source, time.Duration) {
	at := source{from: networkOf(a.proxies.Client(r))}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := claimOf(name); name != "" && a.proven.Contains(c) {
		at.claim = c
	}
	paid, _ := a.paid.Get(at)
	return at, paid.Add(-(Burst - 1) * Interval).Sub(a.now())
}

func (a *Attempts) fail(at source) {
	a.mu.Lock()
	defer a.mu.Unlock()
	paid, _ := a.paid.Get(at)
	if now := a.now(); paid.Before(now) {
		paid = now
	}
	a.paid.Add(at, paid.Add(Interval))
}

func (a *Attempts) hold(name string) {
	if name == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.proven.Add(claimOf(name), struct{}{})
}

func claimOf(name string) (c claim) {
	sum := sha256.Sum256([]byte(name))
	copy(c[:], sum[:])
	return c
}

// networkOf returns what one client has: an address or, of IPv6, the smallest network that is given out.
func networkOf(a netip.Addr) netip.Prefix {
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	network, _ := a.Prefix(bits) // fails for the zero Addr, for which it is zero
	return network
}
