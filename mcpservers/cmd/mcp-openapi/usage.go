package main

import "agent-stop-and-go/mcpservers/hosting"

const usage = `mcp-openapi offers the operations of an API as MCP tools, from its OpenAPI document (3.0 or 3.1).

Usage:
  mcp-openapi --api FILE|URL [flags]            serve Streamable HTTP at http://HOST:PORT/mcp (and /sse, /health)
  mcp-openapi --api FILE|URL --stdio [flags]    serve the program that started it, on stdin and stdout

Flags:
  --config FILE      YAML with the keys below; flags win over it
  --api FILE|URL     the OpenAPI document
  --base-url URL     address of the API, instead of the first server of the document
  --credential SCHEME=VARIABLE   the environment variable with the credential of a security
                     scheme: a key, a token, user:password, or client_id:client_secret; repeatable
  --read-only        only operations that read: GET and HEAD, or what x-mcp says
  --tag TAG, --operation ID, --path PATH   only these operations; repeatable. ID is an
                     operationId or the name of a tool, and may have *, PATH * and **
  --exclude-tag, --exclude-operation, --exclude-path   not these operations; repeatable
  --port PORT        port to listen on; 0 for any free one     (default 8094)
` + hosting.FlagUsage + `  --version       print the version and stop
  --help          this text

In YAML:
  api: ./petstore.yaml
  base_url: https://pets.example.com/v1
  credentials: {api_key: PETS_KEY}
  include: {tags: [pets], operations: ["list*"], paths: ["/pets/**"]}
  exclude: {operations: [deletePet]}
  read_only: false

Also in YAML: host, port, transport, auth_token_env, session_idle, the lists
allowed_hosts and allowed_origins, max_tools (40 operations, beyond which there are
tools to search, describe and call them) and the limits max_response (65536 bytes)
and timeout (25s).

GET and HEAD are called at once, everything else asks a person first. The document can say
otherwise with x-mcp: {name, description, hidden, hints: {readOnly, destructive, idempotent}}.

Environment:
  LOG_LEVEL       debug, info, warn or error (default info); the log goes to stderr
  LOG_FORMAT      text or json; text at a terminal and over stdio, json elsewhere unless set

In an agent's YAML:
  mcp_servers:
    - {name: pets, command: mcp-openapi, args: [--stdio, --api, petstore.yaml, --credential, api_key=PETS_KEY], env: {PETS_KEY: "${PETS_KEY}"}}
  or, for one that runs already:
    - {name: pets, url: "http://127.0.0.1:8094/mcp"}
`
