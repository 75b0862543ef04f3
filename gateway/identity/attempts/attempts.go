// Package attempts limits how fast proofs are checked that do not hold.
//
// A key has 256 random bits and a token a signature, so nobody guesses one; but each attempt costs
// a check, a line of the log and, at a login, a request to the provider. Attempts are counted by
// the address that they come from. Callers behind one address must not lock each other out:
//
//   - A key or token that has held is checked whatever else comes from there. It stays so until it
//     does not hold any more.
//   - Another one of a caller who has proved who it is lately, such as a renewed token, is counted
//     apart: attempts in other names do not count for it. Whoever writes its name into junk delays it,
//     but not the token that the caller has.
//   - Logins with a browser that has begun one are counted apart from keys and tokens.
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

// maxSources and maxHeld bound what is kept. What was silent longest is forgotten.
const (
	maxSources = 10_000
	maxHeld    = 20_000
)

// Attempts is safe for concurrent use. A nil one limits nothing.
type Attempts struct {
	proxies forwarded.Proxies
	now     func() time.Time

	mu   sync.Mutex
	paid *lru.Cache[source, time.Time] // until when the failures last if they are spread evenly
	held *lru.Cache[sum, struct{}]     // what has held lately: keys and tokens, and names
}

// source is what failures are counted by. apart is empty for what comes from an address in general.
type source struct {
	from  netip.Prefix
	apart sum
}

// sum is a hash of a secret or of a name.
type sum [16]byte

// New returns Attempts that know proxies, which send the address of their clients.
func New(proxies forwarded.Proxies, now func() time.Time) *Attempts {
	paid, _ := lru.New[source, time.Time](maxSources) // fails only for sizes below 1
	held, _ := lru.New[sum, struct{}](maxHeld)
	return &Attempts{proxies: proxies, now: now, paid: paid, held: held}
}

// Check calls check, which checks the proof that a request shows, and returns its error: an
// *identity.Refused if the proof does not hold. It returns an *identity.TooMany instead if too many
// did not hold that came from there.
func (a *Attempts) Check(r *http.Request, c identity.Claim, check func() error) error {
	if a == nil {
		return check()
	}
	at, known := a.sourceOf(r, c)
	if wait := a.wait(at); wait > 0 && !known {
		return &identity.TooMany{Wait: wait}
	}
	err := check()
	switch {
	case err == nil:
		a.hold(c)
	case errors.As(err, new(*identity.Refused)):
		a.forget(c)
		a.fail(at)
	}
	return err
}

// CheckLogin is Check for the answer of a provider to a login that the browser has begun.
func (a *Attempts) CheckLogin(r *http.Request, check func() error) error {
	if a == nil {
		return check()
	}
	at := a.from(r)
	at.apart = sumOf("login", "")
	if wait := a.wait(at); wait > 0 {
		return &identity.TooMany{Wait: wait}
	}
	err := check()
	if errors.As(err, new(*identity.Refused)) {
		a.fail(at)
	}
	return err
}

func (a *Attempts) from(r *http.Request) source {
	return source{from: networkOf(a.proxies.Client(r))}
}

// sourceOf returns by what a failure of a request is counted, and whether its proof has held before.
func (a *Attempts) sourceOf(r *http.Request, c identity.Claim) (at source, known bool) {
	at = a.from(r)
	a.mu.Lock()
	defer a.mu.Unlock()
	if name := nameOf(c); c.Name != "" && a.held.Contains(name) {
		at.apart = name
	}
	return at, c.Secret != "" && a.held.Contains(secretOf(c))
}

// wait returns how long a source has to wait.
func (a *Attempts) wait(at source) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	paid, _ := a.paid.Get(at)
	return paid.Add(-(Burst - 1) * Interval).Sub(a.now())
}

// fail counts a failure. Those that were checked at the same time count at most as a Burst.
func (a *Attempts) fail(at source) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	paid, _ := a.paid.Get(at)
	if paid.Before(now) {
		paid = now
	}
	paid = paid.Add(Interval)
	if most := now.Add(Burst * Interval); paid.After(most) {
		paid = most
	}
	a.paid.Add(at, paid)
}

func (a *Attempts) hold(c identity.Claim) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.Secret != "" {
		a.held.Add(secretOf(c), struct{}{})
	}
	if c.Name != "" {
		a.held.Add(nameOf(c), struct{}{})
	}
}

// forget forgets a secret that does not hold any more.
func (a *Attempts) forget(c identity.Claim) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held.Remove(secretOf(c))
}

func secretOf(c identity.Claim) sum { return sumOf("secret", c.Secret) }
func nameOf(c identity.Claim) sum   { return sumOf("name", c.Name) }

func sumOf(kind, text string) (out sum) {
	all := sha256.Sum256([]byte(kind + "\n" + text))
	copy(out[:], all[:])
	return out
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
