// Package openai is what the endpoints of OpenAI's API have in common. Package talk
// carries out requests; package chat serves chat/completions, package responses serves responses.
//
// models.go        GET /v1/models
// message.go       the content of messages: texts, images, files
// tools.go         functions of the client, and the form of an answer; choice.go  what a request demands of their calls
// housekeeping.go  requests that chat clients send by themselves
// desk.go          Desk: cards and codes of approvals, and decisions by code
// results.go       results of calls, and answers to approvals
// identify.go      who asks, for which chat, and whether again
// errors.go        errors in OpenAI's form
//
// A model is an agent: its name, or NAME:NODE for a node at the top of its tree, and NAME@MODEL with
// one of the models that people may choose. What a client says of sampling (temperature and so on)
// has no effect, because the configuration of the agent says it.
//
// Functions of a client are tools that it executes itself (contract.ReasonClientTool). Tools of the
// agent have precedence over them, so no client hides a tool that asks.
package openai
