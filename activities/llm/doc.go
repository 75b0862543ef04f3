// Package llm asks language models for replies.
//
// NewRouter returns a Model that finds the provider by the model's name, in any
// of the three forms of contract.ParseModel:
//
//	m := llm.NewRouter(llm.Options{Getenv: os.Getenv})
//	reply, err := m.Generate(ctx, llm.Request{
//		Model: "openai:gpt-4o", System: prompt, Messages: messages, Tools: tools,
//	})
//
// # Where to look
//
//	registry.go     the providers, one entry each: a new one is a new entry
//	router.go       a request's model → entry.go → endpoint.go → call
//	entry.go        models with settings of their own; windows.go what is known
//	                of the others
//	exchange.go     the recorded conversation → turns as providers want them
//	images.go       which models look at images, and at which
//	draft.go        the reply while it is being made, and who hears of it
//	openai*.go      the chat completions API, as many providers speak it
//	anthropic*.go   Anthropic's Messages API
//	gemini*.go      the Gemini API; plain_schema*.go what it takes of schemas
//	text_calls*.go  calls that local models write into their texts
//	transport.go    the HTTP client, its bounds, and what reaches the network
//	failure*.go     status, body, broken connection → Error with its Kind
//	scrub.go        keys never leave in an error or a reply, deltas.go nor in a draft
//	demo*.go        demo:rules, the offline stand-in
//	llmtest/        a scripted Model, and a server that speaks the wire format
//
// # Another wire format
//
// Exchange is free of any provider: a Turn holds the calls of one reply
// together with their results, so each format only writes them down in its own
// form; PastCall.Media is what a model that looks at images is shown of a
// result, and Turn.Native the reply as its provider gave it. A new format is a
// function like chatCompletions, named in the registry entries of its providers:
// it fills a draft from what it receives. Status codes, scrubbing and time limits
// stay where they are.
//
// # Why streams are read by hand
//
// Requests, types and decoders are those of the providers' SDKs where they serve.
// Their streams do not: openai-go's cannot tell a dropped connection from an end,
// anthropic-sdk-go's skips frames without a name, and genai's client rounds
// integers in arguments and drops parts of signed replies (gemini_sdk_test.go).
//
// # Failures
//
// Every failed Generate returns an *Error: its Kind decides whether to try
// again, its Message is one plain sentence fit for the conversation, without
// keys, of at most 500 bytes. Nothing here retries; Temporal does.
package llm
