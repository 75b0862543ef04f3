package anthropic_test

import "agent-stop-and-go/activities/llm/llmtest/sample"

const (
	canary = sample.Canary
)

var (
	user          = sample.User
	say           = sample.Say
	call          = sample.Call
	result        = sample.Result
	failed        = sample.Failed
	tool          = sample.Tool
	newServer     = sample.NewServer
	keys          = sample.Keys
	conversation  = sample.Conversation
	offered       = sample.Offer
	compareGolden = sample.CompareGolden
	failure       = sample.Failure
	noKey         = sample.NoKey
	illustrated   = sample.Illustrated
)
