// Package e2e tests the whole system: the real server, real MCP servers and real
// HTTP, with a scripted model behind the provider's wire format. What needs a
// process to die runs the built binaries; the rest runs an agent inside the test.
//
// TestRecordHistories (with -record) rewrites the histories that the tests of
// package workflows replay.
package e2e
