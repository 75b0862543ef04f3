package deputies

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/ledger"
)

// changeAudit marks histories in which the audit log gets the changes.
const changeAudit = "deputies-in-the-audit"

// record tells the audit log of a change, without the reason, which somebody wrote.
func (d *deputies) record(ctx workflow.Context, what string, is deputy.Deputy, by deputy.Person) {
	if workflow.GetVersion(ctx, changeAudit, workflow.DefaultVersion, 1) < 1 {
		return
	}
	ledger.Tell(ctx, audit.Leaf{
		ID: "deputy/" + what + "/" + is.ID, Kind: audit.KindDeputy, At: workflow.Now(ctx).UTC(), What: what, Approval: is.Approval, Until: is.Until,
		To: &contract.Name{Subject: is.To.Subject, Issuer: is.To.Issuer}, For: audit.DeputizedBy(&is),
		Actor: audit.ActorOf(contract.Identity{Subject: by.Subject, Issuer: by.Issuer}, ""),
	})
}
