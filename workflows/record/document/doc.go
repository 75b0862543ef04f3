// Package document is a conversation as people and programs outside read it: the
// file that is exported and the "conversation" of the REST API are the same
// document, with every value in place and nothing that only workflows need. Tree
// is its last turn as a picture of the agent's tree has it.
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
