package main

import "agent-stop-and-go/mcpservers/hosting"

const usage = `mcp-filesystem offers MCP tools over files below named folders, and the files
themselves as MCP resources, file-root://ROOT/PATH.

Usage:
  mcp-filesystem --config FILE [flags]           serve Streamable HTTP at http://HOST:PORT/mcp (and /sse, /health)
  mcp-filesystem --config FILE --stdio [flags]   serve the program that started it, on stdin and stdout

Flags:
  --config FILE   YAML with the roots and more; flags win over it
  --port PORT     port to listen on; 0 for any free one     (default 8091)
` + hosting.FlagUsage + `  --version       print the version and stop
  --help          this text

The smallest file. The folder must exist; a relative path starts where you are:
  roots:
    - {name: work, path: ./work, allowed_tools: ["*"]}

allowed_tools may also list tools one by one: list_folder, stat_file, read_file,
hash_file, permissions_file, grep and glob read; create_folder adds; write_file,
patch_file, copy, move, remove_file and remove_folder change what is there.

Also in YAML: host, port, transport, auth_token_env, session_idle, the lists
allowed_hosts and allowed_origins, and the limits max_full_read_size (1048576),
max_read_size (10485760), max_write_size (10485760), max_line_size (65536),
max_results (10000), max_timeout_seconds (300).

Environment:
  LOG_LEVEL       debug, info, warn or error (default info); the log goes to stderr
  LOG_FORMAT      text or json; text at a terminal and over stdio, json elsewhere unless set

In an agent's YAML:
  mcp_servers:
    - {name: files, command: mcp-filesystem, args: [--stdio, --config, filesystem.yaml]}
  or, for one that runs already:
    - {name: files, url: "http://127.0.0.1:8091/mcp"}
`
