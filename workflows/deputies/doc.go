// Package deputies is the workflow Deputies: who decides approvals in somebody's place, until a date.
// Gateways read its memo, and send the deputy along with a decision; the Approval then checks it
// (approvers.Deputizes).
package deputies
