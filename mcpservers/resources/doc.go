// Package resources is the tool server mcp-resources: named whole numbers in one SQLite file,
// offered to agents over the Model Context Protocol. It is an example for new tool servers.
// Package hosting provides the transports, sessions and protection.
//
// Try it without an agent:
//
//	mcp-resources --db /tmp/r.db                # Streamable HTTP on 127.0.0.1:8090/mcp
//	curl http://127.0.0.1:8090/health           # ok
//	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | mcp-resources --stdio --db /tmp/r.db
//
// Tools, with results as indented JSON text and as structured content:
//
//	resources_add     name, value        destructive   the stored resource
//	resources_remove  id and/or pattern  destructive   {"removed_count", "removed_ids"}
//	resources_list    pattern            read-only     {"count", "resources"}, by name, then id
//
// Patterns are Go regular expressions that match anywhere in the name. Errors that a caller can
// correct are results with isError; an unknown tool is the JSON-RPC error -32602.
//
// # Resources and prompts
//
// Every row is an MCP resource resource://ID, with the template resource://{id}. Its text is
// the JSON of resources_add. Lists are read from the file page by page, so they include changes
// by other processes. When a tool of this process adds or removes rows, all clients get
// resources/list_changed, and subscribers of a removed row get resources/updated. Reading a
// removed row fails.
//
//	summarize-resources  pattern, question   a request for a summary, with the data
//	tidy-resources       pattern, keep       a request to propose removals, and to ask before removing
//
// # Repeated calls
//
// A writing call may carry a string in _meta under [hosting.IdempotencyKey]. The same key with
// the same arguments returns the first result for seven days, also after a restart and from
// another process; with other arguments it is refused. Key, result and change are written in
// one transaction. A refused call stores no key.
//
// # Storage
//
// WAL mode with synchronous FULL: acknowledged changes survive a power failure. All writers of
// a process share one connection. Its transactions take the file's write lock when they begin;
// other processes wait for it up to ten seconds. Readers have their own connections and never
// wait. The program stores the sessions of its clients in the same file, so they survive a
// restart.
//
// With cgo the driver is mattn/go-sqlite3, without it modernc.org/sqlite; the
// build tag sqlite_pure forces the second:
//
//	go test ./mcpservers/... && go test -tags sqlite_pure ./mcpservers/...
//
// # Map
//
//	store.go read.go write.go idempotency.go ids.go   the database; usable without MCP
//	server.go tools.go                         the MCP server and its tools
//	publish.go prompts.go                      its resources and prompts
//	config.go                                  its configuration
//
// The program is in mcpservers/cmd/mcp-resources.
package resources
