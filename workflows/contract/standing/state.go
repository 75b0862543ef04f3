package standing

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/grant"
)

// Registered names. Updates are refused with KindInvalid, KindForbidden, KindBusy or KindNotFound.
const (
	Workflow = "Grants"

	UpdateGive   = "give"   // takes a Giving
	UpdateUse    = "use"    // takes a Take and returns a grant.Use
	UpdateRevoke = "revoke" // takes a Revocation

	QueryGrants = "grants" // returns a View
	Memo        = "grants" // is an Index
)

// Give gives a grant, from the Approval with which it is given. It starts the workflow.
var Give = contract.Activity[Giving, struct{}]{Name: "give_standing_grant"}

// WorkflowID is the ID of the workflow of the agent with a task queue.
func WorkflowID(taskQueue string) string { return "grants-" + taskQueue }

// Bounds.
const (
	Max = 100 // grants that count
	// Kept is how long a grant is listed that is used up, revoked or over. An activity that asks again for
	// a use which it has taken must come within this time.
	Kept = time.Hour
)

// Person is who gives or revokes a grant: a proven subject, or the name that somebody claims.
type Person struct {
	Subject string `json:"subject,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	Claimed string `json:"claimed,omitempty"`
	// Scopes and Groups, of whoever gives a grant, are those that let them decide.
	Scopes []string `json:"scopes,omitempty"`
	Groups []string `json:"groups,omitempty"`
}

// PersonOf returns who has sent something.
func PersonOf(i contract.Identity, claimed string) Person {
	if i.Authenticated() {
		return Person{Subject: i.Subject, Issuer: i.Issuer}
	}
	return Person{Claimed: claimed}
}

// Identity is that of a proven person, else nobody's.
func (p Person) Identity() contract.Identity {
	return contract.Identity{Subject: p.Subject, Issuer: p.Issuer, Scopes: p.Scopes, Groups: p.Groups}
}

// Shown is the name for lists.
func (p Person) Shown() string {
	if p.Subject != "" {
		return p.Subject
	}
	return p.Claimed
}

// Giving gives a grant. Proof proves the whole; see package proof.
type Giving struct {
	Terms
	By    Person    `json:"by"`
	Via   string    `json:"via,omitempty"`
	Since time.Time `json:"since"`
	Proof string    `json:"proof,omitempty"`
}

// Take takes a use of a grant. One with a key that has been taken is not counted again.
type Take struct {
	ID           string `json:"id"`
	Key          string `json:"key"`
	Conversation string `json:"conversation_id"`
}

// KeyOf returns the key of a call: of the draft that it is in, its number there, and what it is.
func KeyOf(conversation, draft string, number int, tool, server, sha256Hex string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{conversation, draft, fmt.Sprint(number), tool, server, sha256Hex}, "\x00")))
	return hex.EncodeToString(sum[:10])
}

// Revocation ends a grant.
type Revocation struct {
	ID     string   `json:"id"`
	By     Person   `json:"by"`
	Scopes []string `json:"scopes,omitempty"` // of By
	Via    string   `json:"via,omitempty"`
	Proof  string   `json:"proof,omitempty"`
}

// Grant is a standing grant.
type Grant struct {
	Terms
	By    Person    `json:"by"`
	Since time.Time `json:"since"`
	// Used counts the uses, of which the last was at LastUse.
	Used    int       `json:"used"`
	LastUse time.Time `json:"last_use,omitzero"`
	// Revoked is who has revoked it, nil if nobody has, and Ended when it was revoked or used up.
	Revoked *Person   `json:"revoked,omitempty"`
	Ended   time.Time `json:"ended,omitzero"`
	// Keys are those of the uses, in their order.
	Keys []string `json:"keys,omitempty"`
}

// Counts reports whether later calls may use the grant.
func (g Grant) Counts(now time.Time) bool { return g.Ended.IsZero() && now.Before(g.Until) }

// Over reports whether nothing has to be known of the grant any more.
func (g Grant) Over(now time.Time) bool {
	end := g.Until
	if !g.Ended.IsZero() && g.Ended.Before(end) {
		end = g.Ended
	}
	return !now.Before(end.Add(Kept))
}

// Use describes the use with a number, from 1.
func (g Grant) Use(number int) grant.Use {
	return grant.Use{
		ID: g.ID, By: g.By.Shown(), Proven: g.By.Subject != "", Scope: g.Scope, Since: g.Since, Until: g.Until,
		Number: number, Left: max(g.Uses-number, 0),
	}
}

// View is all grants that are known, the oldest first, without their keys.
type View struct {
	Grants []Grant `json:"grants"`
}

// Entry is a grant that counts, without its arguments.
type Entry struct {
	Terms
	By Person `json:"by"`
}

// Covers reports whether a call is one that the grant is for, at a time: the terms cover it, and whoever
// has given the grant may approve it by the rules of now.
func (e Entry) Covers(c Call, now time.Time) bool {
	return e.Terms.Covers(c, now) && mayApprove(e.By, c)
}

// mayApprove reports whether somebody may approve a call. One of nobody, that asks nobody in particular,
// is for everybody to approve.
func mayApprove(p Person, c Call) bool {
	if c.Owner == "" && c.Caller == "" && len(c.Approvers) == 0 {
		return true
	}
	return approvers.May(p.Identity(), c.Owner, c.Approvers)
}

// Index is the grants that count, the oldest first.
type Index struct {
	Grants []Entry `json:"grants"`
}

// Input starts the workflow. It is empty except for a run that continues another.
type Input struct {
	Grants []Grant `json:"grants,omitempty"`
}

// MayRevoke reports whether somebody may revoke a grant: whoever has given it, for whose calls it is, and
// operators; everybody, if nobody is known to have given it.
func MayRevoke(g Grant, r Revocation) bool {
	by := r.By.Identity()
	switch {
	case g.By.Subject == "":
		return true
	case !by.Authenticated():
		return false
	}
	return slices.Contains(r.Scopes, contract.ScopeOperate) || by.Key() == g.By.Identity().Key() || g.Scope == grant.Caller && by.Key() == g.Of
}

// Check returns why a grant cannot be given, or nil.
func (g Giving) Check(now time.Time) error {
	offer := grant.Offer{Scopes: grant.Scopes(), AtMost: grant.MaxTime, Uses: grant.MaxUses}
	switch err := offer.Check(grant.Choice{Scope: g.Scope, Until: g.Until, Uses: g.Uses}, now); {
	case err != nil:
		return err
	case !contract.IsUUID(g.ID) || g.Tool == "" || g.Definition == "" || g.Rules == "" || g.Arguments.SHA256 == "" || len(g.Arguments.Rest) > grant.MaxArguments:
		return errors.New("it does not say for which calls it is")
	case g.Scope != grant.Agent && g.Of == "":
		return errors.New("it does not say for whose calls it is")
	}
	return nil
}
