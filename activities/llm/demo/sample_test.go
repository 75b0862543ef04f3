package demo_test

import "agent-stop-and-go/activities/llm/llmtest/sample"

var (
	user        = sample.User
	say         = sample.Say
	call        = sample.Call
	result      = sample.Result
	failed      = sample.Failed
	decision    = sample.Decision
	tool        = sample.Tool
	illustrated = sample.Illustrated
	resources   = sample.Resources
)
