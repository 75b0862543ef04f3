package wording

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/login"
)

// Unapprovable returns why a yes that came in some way from somebody does not approve an approval,
// or nil. Calls that a switch pauses, or that need a login, go on when that is over.
func Unapprovable(in contract.ApprovalInput, via string, by contract.Identity) error {
	switch p := in.Pending(); {
	case p.Paused():
		return errors.New(TextPaused)
	case !p.NeedsLogin():
		return nil
	case in.Login == nil || via != login.Via:
		return errors.New(textLogin(p))
	case in.Login.Caller != "" && by.Key() != in.Login.Caller:
		return errors.New("the login is for somebody else: " + in.Login.Caller)
	}
	return nil
}

// textLogin is the answer to a yes for a call that needs a login.
func textLogin(p contract.PendingApproval) string {
	text := "the call needs a login, which a yes cannot replace"
	if p.Login != nil {
		text += ": " + loginAdvice(*p.Login)
	}
	return text + "; or reject it"
}

// loginAdvice says what a person has to do.
func loginAdvice(n login.Need) string {
	at := cmp.Or(n.URL, "the page of this agent")
	if n.Way == login.AtAgent {
		return "send the message again with a new token, or log in to the agent at " + at
	}
	return fmt.Sprintf("log in to %s at %s", plain(n.Server), at)
}

// DescribeLogin describes a call that waits for a login. request describes the call.
func DescribeLogin(n login.Need, tool, request string) string {
	why := ""
	if n.Why != "" {
		why = " (" + strings.TrimSuffix(plain(n.Why), ".") + ")"
	}
	return fmt.Sprintf("**LOGIN NEEDED: %s**\n\n%s\n\nThe call has not been made%s. It goes on by itself after the login: %s. "+
		"Reject to go on without the call.", quotedName(tool), request, why, loginAdvice(n))
}

// LoggedIn is the reason in the record of a call that goes on after a login.
const LoggedIn = "the login is done"

// loginMarker returns the message that records the end of a wait for a login.
func loginMarker(r contract.ApprovalResult) string {
	if r.Decision == contract.Approved {
		return "[LOGIN]: Done"
	}
	return "[LOGIN]: " + capital(string(r.Decision))
}

// NotLoggedIn returns the result of a call that was not made because nobody has logged in.
func NotLoggedIn(n login.Need, r contract.ApprovalResult) contract.CallToolResult {
	out := contract.CallToolResult{Text: contract.Inline(NoLogin(n, r.Decision) + "."), IsError: true}
	return WithReason(out, r)
}

// NoLogin says that nobody has logged in.
func NoLogin(n login.Need, d contract.Decision) string {
	return fmt.Sprintf("the call was not made: it needs a login to %s, which was %s", plain(n.Server), cmp.Or(d, contract.Cancelled))
}
