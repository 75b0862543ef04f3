// Package e2e tests the whole system: the real server, real MCP servers and real
// HTTP, with a scripted model behind the provider's wire format. What needs a
// process to die runs the built binaries; the rest runs an agent inside the test,
// under the race detector where go test is. Its Temporal server is a process that
// these tests share, each with a task queue of its own (home.inside), or is in the
// test as well (home.whole).
//
// Most tests run side by side, because most of their time is waiting. Those that load
// the machine on purpose run alone.
//
// The tests TestForeign… need the build tag foreign and what npm installs: make
// conformance runs them.
//
// The tests TestRecord… write the histories that the tests of package workflows
// replay: with -record those that are missing, with -record=NAME,NAME or
// -record=all others again.
package e2e
