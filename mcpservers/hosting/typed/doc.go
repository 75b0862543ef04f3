// Package typed makes a tool server of Go functions: the schemas of a tool are those of its types, and
// what it does to the world has to be said.
//
//	type AddInput struct {
//		Text string `json:"text" jsonschema:"what to remember"`
//	}
//
//	s := typed.NewServer("mcp-notes", "1.0.0")
//	typed.Add(s, typed.Tool{Name: "notes_add", Description: "Keep a note", Effect: typed.Adds}, notes.add)
//	err := hosting.Run(ctx, hosting.Options{Settings: settings, Name: "mcp-notes"}, s)
//
// Command mcp-notes, in the folder below, is a whole server. Prompts and resources are added with the functions of
// mcp-go (AddPrompt, AddResource, AddResourceTemplate); [Combine] adds everything that another server has.
//
// A call is checked against the schema, so unknown, missing and wrong arguments never reach the
// function. An error of the function is a result with isError, whose text the model reads. A call of a
// tool that is not read-only may carry an idempotency key, see package hosting: its result is kept, and a
// repeated call returns it. Results are kept in memory, so the server does not declare
// [hosting.IdempotencyCapability], with which callers repeat calls after a crash; give NewServer the
// option [hosting.WithIdempotency] if running a call again does no harm.
package typed
