package llm_test

import "agent-stop-and-go/activities/llm/llmtest/sample"

const (
	canary   = sample.Canary
	patience = sample.Patience
)

var (
	user        = sample.User
	say         = sample.Say
	call        = sample.Call
	result      = sample.Result
	failed      = sample.Failed
	notice      = sample.Notice
	decision    = sample.Decision
	tool        = sample.Tool
	newServer   = sample.NewServer
	keys        = sample.Keys
	offered     = sample.Offer
	failure     = sample.Failure
	noKey       = sample.NoKey
	plain       = sample.Plain
	illustrated = sample.Illustrated
	resources   = sample.Resources
	png         = sample.PNG
	jpeg        = sample.JPEG
	page        = sample.Page
)
