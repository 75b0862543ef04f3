// Package document renders a conversation for people and other programs: the exported file and
// the "conversation" of the REST API are the same document, with every value loaded and without
// fields that only workflows need. Tree is the agent's tree in the last turn.
//
// # Where to look
//
//	document.go  Conversation and Render; Pending, an approval that waits, is a
//	             contract.PendingApproval with its values in place: it has every field
//	page.go      RenderPage, and the Page of a whole document
//	encode.go    Encode, the document as a file has it
//	tree.go      Tree and RenderTree
//	usage.go     Usage
package document

//go:generate go test . -run Golden -update
