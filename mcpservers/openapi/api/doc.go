// Package api makes operations of an OpenAPI document, 3.0 or 3.1, callable with one JSON object.
//
//	document, err := api.Load(ctx, "petstore.yaml", client)
//	operations, err := document.Operations(api.Selection{}, "")
//	request, err := operations[0].Request(ctx, arguments, api.Call{})
//
// The input of an operation is an object with a property for each parameter, whatever its place, and the
// property body. A name that tools cannot have (filter[name]) is changed, and one that is in two places
// gets the place in front. References are resolved; where a schema contains itself it is cut, and the cut
// part takes anything. A schema takes what the document's takes, or more: a oneOf with a cut part is an anyOf.
// Properties that are readOnly are left out.
//
// Arguments are checked against that schema. Parameters are written as style and explode have it. A body
// is JSON, a form, multipart (a binary part is {"filename", "text"} or {"filename", "base64"}) or text, in
// this order of preference.
//
// # x-mcp
//
// The extension says how an operation is offered. It is believed, like the rest of the document:
//
//	x-mcp: false                     # not at all; also at the top of the document, as the default
//	x-mcp:
//	  name: find_pets
//	  description: Find pets by name
//	  hidden: false
//	  hints: {readOnly: true, destructive: false, idempotent: true}
//
// # Map
//
//	load.go        the document and what it refers to
//	reference.go   which $ref leads nowhere, for errors
//	operation.go   its operations, and their hints
//	selection.go   which of them are offered
//	schema.go      schemas of the input
//	parameter.go   parameters as text
//	path.go        paths, and what parameters must not do to them
//	body.go        bodies
//	request.go     requests
package api
