// Package databases is the tool server mcp-sql: SQL databases, offered to agents over the Model
// Context Protocol. From this project it imports package hosting and the engines beside it:
//
//	config, err := databases.LoadConfig("sql.yaml")
//	s, err := databases.New(ctx, config, os.Getenv, log)
//	defer s.Close()
//	s.Register(mcpServer)
//
// The program is cmd/mcp-sql. A configuration lists the databases:
//
//	databases:
//	  - {name: shop, engine: sqlite, path: ./shop.db, write: true}
//	  - {name: crm, engine: postgres, read_env: CRM_READ, write_env: CRM_WRITE, execute: [write]}
//
// # Tools
//
//	query      runs a statement that only reads, read-only for the engine, too
//	execute    runs a statement that changes something, once; destructive
//	explain    the plan of a statement, and what it reads and writes; nothing is run
//	schema     tables, views and their columns
//	dry_run    runs a change and rolls it back; only where dry_run: true
//	sql_facts  what rules of an agent ask before a call of query or execute
//
// A call has one statement, with values in params for its parameters ($1 in PostgreSQL, ? in
// the others). The text of a result is a table with " | " between columns, "(no rows)", or
// "OK — rows affected: 3"; structured content has columns, rows, row_count, truncated.
//
// # What is permitted
//
// A statement has a class, see package statement: query takes reads only, execute takes the
// classes of the key execute (all but session by default), and nothing takes session. The class
// is for routing, rules and people. The boundary is the engine:
//
//	sqlite    a read opens the file read-only, and the authorizer permits only reading
//	postgres  a read runs in a READ ONLY transaction, with the role of read_env
//	mysql     the same, with the user of read_env
//
// Give the role of read_env no rights but SELECT on what may be seen: functions that reach out
// of the transaction (files, other servers) are stopped by rights, not by READ ONLY.
//
// # Facts
//
// sql_facts carries _meta {"agent-stop-and-go/facts": {"name": "sql", "for": ["query",
// "execute"]}}. For {"tool": "execute", "arguments": {…}} its structured content is database,
// engine, class, reason, reads, writes, columns_read, columns_written, functions, normalized, and
// for changes plan and estimated_rows of EXPLAIN. Names behind views and triggers are known for
// SQLite only.
//
// # Repeated calls
//
// execute stores the idempotency key of a call and its result in the table mcp_sql_calls of the
// same database, in the transaction of the statement, for seven days. So a call whose process
// was killed either has both or neither, and the next call with its key runs it or returns what
// came of it. Statements of MySQL that commit by themselves, and tables without transactions, are
// marked before they run; if nothing was heard of one afterwards, the next call says that it is
// not known whether it ran. With keys: false there is no table; if that is so for any database,
// the server does not declare hosting.IdempotencyCapability.
//
// # Map
//
//	config.go            the configuration
//	server.go tools.go   the server and its tools
//	facts.go             facts for rules
//	text.go              results as text
package databases
