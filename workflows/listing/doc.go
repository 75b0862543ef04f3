// Package listing keeps what lists show of a conversation in the memo of its workflow: the title,
// and the time of the last change.
package listing
