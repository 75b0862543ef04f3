// Package engine has what the engines of all databases share: the calls that they run, their
// limits, and their results. Package sqlite, postgres and mysql implement [Engine].
//
//	engine.go   calls and results
//	table.go    rows within limits, and their values in JSON
//	keys.go     idempotency keys, stored with what they made
//	failure.go  which errors leave open whether a statement ran
package engine
