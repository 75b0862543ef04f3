package router_test

import "agent-stop-and-go/activities/llm/llmtest/sample"

const (
	canary = sample.Canary
)

var (
	user        = sample.User
	newServer   = sample.NewServer
	keys        = sample.Keys
	failure     = sample.Failure
	noKey       = sample.NoKey
	illustrated = sample.Illustrated
)
