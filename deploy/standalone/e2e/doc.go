// Package e2e tests the whole system: the real server, real MCP servers and real HTTP, with a
// scripted model behind the provider's wire format. Tests that kill a process run the built
// binaries. The others run an agent inside the test, under the race detector if go test has it.
// Its Temporal server is a process that these tests share, each with its own task queue
// (home.inside), or runs in the test too (home.whole).
//
// Most tests run in parallel, because they mostly wait. Tests that load the machine on purpose
// run alone.
//
// The tests TestForeign… need the build tag foreign and npm packages: make conformance runs
// them.
//
// The tests TestRecord… write the histories that the tests of package workflows replay: with
// -record missing ones; with -record=NAME,NAME or -record=all they replace the named ones or
// all.
package e2e
