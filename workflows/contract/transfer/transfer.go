// Package transfer has the calls that a conversation brings along when it is moved here from
// another system, where they waited for an approval.
//
// Whoever moves a conversation starts its workflow with contract.Carried: Queue has the message
// that the calls belong to, and Transferred is a Reply. The next turn then begins as if the model
// had just given that reply: the tools are those of this agent, the digests of the arguments are
// computed here, and every call waits for a new approval, whatever kind of tool it is for.
package transfer

import "encoding/json"

// Reply is the reply of a model whose calls waited.
type Reply struct {
	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls"`
}

// Call is a call that waited for an approval.
type Call struct {
	ID        string          `json:"id,omitempty"` // the provider's
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	// Approval is the UUID of the approval, which the new one has too; "" makes a new one.
	Approval string `json:"approval,omitempty"`
	// Task is the task of the other agent that the call has delegated to already. It is not sent
	// again, and that agent asks by itself.
	Task string `json:"task,omitempty"`
}

// Channel is the Channel of identities that nobody has proven here: a file of the other system has
// named them. It is their Issuer too.
const Channel = "import"
