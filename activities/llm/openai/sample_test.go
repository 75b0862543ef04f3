package openai_test

import "agent-stop-and-go/activities/llm/llmtest/sample"

const (
	canary   = sample.Canary
	patience = sample.Patience
)

var (
	user          = sample.User
	call          = sample.Call
	result        = sample.Result
	tool          = sample.Tool
	newServer     = sample.NewServer
	keys          = sample.Keys
	conversation  = sample.Conversation
	offered       = sample.Offer
	compareGolden = sample.CompareGolden
	failure       = sample.Failure
	illustrated   = sample.Illustrated
)
