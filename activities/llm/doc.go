// Package llm calls language models.
//
// A Model answers a Request with a Reply. The router finds the provider by the model's
// name:
//
//	m := router.New(router.Options{Getenv: os.Getenv})
//	reply, err := m.Generate(ctx, llm.Request{
//		Model: "openai:gpt-4o", System: prompt, Messages: messages, Tools: tools,
//	})
//
// This package has the types for callers and the code that wire formats share. It imports no
// provider's SDK and no wire format; those import it.
//
// # Where to look
//
//	model.go        Model, Request, Reply, Error
//	entry.go        models with their settings and prices
//	provider.go     the differences between providers
//	endpoint.go     a model at its provider; one call with its time, masks and cost
//	turns.go        the recorded conversation → turns as providers want them;
//	                turn_calls.go the calls in them
//	choice.go       what is demanded of the calls, for providers that cannot be told all of it
//	names.go        tool names as providers allow them, and back
//	files.go        types of files that models take; references.go references in a schema
//	draft.go        the reply while it is received, and its deltas
//	text_calls*.go  calls that local models write as text
//	transport.go    the HTTP client and its bounds
//	failure*.go     status, body, broken connection → Error with its Kind
//	scrub.go        removes keys from errors and replies, deltas.go from drafts
//
//	router/         a model's name → its provider, address, key and known limits
//	openai/         the chat completions API of many providers
//	anthropic/      Anthropic's Messages API
//	gemini/         the Gemini API
//	demo/           demo:rules, an offline replacement for a model
//	llmtest/        a scripted Model, and a server that speaks the wire formats;
//	                llmtest/sample has requests for the tests of all formats
//
// # Another wire format
//
// BuildTurns is independent of providers: a Turn holds the calls of one reply together with
// their results, and each format encodes turns in its own way. PastCall.Media are the images of
// a result that a model with vision is shown, Turn.Native is the reply in the form of its
// provider. A new format is a package with a Format, which fills a Draft from what it receives,
// and the Provider that names it; the router lists that. Status codes, scrubbing and time limits
// stay where they are.
//
// # Why streams are decoded by hand
//
// Requests, types and decoders are those of the providers' SDKs where they are sufficient.
// Their streams are not: that of openai-go does not distinguish a dropped connection from an
// end, that of anthropic-sdk-go skips frames without a name, and that of genai rounds integers
// in arguments and drops parts of signed replies (gemini/sdk_test.go).
//
// # Failures
//
// Every failed Generate returns an *Error: its Kind decides whether to retry, its Message is one
// plain sentence for the conversation, without keys, of at most 500 bytes. This package does not
// retry; Temporal does.
package llm
