package main

import "agent-stop-and-go/mcpservers/hosting"

const usage = `mcp-prompt keeps the system prompt of an agent as named sections in a directory, with
every version. Its MCP tools are read_prompt, update_prompt, prompt_history and
revert_prompt; the whole text is the resource prompt://system.

Usage:
  mcp-prompt [flags]            serve Streamable HTTP at http://HOST:PORT/mcp (and /sse, /health)
  mcp-prompt --stdio [flags]    serve the program that started it, on stdin and stdout

Flags:
  --config FILE     YAML with host, port, directory and more; flags win over it
  --directory DIR   directory of the prompt, which begins in index.md   (default ./prompt)
  --create TEXT     text of a new prompt, if the directory has none; it is made, too
  --versions N      how many versions are kept, at least 2    (default 500)
  --port PORT       port to listen on; 0 for any free one     (default 8095)
` + hosting.FlagUsage + `  --version         print the version and stop
  --help            this text

In YAML the flags are host, port, directory, create, versions, transport, auth_token_env,
session_idle and the lists allowed_hosts and allowed_origins.

Environment:
  LOG_LEVEL       debug, info, warn or error (default info); the log goes to stderr
  LOG_FORMAT      text or json; text at a terminal and over stdio, json elsewhere unless set

In an agent's YAML:
  prompt: {directory: ./prompt}          # relative to the file; each new conversation reads it
  mcp_servers:
    - {name: prompts, command: mcp-prompt, args: [--stdio, --directory, ./prompt]}
  or, for one of another machine, which each new conversation asks:
  prompt: {server: prompts}
  mcp_servers:
    - {name: prompts, url: "http://127.0.0.1:8095/mcp"}
`
