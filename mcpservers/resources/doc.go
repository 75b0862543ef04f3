// Package resources is the tool server mcp-resources: named whole numbers in
// one SQLite file, offered to agents over the Model Context Protocol. It is the
// example every other tool server can be copied from; package hosting brings the
// transports, sessions and protection.
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
// Patterns are Go regular expressions found anywhere in the name. What the
// caller can put right comes back as a result with isError; an unknown tool is
// the JSON-RPC error -32602.
//
// # Resources and prompts
//
// Every row is the MCP resource resource://ID, JSON text as resources_add gives
// it; the template resource://{id} says so. Lists are read from the file page by
// page, so they show what other processes wrote. When a tool of this process
// adds or removes rows, all clients get resources/list_changed and subscribers
// of a removed row get resources/updated; reading it then fails.
//
//	summarize-resources  pattern, question   a request for a summary, with the data
//	tidy-resources       pattern, keep       a request to propose what to remove, and to ask first
//
// # Calling twice
//
// A writing call may carry a string in _meta under [hosting.IdempotencyKey]. The same
// key with the same arguments returns the first result for seven days, also
// after a restart and from another process; with other arguments it is refused.
// Key, result and change are one transaction. A refused call stores no key.
//
// # Storage
//
// WAL mode with synchronous FULL: what was answered survives a power cut. All
// writers of a process share one connection, whose transactions take the file's
// write lock at once; other processes wait for it up to ten seconds. Readers
// have their own connections and never wait. The program keeps the sessions of
// its clients in the same file, so they carry on after a restart.
//
// With cgo the driver is mattn/go-sqlite3, without it modernc.org/sqlite; the
// build tag sqlite_pure forces the second:
//
//	go test ./mcpservers/... && go test -tags sqlite_pure ./mcpservers/...
//
// # Map
//
//	store.go read.go write.go once.go ids.go   the database; usable without MCP
//	server.go tools.go                         the MCP server and its tools
//	publish.go prompts.go                      its resources and prompts
//	config.go                                  its configuration
//
// The program is in mcpservers/cmd/mcp-resources.
package resources
