package openai

import (
	"net/http"
	"strings"

	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Via marks decisions that came over OpenAI's API.
const Via = "openai"

// Desk shows approvals as texts, and reads decisions.
type Desk struct {
	Codes *passcode.Codes
	// Via marks the decisions.
	Via string
}

// Takes reports whether a caller may decide with codes: who has to prove who it is needs the right to
// approve, others have to be on this machine.
func (d Desk) Takes(c service.Caller, r *http.Request) bool {
	if c.Authenticated() {
		return c.Identity.May(contract.ScopeApprove)
	}
	return local(r)
}

// Cards returns the texts about approvals that wait.
func (d Desk) Cards(waiting []contract.PendingApproval, c service.Caller, r *http.Request) (string, error) {
	var cards []string
	for _, p := range waiting {
		code := ""
		if passcode.Decidable(p) && d.Takes(c, r) {
			var err error
			if code, err = d.Codes.Code(p, Person(c, r)); err != nil {
				return "", err
			}
		}
		cards = append(cards, passcode.Card(p, Link(c, p.UUID), code))
	}
	return strings.Join(cards, "\n\n"), nil
}

// Link returns the address at which an approval is shown and decided.
func Link(c service.Caller, uuid string) string { return c.BaseURL + "/#/a/" + uuid }

// Decision returns the decision of a command. It is an error if the code fits nothing that waits.
func (d Desk) Decision(command passcode.Command, waiting []contract.PendingApproval, c service.Caller, r *http.Request) (service.Decision, error) {
	if !d.Takes(c, r) {
		return service.Decision{}, service.Errorf(contract.KindForbidden, "codes are not taken from here: use the link of the card")
	}
	for _, p := range waiting {
		if passcode.Decidable(p) && d.Codes.Holds(command.Code, p, Person(c, r)) {
			return c.YesOrNo(p, command.Approved, command.Reason, d.Via, requestOf(p.UUID, command)), nil
		}
	}
	return service.Decision{}, service.Errorf(contract.KindInvalid, "that code does not hold: it is of something else, was used, or is older than ten minutes. Nothing was decided")
}
