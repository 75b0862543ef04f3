package main

import "agent-stop-and-go/mcpservers/hosting"

const usage = `mcp-sql offers MCP tools for SQL databases: query, execute, explain and schema.

Usage:
  mcp-sql --config FILE [flags]           serve Streamable HTTP at http://HOST:PORT/mcp (and /sse, /health)
  mcp-sql --config FILE --stdio [flags]   serve the program that started it, on stdin and stdout
  mcp-sql --sqlite DB [--stdio] [flags]   one SQLite file, without a configuration

Flags:
  --config FILE   YAML with the databases and more; flags win over it
  --sqlite DB     a SQLite file that can be changed, made if it is missing; repeatable
  --port PORT     port to listen on; 0 for any free one     (default 8092)
` + hosting.FlagUsage + `  --version       print the version and stop
  --help          this text

Databases, in YAML. A file must exist; a relative path starts where you are. The
connection strings of servers are in environment variables:
  databases:
    - {name: shop, engine: sqlite, path: ./shop.db, write: true}
    - {name: crm, engine: postgres, read_env: CRM_READ, write_env: CRM_WRITE}
    - {name: blog, engine: mysql, read_env: BLOG_READ}     # also MariaDB

  CRM_READ=postgres://reader:…@db/crm          a role that may only SELECT
  BLOG_READ='reader:…@tcp(db:3306)/blog'

Of each database:
  create: true       make a SQLite file that is missing
  write, write_env   permit changes; without them only query, explain and schema work
  execute            classes of statements that execute runs: write, schema,
                     unsafe_function, unknown; all of them if left out
  functions          functions that are known to change nothing (servers)
  keys: false        no table mcp_sql_calls for calls that are repeated
  dry_run: true      offer changes that are rolled back

Also in YAML: host, port, transport, auth_token_env, session_idle, the lists
allowed_hosts and allowed_origins, and the limits max_rows (200), max_bytes
(262144), max_statement (65536), timeout (15s), connections (4).

Environment:
  LOG_LEVEL       debug, info, warn or error (default info); the log goes to stderr
  LOG_FORMAT      text or json; text at a terminal and over stdio, json elsewhere unless set

In an agent's YAML:
  mcp_servers:
    - {name: db, command: mcp-sql, args: [--stdio, --config, sql.yaml]}
  or, for one that runs already:
    - {name: db, url: "http://127.0.0.1:8092/mcp"}
`
