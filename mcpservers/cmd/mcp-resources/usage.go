package main

import "agent-stop-and-go/mcpservers/hosting"

const usage = `mcp-resources stores named whole numbers and offers three MCP tools over them:
resources_add, resources_remove and resources_list. Each number is also an MCP
resource, resource://ID, and two prompts ask for a summary and for tidying up.

Usage:
  mcp-resources [flags]            serve Streamable HTTP at http://HOST:PORT/mcp (and /sse, /health)
  mcp-resources --stdio [flags]    serve the program that started it, on stdin and stdout

Flags:
  --config FILE   YAML with host, port, db_path and more; flags win over it
  --db FILE       database file, created when missing       (default ./data/resources.db)
  --port PORT     port to listen on; 0 for any free one     (default 8090)
` + hosting.FlagUsage + `  --version       print the version and stop
  --help          this text

In YAML the flags are host, port, db_path, transport, auth_token_env,
session_idle and the lists allowed_hosts and allowed_origins.

Environment:
  LOG_LEVEL       debug, info, warn or error (default info); the log goes to stderr
  LOG_FORMAT      text or json; text at a terminal and over stdio, json elsewhere unless set

In an agent's YAML:
  mcp_servers:
    - {name: resources, command: mcp-resources, args: [--stdio, --db, ./data/resources.db]}
  or, for one that runs already:
    - {name: resources, url: "http://127.0.0.1:8090/mcp"}
`
