package grants

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/contract/standing"
	"agent-stop-and-go/workflows/ledger"
)

// event is what happens to a grant.
type event struct {
	what              string // given, used or revoked
	by                standing.Person
	via, conversation string
	key               string // of a use
}

// record tells the audit log of a grant. Names that are only claimed are not in it.
func record(ctx workflow.Context, g standing.Grant, e event) {
	l := audit.Leaf{
		ID: "grant/" + e.what + "/" + g.ID, Kind: audit.KindGrant, At: workflow.Now(ctx).UTC(), What: e.what, Grant: g.ID,
		Conversation: e.conversation, Agent: g.Agent, Node: g.Node, Server: g.Server, Tool: g.Tool, Rule: g.Rule, Policy: g.Policy, Until: g.Until,
		Version: fmt.Sprintf("%s, %d of %d uses", g.Scope, g.Used, g.Uses),
	}
	if e.key != "" {
		l.ID += "/" + e.key
	} else {
		l.Actor = audit.ActorOf(e.by.Identity(), e.via)
	}
	ledger.Tell(ctx, l)
}
