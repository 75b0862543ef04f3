// Package card draws approvals and replies as blocks of Slack's Block Kit. It calls nobody.
//
//	card.go     Waiting and Ended: an approval before and after its decision
//	secret.go   which arguments are not shown
//	words.go    what is asked, and why
//	reply.go    Reply: what the agent says, with a stop button while it works; the dialog of a rejection
//
// What models, tools and people have written is either preformatted text, which Slack shows as it
// is, or escaped. Blocks stay within Slack's limits: 50 blocks in a message, 3000 characters in a
// section, 2000 in the value of a button.
package card
