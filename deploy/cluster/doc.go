// Package cluster runs the project as several machines would: PostgreSQL and Redis of the
// distribution, a Temporal server on PostgreSQL (agent temporal), and the agents of
// deploy/compose as workers and gateways, two of each for the first agent, behind a proxy that
// takes turns. All of them are processes of this machine; the configuration files are those of
// compose.yaml, with addresses of this machine.
//
// make cluster builds the binaries and runs the tests, which have the build tag cluster:
//
//	chain_test.go      the processes, in the order that they need
//	process_test.go    a process: start, output, end, CPU and memory
//	stores_test.go     PostgreSQL and Redis
//	proxy_test.go      the proxy
//	client_test.go     a client of the REST API
//	cluster_test.go    what must work on it
//	callers_test.go    callers with keys, at both gateways
//	server_test.go     the Temporal server: migration, one at a time
//	load_test.go       how many turns it makes, and what they cost
//	chaos_test.go      what is killed, and when; visitor_test.go its users, judge_test.go what they may expect
//	journal_test.go    a tool server that counts; fault_test.go what goes wrong on purpose
//
// make cluster-chaos kills for longer, CHAOS=3m for three minutes. With FAULT=twice, forget or drop
// something goes wrong that the test must find.
package cluster
