package identity

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"agent-stop-and-go/workflows/contract"
)

// Way is one way in which callers prove who they are.
type Way interface {
	// Shown reports whether a request has a proof of this way, valid or not.
	Shown(r *http.Request) bool
	// Identify returns the caller, a *Refused or an *Unavailable.
	Identify(r *http.Request) (contract.Identity, error)
	// String says in a few words what to send, for those who sent nothing.
	String() string
}

// Refused is the error of a proof that does not hold. Its text is for the caller and has
// nothing of the proof.
type Refused struct{ Reason string }

func (e *Refused) Error() string { return e.Reason }

func refusef(format string, args ...any) error { return &Refused{fmt.Sprintf(format, args...)} }

// Unavailable is the error of a proof that cannot be checked now.
type Unavailable struct {
	Reason string // for the caller
	Err    error  // for the log
}

func (e *Unavailable) Error() string { return fmt.Sprintf("%s: %v", e.Reason, e.Err) }
func (e *Unavailable) Unwrap() error { return e.Err }

// TooMany is the error of a proof that was not checked, because many from the same address did not
// hold. It may be shown again after Wait.
type TooMany struct{ Wait time.Duration }

func (e *TooMany) Error() string { return "too many proofs from your address did not hold" }

// Forgery is the error of a request that the browser of a caller sent, but maybe not its page.
type Forgery struct{ Reason string }

func (e *Forgery) Error() string { return e.Reason }

// ErrNothingShown is the error of a request without any proof.
var ErrNothingShown = errors.New("the request does not say who calls")

// Ways are tried in their order.
type Ways []Way

// String says what to send.
func (ways Ways) String() string {
	var texts []string
	for _, way := range ways {
		texts = append(texts, way.String())
	}
	return strings.Join(texts, ", or ")
}

// Close releases what the ways hold. Callers can still be identified after it.
func (ways Ways) Close() {
	for _, way := range ways {
		if k, ok := way.(*Keys); ok {
			k.file.Close()
		}
	}
}

// Identify returns the caller. A request that nobody can read as a proof is an
// ErrNothingShown or, if it has a token, Refused.
func (ways Ways) Identify(r *http.Request) (contract.Identity, error) {
	for _, way := range ways {
		if !way.Shown(r) {
			continue
		}
		caller, err := way.Identify(r)
		if err == nil {
			err = Check(caller)
		}
		if err != nil {
			return contract.Identity{}, err
		}
		return caller, nil
	}
	if r.Header.Get("Authorization") != "" {
		return contract.Identity{}, refusef("nobody here can check this kind of Authorization")
	}
	return contract.Identity{}, ErrNothingShown
}

// Token returns the token by which a request proves who calls, if it may be passed on to tool
// servers and agents: that of an OpenID provider. A key is never passed on. The request must be
// one that Identify accepts.
func (ways Ways) Token(r *http.Request) string {
	for _, way := range ways {
		if way.Shown(r) {
			if w, ok := way.(interface{ Token(*http.Request) string }); ok {
				return w.Token(r)
			}
			return ""
		}
	}
	return ""
}

// Check fails if an identity is too large for history, or its texts are not printable.
func Check(caller contract.Identity) error {
	if !caller.Authenticated() {
		return refusef("the proof names nobody")
	}
	switch {
	case !printable(caller.Subject, contract.MaxSubject):
		return refusef("the caller's subject: expected at most %d printable bytes", contract.MaxSubject)
	case !printable(caller.Issuer, contract.MaxIssuer):
		return refusef("the caller's issuer: expected at most %d printable bytes", contract.MaxIssuer)
	case len(caller.Groups) > contract.MaxGroups:
		return refusef("the caller's groups: expected at most %d, not %d", contract.MaxGroups, len(caller.Groups))
	}
	for _, group := range caller.Groups {
		if group == "" || !printable(group, contract.MaxGroup) {
			return refusef("the caller's groups: expected 1 to %d printable bytes each", contract.MaxGroup)
		}
	}
	return nil
}

func printable(s string, limit int) bool {
	return len(s) <= limit && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
