// Package desk has the HTTP handlers with which people arrange who decides, and when.
//
//	POST   /approvals/UUID/later  Later: puts an approval off
//	GET    /deputies              List: who decides in whose place
//	POST   /deputies              Appoint: somebody decides in the caller's place, until a date
//	DELETE /deputies/ID           Revoke: ends that before its time
//
//	POST   /approvals/UUID/always  Always: what approving for later calls, too, would grant
//	GET    /grants, /grants/ID     ListGrants, ShowGrant: standing grants
//	DELETE /grants/ID              RevokeGrant: ends one before its time
package desk
