package main

import "agent-stop-and-go/mcpservers/hosting"

const usage = `mcp-web offers MCP tools for the web: search, and extract, which reads a page as text.

Usage:
  mcp-web [flags]            serve Streamable HTTP at http://HOST:PORT/mcp (and /sse, /health)
  mcp-web --stdio [flags]    serve the program that started it, on stdin and stdout

Flags:
  --config FILE         YAML with the keys below; flags win over it
  --search NAME[=URL]   a search engine, and the address of its API: google, tavily, xai,
                        searxng or duckduckgo; repeatable, they are tried in this order
  --private-host HOST   a host that may be read although it is not on the Internet: a name,
                        *.NAME, an address or a network; repeatable
  --port PORT           port to listen on; 0 for any free one     (default 8093)
` + hosting.FlagUsage + `  --version       print the version and stop
  --help          this text

Keys of the search engines are in the environment: GEMINI_API_KEY (or GOOGLE_API_KEY),
TAVILY_API_KEY, XAI_API_KEY; SEARXNG_URL has the address of an instance. Without --search
those are used whose variables are set, and DuckDuckGo if there are none.

In YAML:
  search:
    - {provider: tavily, depth: advanced, key_env: TAVILY_API_KEY}   # basic if left out
    - {provider: google, model: gemini-2.5-flash}
    - {provider: xai, model: grok-4-1-fast}
    - {provider: searxng, url: "http://127.0.0.1:8888"}
  private_hosts: [wiki.corp.example, "*.intra.example", 10.1.0.0/16]

Also in YAML: host, port, transport, auth_token_env, session_idle, the lists
allowed_hosts and allowed_origins, the limits max_page (5242880 bytes) and
timeout (25s), and user_agent.

Pages are read from the Internet only: not from this machine, its network or the
metadata of a cloud, also not by a redirect or by a name that leads there. There is no
proxy for pages; requests to search engines use HTTPS_PROXY.

Environment:
  LOG_LEVEL       debug, info, warn or error (default info); the log goes to stderr
  LOG_FORMAT      text or json; text at a terminal and over stdio, json elsewhere unless set

In an agent's YAML:
  mcp_servers:
    - {name: web, command: mcp-web, args: [--stdio], env: {TAVILY_API_KEY: "${TAVILY_API_KEY}"}}
  or, for one that runs already:
    - {name: web, url: "http://127.0.0.1:8093/mcp"}
`
