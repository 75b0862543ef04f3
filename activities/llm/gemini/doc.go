// Package gemini speaks the Gemini API.
//
//	provider.go   its address
//	gemini.go     one call
//	request.go    the body of a request; contents.go turns → contents
//	schema*.go    the schemas of tools in the API's subset
//	stream.go     the answer, in events or whole; reply.go into an llm.Draft
//	parts.go      the parts of a signed reply, which have to be sent back
//	failure.go    the details of its errors
//
// Types of genai are used where they decode without loss. Its client is not used: it rounds
// integers in arguments and drops parts of signed replies (sdk_test.go).
package gemini
