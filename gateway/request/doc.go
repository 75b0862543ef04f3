// Package request reads out of HTTP requests what all front ends have in common. It knows no
// router.
//
//	call.go      Call: who calls, about which conversation, and whether the client is still there
//	body.go      bodies of JSON
//	members.go   members of objects that mean nothing
//	cursor.go    cursors of pages
//	accept.go    which media type the client wants, and whether it waits
package request
