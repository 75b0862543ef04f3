// Package ollama serves the agent as a model of Ollama, in the form of its docs/api.md of v0.17: chats
// and prompts, streamed as lines of JSON, and what clients ask about models.
//
// routes.go    Endpoint and its routes; client.go which form a client expects
// chat.go      /api/chat and /api/generate; request.go their bodies, message.go messages and tools
// reply.go     the reply as one object; stream.go as lines
// models.go    /api/tags, show, ps and version
// refused.go   what an agent cannot do: pull, create, embed and so on
//
// Requests are carried out by package talk of package openai, as those of chat/completions are: the
// conversation is found by the chat that the client sends, tools of the client are calls that it
// executes, and approvals are a text with a link and a one-time code. /api/generate has no chat: each
// request begins a conversation, unless it sends the context of an earlier reply, which names one.
//
// Options, templates, suffixes, think and keep_alive have no effect, because the configuration of the
// agent says what they would: only a suffix is refused. Nothing has to be loaded; requests that only
// load or unload are answered.
package ollama
