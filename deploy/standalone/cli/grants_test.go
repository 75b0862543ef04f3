package cli

import (
	"testing"

	"agent-stop-and-go/gateway/client"
)

func TestWhyAGrantDoesNotCountIsListed(t *testing.T) {
	bob := &client.GrantPerson{Claimed: "bob"}
	for want, g := range map[string]client.Grant{
		"1 of 5":                              {Used: 1, Uses: 5, Counts: true},
		"5 of 5":                              {Used: 5, Uses: 5},
		"1 of 5, its time is over":            {Used: 1, Uses: 5},
		"1 of 5, revoked by bob (not proven)": {Used: 1, Uses: 5, RevokedBy: bob},
	} {
		if got := stateOf(g); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
