// Package login has what a call waits for that needs a token which only a person can get.
package login

// Way is how the person gets the token.
type Way string

// The ways.
const (
	// AtServer means that the person logs in to the server, and the agent gets a token of its
	// own (credential: own).
	AtServer Way = "server"
	// AtAgent means that the caller's own token is no longer valid: the person logs in to the
	// agent, or sends the message again with a new token (credential: exchange).
	AtAgent Way = "agent"
)

// Via marks the decision of an approval whose person has logged in. No other decision approves
// such an approval.
const Via = "login"

// Need is a login that a call waits for.
type Need struct {
	// Server is the name of the tool server or, with Agent, of the other agent.
	Server string `json:"server"`
	Agent  bool   `json:"agent,omitempty"`
	Way    Way    `json:"way"`
	// URL is where the person logs in. In the result of an activity it is the URL of the
	// agent; "" if that is not known.
	URL string `json:"url,omitempty"`
	// Caller is the key of the identity that has to log in (contract.Identity.Key), "" without
	// authentication.
	Caller string `json:"caller,omitempty"`
	// Why is for people, and contains no secret.
	Why string `json:"why,omitempty"`
}

// For returns the need of the approval with this UUID.
func (n Need) For(approval string) *Need {
	if n.URL != "" {
		n.URL += Path(approval)
	}
	return &n
}

// Same reports whether one login satisfies both.
func (n Need) Same(other Need) bool {
	return n.Server == other.Server && n.Agent == other.Agent && n.Way == other.Way && n.Caller == other.Caller
}

// Required is a Need for clients of A2A: what the call of the agent that answers waits for. An
// agent in between does not pass it on: its URL would be that of a page of somebody else.
type Required struct {
	Server string `json:"server"`
	Agent  bool   `json:"agent,omitempty"`
	Way    Way    `json:"way"`
	URL    string `json:"url,omitempty"`
}

// Required returns what a client is shown of a need.
func (n Need) Required() *Required { return &Required{n.Server, n.Agent, n.Way, n.URL} }

// Path is the path of the page at which the person of an approval logs in.
func Path(approval string) string { return "/approvals/" + approval + "/login" }

// Answer is what an authorization server sends back with the browser of a person.
type Answer struct {
	State, Code, Issuer string
	// Error is the code of a refusal, such as access_denied.
	Error string
}
