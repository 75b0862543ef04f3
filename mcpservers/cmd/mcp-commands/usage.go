package main

import "agent-stop-and-go/mcpservers/hosting"

const usage = `mcp-commands offers commands of this machine as MCP tools, and texts and files as prompts and
resources. Each is a YAML file.

Usage:
  mcp-commands server [flags]           serve the program that started it, on stdin and stdout
  mcp-commands server --transport http [flags]   serve Streamable HTTP at http://HOST:PORT/mcp (and /sse, /health)
  mcp-commands tools list [flags]       the tools that the server would offer
  mcp-commands tools run [flags] NAME [--ARGUMENT VALUE …]   run one; or --json '{…}' before NAME
  mcp-commands convert [-o FILE] FILE   write the safe form of a file of go-go-mcp with templates
  mcp-commands config init|add-profile|duplicate-profile|add-tool|list-profiles|show-profile|set-default-profile
                                        write and read the file with profiles
  mcp-commands client tools|prompts|resources list|call|get|read … URL | -- COMMAND …
                                        use any MCP server
  mcp-commands bridge URL               serve an HTTP server on stdin and stdout
  mcp-commands bridge [flags] -- COMMAND …   serve a stdio server over HTTP

Flags of server and tools:
  --config FILE   YAML with profiles; flags win over it. Default: mcp-commands/profiles.yaml in the
                  folder for settings ($XDG_CONFIG_HOME or ~/.config), if nothing else is named
  --profile NAME  a profile of it; default: its defaultProfile
  --directories A,B   folders with definitions, read with all folders below them; repeatable
  --files A,B     files with definitions; repeatable
  --convert-dashes    write _ for - in the names of tools
  --watch=false   do not reload when files change
  --internal-servers A,B   built-in tools: echo, fetch
  --debug         log more
  --tracing-dir DIR   write every request with its answer into a file in DIR; it may contain secrets
  --port PORT     port to listen on; 0 for any free one     (default 3001)
` + hosting.FlagUsage + `  --version       print the version and stop
  --help          this text

The default of --transport is stdio here, and that of the file is the same.

Commands of config (--config FILE names another file):
  init                            write the first file
  add-profile NAME [DESCRIPTION], duplicate-profile NAME NEW, set-default-profile NAME
  add-tool PROFILE --dir DIR | --file FILE    add definitions, with their absolute path
  list-profiles, show-profile NAME

Keys of the file with profiles; relative paths start in the folder of the server:
  version: "1"
  defaultProfile: work
  profiles:
    work:
      description: What the team uses
      tools:                      # also prompts and resources
        directories:
          - path: /srv/tools
            defaults: {default: {limit: 10}}      # by layer; flags and arguments are "default"
            overrides: {default: {region: eu-1}}  # fixed, callers do not see them
            whitelist: {default: [word]}          # the only arguments that callers see
            blacklist: {default: [verbose]}       # arguments that callers do not see
        files: [{path: /srv/deploy.yaml}]
  parallel: 8                     # commands that run at the same time
Also: host, port, transport, auth_token_env, auth and the other auth_… keys,
allowed_hosts, allowed_origins, session_idle.

The smallest tool:
  name: today
  short: Tell the date
  command: [date, -I]
  hints: {read-only: true}

Environment:
  LOG_LEVEL       debug, info, warn or error (default info); the log goes to stderr
  LOG_FORMAT      text or json; text at a terminal and over stdio, json elsewhere unless set

In an agent's YAML:
  mcp_servers:
    - {name: commands, command: mcp-commands, args: [server, --directories, ./tools]}
`
