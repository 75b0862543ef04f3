// Package gemini speaks the Gemini API.
//
//	provider.go   where it is reached, and which of its models look at images
//	gemini.go     one call
//	request.go    the body of a request; contents.go turns → contents
//	schema*.go    what it takes of the schemas of tools
//	stream.go     the answer, in events or whole; reply.go into an llm.Draft
//	parts.go      the parts of a signed reply, which it wants to see again
//	failure.go    what only the details of its errors say
//
// The types that lose nothing are those of genai. Its client is not used: it rounds
// integers in arguments and drops parts of signed replies (sdk_test.go).
package gemini
