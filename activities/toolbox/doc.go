// Package toolbox makes many MCP servers look like one box of tools.
//
// # Use
//
//	box := toolbox.New(toolbox.Options{Servers: servers, Logger: logger})
//	box.Start(ctx)    // connects in the background, never fails
//	defer box.Close() // ends every connection and child process
//
//	tools := box.Tools(ctx)                       // the tools for a model
//	args, problem := box.Check("resources_add", a) // coerced arguments, or a problem for the model
//	result, err := box.Call(ctx, toolbox.Call{Server: "resources", Tool: "resources_add", Arguments: args})
//
// The box imports nothing of Temporal. The activity that uses it converts an *Error into an
// application error of the same Kind, as its outermost wrapper.
//
// # What a failed call means
//
// Nothing destructive may run twice, so a failure says whether the call can have run:
//
//	tool_unavailable  it did not run (or was harmless); calling again is safe
//	tool_failed       the server refused before any tool ran; calling again is useless
//	outcome_unknown   a destructive call was sent and may have run
//	grant_changed     the server or the tool is not the one that was approved (Call.Bound);
//	                  nothing was sent
//	invalid           the arguments are not a JSON object; nothing was sent
//
// In doubt a call counts as sent. Over HTTP it is sent once the request has a connection
// (httptrace.GotConn), and destructive calls get a connection of their own, because net/http
// does not distinguish a kept-alive connection that was closed before the request from one
// that was closed after it. Over stdio a call is sent with its first byte. Over SSE it is sent
// when it was posted; the end of the answer stream loses every answer still to come on it.
//
// A destructive call is sent once. It has certainly not run if it was not sent, if a JSON-RPC
// error refuses the request as such (-32700, -32600, -32601, -32602), or if the status does
// (403, 405, 406, 411, 413, 414, 415, 426, 431). Everything else is outcome_unknown: a lost
// session, 404, 429, a redirect, an internal error, a code of the application. Redirects are
// not followed; the call goes where an earlier request was redirected to. Its session is tried
// with a ping first, so that a restarted server does no harm.
//
// A server that declares contract.IdempotencyCapability runs a call once for each idempotency
// key. After a lost session (HTTP 404 where there was one, or 400 that mentions the session) a
// call with a key is sent to such a server once more; a call that is not destructive is sent
// once more to any server. A 404 may have other reasons: after one, a destructive call is sent
// again only if the server has created another session meanwhile, and has failed otherwise.
//
// A tool that answers with isError, and a server that answers 401, are results.
//
// # Which tools are offered
//
// A server's settings select among its tools (Allow, Deny), correct its annotations
// (Destructive, Safe, Unannotated) and rename the tools (Prefix). The settings use the server's
// own names. A tool that is not offered cannot be called either. A tool without annotations
// asks, unless Unannotated is Run. Two tools of the same name are a problem that States and
// Conflicts report: the first one declared is offered, and within a server a destructive one.
// Schemas are passed on as the server wrote them.
//
// A server that exposes its resources or prompts adds a tool of our own (ToolRead, ToolPrompt),
// which belongs to no server.
//
// # Protocols
//
// A server is called in protocol 2025-11-25, which has sessions and notifications of new tools.
// A server that refuses initialize is called in 2026-07-28, which has neither: its
// subscriptions/listen stream replaces them, and its end counts as a lost connection. The older
// HTTP+SSE is used if Server.Transport says so; States suggests it for a server that looks like
// it.
//
// # What a server may ask
//
// Roots are answered if the server has some configured. Sampling is declared to servers with
// SampleTokens if there is a Sampler, elicitation to servers with MayAsk if there is an
// Elicitor. A tool that ends by asking for anything else has failed.
//
// Only a user declines a question. A question that no user could see is cancelled, and the
// result of the call says so, whatever the server makes of it (open_questions.go).
//
// People take longer than a call may: the call's time stops while a question is open, for
// Options.QuestionTime at most. Over Streamable HTTP a question comes with the answer to its
// call. Over stdio, SSE and the stream of server messages nothing says which call it belongs
// to, so it is assigned to the only running call, and cancelled if there are several. A question
// ends with its call.
//
// A sample must be answered within the time of its call; over SSE and stdio, where the call is
// not known, within the time of one call.
//
// MCP requires that a person can deny sampling. That person is the one who configures
// SampleTokens: it is consent in advance, for one server, with a limit for each answer. The
// server gets the model's answer to the server's own texts only; it sees nothing of the
// conversation, cannot choose the model, and gets no tools to call. The number of samples is not
// limited, but each is logged.
//
// # Life of a server
//
// Each server has one goroutine that connects, waits until the connection is lost, and connects
// again with back-off. A Call does not wait for the back-off: it attempts to connect at once,
// together with all calls that wait for that server. The tools of a server that is down stay on
// offer, so that a conversation keeps them during a restart; States reports the true state. A
// lost connection is closed when its last call has returned.
//
// When a stream of server messages opens, the tools are listed again, because they may have
// changed meanwhile. They are listed too if the stream does not open: the server may have gone
// since the handshake, and then the failing listing ends the connection.
//
// A server that requires authentication at initialize is connected for the duration of one call
// with the bearer token of that call, and such a session is never shared between callers. Its
// tools are listed for each token (bearer.NewContext), and offered to the holder of the token only.
// A server with a Credential gets the tokens of the agent's own instead: its connection is shared
// as that of a server without authentication, and a request whose token was refused is sent again
// with another one, which is safe because a refused request was not carried out.
//
// # Files
//
//	toolbox.go   the box: what is on offer, states, life
//	server.go    the settings of a server
//	link.go      one server: attempts, back-off, state, log; token_lists.go the
//	             tools listed with a caller's token
//	conn.go      one connection
//	lifecycle.go its users, and when it is closed
//	listing.go   which tools its server has
//	http.go      Streamable HTTP; sse.go HTTP+SSE; stdio.go, process.go,
//	             children; child/ their environment and their log
//	credential.go  tokens of the agent's own
//	trace.go     the state of one request: sent? status? raw answer?
//	call.go      a call and its one transparent retry; verdict.go its meaning;
//	             error_text.go texts of failures without secrets;
//	             progress.go progress notifications
//	resources.go resources and prompts; own_tools.go the tools to read them with
//	host.go      requests of a server; question.go its questions to people;
//	             open_questions.go questions that nobody saw;
//	             answers.go how requests of a server are answered
//	mcpgo.go     workarounds for mcp-go
//	check.go     arguments against their schema (package schema);
//	             digest.go
//	tool.go      tools as listed; hints.go the rule that makes one destructive;
//	             facts.go, facts/ what servers tell rules about calls
//	result.go    a result as text; media.go its binary parts
//
// # Working around mcp-go
//
// The types of mcp-go drop unknown fields (oneOf in a schema, content blocks of a new type), so
// the raw answers are decoded instead: its transports are wrapped, and a trace in the request's
// context collects the answer. Its stdio transport is given pipes (NewIO) instead of a command,
// because only then can the end of the child be observed, its thread be held for Pdeathsig, and
// writes be bounded. The other workarounds are in mcpgo.go, one function each, with the change of
// mcp-go that would make it unnecessary.
package toolbox
