// Package toolbox makes many MCP servers look like one box of tools.
//
// # Use
//
//	box := toolbox.New(toolbox.Options{Servers: servers, Logger: logger})
//	box.Start(ctx)    // connects in the background, never fails
//	defer box.Close() // ends every connection and child process
//
//	tools := box.Tools(ctx)                       // what a model may be offered
//	args, problem := box.Check("resources_add", a) // coerced, or what to tell the model
//	result, err := box.Call(ctx, toolbox.Call{Server: "resources", Tool: "resources_add", Arguments: args})
//
// The box imports nothing of Temporal. The activity that uses it turns an *Error
// into an application error of the same Kind, as its outermost wrapper.
//
// # What a failed call means
//
// Nothing destructive may run twice, so a failure says whether the call can have
// happened:
//
//	tool_unavailable  it did not happen (or did no harm); calling again is safe
//	tool_failed       the server refused before any tool ran; calling again is useless
//	outcome_unknown   a destructive call was sent and may have happened
//	grant_changed     it would go elsewhere, or to another tool, than was approved
//	                  (Call.Bound); nothing was sent
//	invalid           the arguments are no JSON object; nothing was sent
//
// "Sent" is judged so that a doubt counts as sent. Over HTTP it begins when the
// request has a connection (httptrace.GotConn), and destructive calls get a
// connection of their own, because net/http cannot tell a kept-alive connection
// that was closed before the request from one that was closed after it. Over
// stdio it begins with the first byte that is written.
//
// A destructive call is sent once. What proves that it did not happen is that it was
// not sent, a JSON-RPC error that refuses the request as such (-32700, -32600, -32601,
// -32602), or a status that does (403, 405, 406, 411, 413, 414, 415, 426, 431). All else is
// outcome_unknown: a lost session, 404, 429, a redirect, an internal error, a code
// of the application. Redirects are not followed: such a call goes where they led an
// earlier request. So that a server that was restarted does no harm, its session is
// tried with a ping before.
//
// A server that declares contract.IdempotencyCapability carries out a call once for each
// idempotency key. To it a call with a key is sent once more after a lost session
// (HTTP 404 where there was one, or 400 that speaks of the session), and so is one
// that is not destructive to any server. A 404 may mean something else: after one, a
// destructive call is sent again only if the server has made another session meanwhile,
// and else has failed.
//
// A tool that answers with isError, and a server that answers 401, are results.
// Over SSE a request is sent when it has been posted; the end of the stream of
// answers loses every answer that was to come on it.
//
// # What is on offer
//
// A server's settings choose among its tools (Allow, Deny), correct what it says
// of them (Destructive, Safe, Unannotated) and rename them (Prefix). All but the
// renamed name are the server's own names; what is not on offer cannot be called
// either. A tool of which nothing is said asks, unless Unannotated is Run. Two tools
// of one name are a problem that States and Conflicts name; the first one declared is
// on offer, and inside a server a destructive one. Schemas stay as the server wrote
// them.
//
// A server that exposes its resources or prompts adds a tool of our own
// (ToolRead, ToolPrompt), which is of no server.
//
// # Protocols
//
// A server is spoken to in 2025-11-25, which has sessions and tells of new tools
// unasked. One that refuses initialize is spoken to in 2026-07-28, which has
// neither: its subscriptions/listen stream takes their place, and when that ends
// the connection counts as lost. The older HTTP+SSE is used where Server.Transport
// says so, and States suggests it where a server looks like it.
//
// # What a server may ask
//
// Roots are answered where the server has some. Sampling is declared to servers
// with SampleTokens while there is a Sampler, elicitation to servers with MayAsk
// while there is an Elicitor. A tool that ends by asking for what nobody can give
// has failed.
//
// Only a user declines a question. What no user could answer is cancelled, and the
// result of the call says so, whatever the server makes of it (open_questions.go).
//
// A person takes longer than a call may: its time stands still while a question is
// open, for Options.QuestionTime at most. Over Streamable HTTP a question comes
// with the answer to its call; over stdio, SSE and the stream of server messages
// nothing says which call it belongs to, so it is that of the only one under way,
// and cancelled when there are several. A question ends with its call.
//
// A sample answers within the time of its call; over SSE and stdio, where nothing
// says which that is, it takes no longer than one may.
//
// MCP wants a person to be able to deny sampling. That person is the one who
// wrote SampleTokens into the settings: it is consent given beforehand, to one
// server, within a limit for each answer, and nobody is asked again. What the
// server gets for it is the model's answer to the server's own words, texts
// only; it sees nothing of the conversation, cannot choose the model, and gets
// no tools to call. How often it asks is not limited, but every time is in the
// log.
//
// # Life of a server
//
// Each server has one goroutine that connects, waits until the connection is
// lost, and connects again with back-off. A Call does not wait for the back-off:
// it makes an attempt of its own, shared with everybody who waits for that
// server. The tools of a server that is down stay on offer, so that a
// conversation does not forget them during a restart; States tells the truth
// about the server. A lost connection is closed when its last call has returned.
//
// A stream of server messages that opens, or opens again, has the tools listed
// again: they may have changed while nobody listened. So does one that does not
// open: the server may have gone since the handshake, and then the listing fails,
// which ends the connection.
//
// A server that asks for authentication already at initialize is connected for
// the length of one call with the bearer token of that call, and such a session
// is never shared between callers. Nor are its tools: they are listed anew for
// each token (WithBearer), and offered to its holder only.
//
// # Files
//
//	toolbox.go   the box: what is on offer, states, life
//	server.go    the settings of a server
//	link.go      one server: attempts, back-off, state, log; token_lists.go what it
//	             shows to the holder of a token only
//	conn.go      one connection
//	lifecycle.go who uses it, and when it may be closed
//	listing.go   which tools its server has
//	http.go      Streamable HTTP; sse.go HTTP+SSE; stdio.go, process.go,
//	             stderr.go, env.go children
//	trace.go     what is known of one request: sent? status? raw answer?
//	call.go      a call and its one transparent retry; verdict.go its meaning;
//	             error_text.go how failures are told, and what is kept out of them;
//	             progress.go what is told meanwhile
//	resources.go resources and prompts; own_tools.go the tools to read them with
//	host.go      what a server may ask of us; question.go what of a person;
//	             open_questions.go what nobody was asked;
//	             answers.go how many answers it gets at a time, and how
//	mcpgo.go     what mcp-go makes necessary
//	check.go     arguments: coerce.go, schema.go, budget.go, problem.go,
//	             digest.go
//	tool.go      tools as listed; hints.go the rule that makes one destructive
//	result.go    a result as text; media.go what is no text
//
// # Working around mcp-go
//
// mcp-go's types drop what they do not know (oneOf in a schema, content blocks
// of a new type), so the raw answers are read instead: its transports are
// wrapped, and a trace travels in the request's context. Its stdio transport
// is given pipes (NewIO) instead of a command, because only then can the child's
// end be seen, its thread be held for Pdeathsig, and the write be bounded. What
// else it needs is in mcpgo.go: a function for each thing, which says what in mcp-go
// would make it superfluous.
package toolbox
