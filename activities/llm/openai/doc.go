// Package openai speaks OpenAI's chat completions API, as many providers do: OpenAI,
// Mistral, Ollama, OpenRouter, and other compatible servers.
//
//	providers.go  the providers, and how each differs: a new one is a new entry
//	openai.go     one call
//	request.go    turns and tools → messages and functions; files.go their images and PDFs
//	choice.go     what is demanded of the calls → tool_choice, parallel_tool_calls
//	stream.go     the answer, in pieces or whole, into an llm.Draft
//	reply.go      the types of an answer, in all forms that servers send
//	calls.go      calls that come in pieces; details.go thoughts with signatures
//
// Requests are written with the types of openai-go. Answers are not read with them:
// its streams cannot tell a dropped connection from an end.
package openai
