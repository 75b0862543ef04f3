// Package anthropic speaks Anthropic's Messages API.
//
//	provider.go   where it is reached, and which of its models look at images
//	anthropic.go  one call
//	messages.go   turns → messages; tools.go tools → tools
//	schema.go     what it takes of the schema of a reply; models.go its models
//	reply.go      the answer, in events or whole, into an llm.Draft
//	blocks.go     the pieces of its content, which it wants to see again
//
// Requests and events are the types of anthropic-sdk-go. Its streams are not used:
// they skip frames without a name.
package anthropic
