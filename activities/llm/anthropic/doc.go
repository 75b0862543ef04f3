// Package anthropic speaks Anthropic's Messages API.
//
//	provider.go   its address
//	anthropic.go  one call
//	messages.go   turns → messages; tools.go tools → tools;
//	              choice.go what is demanded of the calls
//	schema.go     the schema of a reply in the API's subset; models.go its models
//	reply.go      the answer, in events or whole, into an llm.Draft
//	blocks.go     the blocks of its content, which have to be sent back
//
// Requests and events are the types of anthropic-sdk-go. Its streams are not used:
// they skip frames without a name.
package anthropic
