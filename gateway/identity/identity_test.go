package identity_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/workflows/contract"
)

// claim is a way that believes everything.
type claim contract.Identity

func (claim) Shown(*http.Request) bool                            { return true }
func (c claim) Identify(*http.Request) (contract.Identity, error) { return contract.Identity(c), nil }
func (claim) String() string                                      { return "a claim" }

func TestIdentitiesThatDoNotFitIntoHistoryAreRefused(t *testing.T) {
	for name, c := range map[string]contract.Identity{
		"a long subject":         {Subject: strings.Repeat("a", contract.MaxSubject+1)},
		"a line break":           {Subject: "a\nb"},
		"invalid UTF-8":          {Subject: "a\xffb"},
		"a long issuer":          {Subject: "a", Issuer: strings.Repeat("a", contract.MaxIssuer+1)},
		"many groups":            {Subject: "a", Groups: make([]string, contract.MaxGroups+1)},
		"a group without a name": {Subject: "a", Groups: []string{""}},
		"a long group":           {Subject: "a", Groups: []string{strings.Repeat("a", contract.MaxGroup+1)}},
		"nobody":                 {Issuer: "keys"},
	} {
		_, err := identity.Ways{claim(c)}.Identify(httptest.NewRequest("GET", "/", nil))
		var refused *identity.Refused
		if !errors.As(err, &refused) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
