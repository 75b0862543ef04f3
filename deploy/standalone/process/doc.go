// Package process runs a whole agent in one process: the embedded Temporal server with its Web
// UI, a worker and a gateway. If a Temporal address is configured it is a client of that server
// and starts none.
//
// Start starts the parts in the order of their dependencies. Stop stops them in the reverse
// order: new requests are refused, running activities finish, the tool servers end, and the
// database is closed. memory.go limits the memory of the process.
package process
