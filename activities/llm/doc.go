// Package llm asks language models for replies.
//
// A Model answers a Request with a Reply. The router is the one that finds the
// provider by the model's name:
//
//	m := router.New(router.Options{Getenv: os.Getenv})
//	reply, err := m.Generate(ctx, llm.Request{
//		Model: "openai:gpt-4o", System: prompt, Messages: messages, Tools: tools,
//	})
//
// This package has what callers see and what the wire formats share. It imports no
// provider's SDK and no wire format; those import it.
//
// # Where to look
//
//	model.go        Model, Request, Reply, Error
//	entry.go        models with settings of their own, and what they cost
//	provider.go     what tells one provider from another
//	endpoint.go     a model at its provider; one call with its time, masks and cost
//	turns.go        the recorded conversation → turns as providers want them
//	names.go        tool names as providers allow them, and back
//	images.go       what an image is; references.go what a schema refers to
//	draft.go        the reply while it is being made, and who hears of it
//	text_calls*.go  calls that local models write into their texts
//	transport.go    the HTTP client and its bounds
//	failure*.go     status, body, broken connection → Error with its Kind
//	scrub.go        keys never leave in an error or a reply, deltas.go nor in a draft
//
//	router/         a model's name → its provider, address and key; known facts
//	openai/         the chat completions API, as many providers speak it
//	anthropic/      Anthropic's Messages API
//	gemini/         the Gemini API
//	demo/           demo:rules, the offline stand-in
//	llmtest/        a scripted Model, and a server that speaks the wire formats;
//	                llmtest/sample what the tests of all formats ask
//
// # Another wire format
//
// BuildTurns is free of any provider: a Turn holds the calls of one reply
// together with their results, so each format only writes them down in its own
// form; PastCall.Media is what a model that looks at images is shown of a
// result, and Turn.Native the reply as its provider gave it. A new format is a
// package with a Format, which fills a Draft from what it receives, and the
// Provider that names it; the router lists that. Status codes, scrubbing and time
// limits stay where they are.
//
// # Why streams are read by hand
//
// Requests, types and decoders are those of the providers' SDKs where they serve.
// Their streams do not: openai-go's cannot tell a dropped connection from an end,
// anthropic-sdk-go's skips frames without a name, and genai's client rounds
// integers in arguments and drops parts of signed replies (gemini/sdk_test.go).
//
// # Failures
//
// Every failed Generate returns an *Error: its Kind decides whether to try
// again, its Message is one plain sentence fit for the conversation, without
// keys, of at most 500 bytes. Nothing here retries; Temporal does.
package llm
