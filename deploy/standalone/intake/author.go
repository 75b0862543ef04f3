package intake

import (
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/transfer"
)

// author returns the sender of an imported message as the record has it: what the file says is
// kept, and nobody vouches for it.
func author(claimed *contract.Identity) *contract.Identity {
	out := contract.Identity{Channel: transfer.Channel}
	if claimed != nil && claimed.Authenticated() {
		out.Issuer, out.Subject = transfer.Channel, claimed.Key()
		if len(out.Subject) > contract.MaxSubject {
			out.Subject = out.Subject[:contract.MaxSubject] // a key has ASCII characters only
		}
	}
	return &out
}

// decision returns a decision of the record, which grants nothing here.
func decision(r *contract.ApprovalResult, conversationID string) *contract.ApprovalResult {
	if r == nil {
		return nil
	}
	out := r.Public()
	out.ConversationID, out.RequestID = conversationID, ""
	out.Identity = *author(&r.Identity)
	return &out
}
