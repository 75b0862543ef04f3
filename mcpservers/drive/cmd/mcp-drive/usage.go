package main

import "agent-stop-and-go/mcpservers/hosting"

const usage = `mcp-drive offers the files of one folder as MCP tools: list, search, read, create, append, delete.

Usage:
  mcp-drive --path DIR [flags]             a folder of this machine, at http://HOST:PORT/mcp (and /sse, /health)
  mcp-drive --bucket URL [flags]           a bucket: s3://…, gs://…, azblob://…
  mcp-drive --google FOLDER_ID [flags]     a folder of Google Drive
  mcp-drive --config FILE [flags]          what the file says
  with --stdio: serve the program that started it, on stdin and stdout

Flags:
  --config FILE      YAML with the keys below; flags win over it
  --path DIR         the folder; it is made if it is missing
  --bucket URL       the bucket, and what is below ?prefix=…/ of it
  --google ID        the last part of the folder's address in a browser
  --key-file FILE    key of a service account with which the folder is shared
                     (default: the file that GOOGLE_APPLICATION_CREDENTIALS names)
  --read-only        no tools that change something
  --delete HOW       trash (default), permanent or never
  --port PORT        port to listen on; 0 for any free one     (default 8096)
` + hosting.FlagUsage + `  --version       print the version and stop
  --help          this text

In YAML, one of:
  path: ./files
  bucket: s3://reports?region=eu-central-1&prefix=2026/
  google: {folder: 1AbC…, key_file: ./key.json, subject: alice@example.com}
  google: {folder: 1AbC…, login: true, client_ids: [….apps.googleusercontent.com]}

subject is the person in whose name a service account acts. login takes the token of
each caller, which Google must have issued to one of client_ids.

Also in YAML: read_only, delete, google.endpoint, host, port, transport, auth_token_env,
session_idle, the lists allowed_hosts and allowed_origins, and the limits max_read (65536
bytes returned of a file), max_write (1048576 bytes in a call), max_file (8388608 bytes of
a file that is appended to), max_list (100 files) and timeout (25s).

Buckets take the credentials that the programs of their clouds take: AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT and others.

Environment:
  LOG_LEVEL       debug, info, warn or error (default info); the log goes to stderr
  LOG_FORMAT      text or json; text at a terminal and over stdio, json elsewhere unless set

In an agent's YAML:
  mcp_servers:
    - {name: files, command: mcp-drive, args: [--stdio, --google, 1AbC…], env: {GOOGLE_APPLICATION_CREDENTIALS: ./key.json}}
  or, for one that runs already:
    - {name: files, url: "http://127.0.0.1:8096/mcp"}
`
