// Package openapi is the tool server mcp-openapi: the operations of an API that an OpenAPI document
// describes, as tools over the Model Context Protocol. From this project it imports package hosting and the
// packages below:
//
//	config, err := openapi.LoadConfig("petstore-tools.yaml")
//	s, err := openapi.New(ctx, config, os.Getenv, log)
//	s.Register(mcpServer)
//
// The program is mcpservers/cmd/mcp-openapi.
//
// # Tools
//
// There is a tool for each operation, up to max_tools of them. Beyond it there are four:
//
//	search_operations    query, limit              names of operations, with what they do
//	describe_operation   operation                 the schema of its arguments
//	call_read_operation  operation, arguments      calls an operation that only reads
//	call_write_operation operation, arguments      calls any other; destructive
//
// # Hints
//
// GET and HEAD are read-only: an agent calls them at once, and again if an answer got lost. Everything else
// is destructive, because a method says no more than that it may change something: an agent asks a person
// first. PUT and DELETE are also idempotent (RFC 9110 §9.2.2): the same call twice leaves the API as one
// call does, unless somebody else changed it in between. The agent of this project does not repeat a
// destructive call on that hint; other clients may. x-mcp in the document overrides all of it.
//
// # Repeated calls, and calls without an answer
//
// If an operation has the header Idempotency-Key, it is not an argument: it is made of the idempotency key
// of the call, so that the API makes a repeated call once, or it is random without one. Results of other
// changes are kept in memory by that key. The server does not declare hosting.IdempotencyCapability.
//
// A change that was sent and not answered, or answered by a gateway (502, 504) or with 301 or 302, ends in an
// error of the protocol, which callers take for an unknown outcome. A change answered with 303 was
// made. Before anything is sent, and with every other answer of 300 and more, it is a result with isError,
// with status and body.
//
// # Credentials
//
// They are put into requests as the security of an operation says, see package credential. Requests go to
// the server that the document has for an operation, or to base_url, and nowhere else: a change is not
// redirected at all, and reading only within the host. They are masked in all that comes back.
//
// # Map
//
//	config.go                 the configuration
//	server.go tools.go        the server and its tools
//	discovery.go              tools for many operations
//	call.go response.go       a call, and what comes back
//	api/                      the document: operations, schemas, requests
//	credential/               security schemes
package openapi
