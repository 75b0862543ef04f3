// Package adoption has running conversations take over a changed configuration: it says what would
// change for each and whether the approvals that it waits for hold, and sends the signal.
package adoption
