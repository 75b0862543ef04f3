package bearer

import (
	"encoding/json"
	"errors"
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/credential"
)

// Login returns the LoginRequired in an error, or nil.
func Login(err error) *LoginRequired {
	var login *LoginRequired
	errors.As(err, &login)
	return login
}

// NeedOf returns what a call of a server waits for whose token failed with an error, or nil. base
// is the URL at which people reach the agent.
func NeedOf(err error, s Server, caller credential.Token, base string) *login.Need {
	l := Login(err)
	if l == nil || l.Way == "" {
		return nil
	}
	return &login.Need{Server: s.Name, Agent: s.Agent, Way: l.Way, URL: base, Caller: caller.Caller, Why: l.Reason}
}

// ToolLogIn is the tool that a model calls when it needs a server that lists its tools only after a
// login. The call waits for the login.
const ToolLogIn = "log_in"

// TextLoggedIn is the result of ToolLogIn.
const TextLoggedIn = "The user is logged in. Tools that the server has are offered from now on."

// personal is a Source whose tokens people can get by logging in.
type personal interface{ Personal() bool }

// LoginTool returns ToolLogIn for the servers whose tokens are missing and that people can log in
// to; allowed bounds them unless it is nil. ok is false if there are none.
func (b *Book) LoginTool(tokens *Tokens, allowed []string) (tool contract.Tool, ok bool) {
	var servers []string
	for _, name := range tokens.missing() {
		p, _ := b.find(Server{Name: name}).source.(personal)
		if p != nil && p.Personal() && (allowed == nil || slices.Contains(allowed, name)) {
			servers = append(servers, name)
		}
	}
	if len(servers) == 0 {
		return contract.Tool{}, false
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "required": []string{"server"}, "additionalProperties": false,
		"properties": map[string]any{"server": map[string]any{"type": "string", "enum": servers, "description": "The tool server."}},
	})
	if err != nil {
		panic(err) // a map of strings can be encoded
	}
	return contract.Tool{
		Name: ToolLogIn, InputSchema: schema,
		Description: "Has the user log in to a tool server. Its tools are not offered before: call this when the user's request needs that server.",
	}, true
}
