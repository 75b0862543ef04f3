// Package hosting runs the tool servers of this project: it adds transports, sessions,
// protection and an orderly shutdown to an mcp-go server. A server itself only adds its tools,
// prompts and resources.
//
// # A new server
//
//	type Config struct {
//		hosting.Settings `yaml:",inline"` // host, port, transport, auth_token_env, …
//		DBPath           string `yaml:"db_path"`
//	}
//	config := Config{Settings: hosting.DefaultSettings(8090)} // then YAML, then flags: Settings.Bind
//
//	s := server.NewMCPServer("mcp-things", "1.0.0", server.WithToolCapabilities(false))
//	s.AddTool(…)
//	err = hosting.Run(ctx, hosting.Options{
//		Settings: config.Settings, Name: "mcp-things", Log: log,
//	}, s)
//
// Package typed makes the tools of Go functions, and its command mcp-notes is a whole server in
// twenty lines. Packages resources and mcpservers/cmd/mcp-resources have all that a larger one needs. Declare only
// capabilities that the server implements: listChanged if it calls AddTools or similar
// functions while clients are connected, subscribe if it uses [NewSubscriptions], logging if it
// sends log messages to clients. Publish resources that are added and removed at run time as a
// template, with [MissingResources] for removed ones.
//
// # Endpoints
//
//	/mcp             Streamable HTTP, protocols 2024-11-05 to 2025-11-25 with sessions
//	                 and 2026-07-28 without sessions, on the same endpoint
//	/sse, /message   the older HTTP+SSE pair
//	/health          "ok", without any check
//
// A panic in a handler is answered with the JSON-RPC error -32603. The server continues.
//
// # Sessions
//
// A session is created by initialize (SSE: by opening the stream) and identified by the
// Mcp-Session-Id header. It is deleted by DELETE, or after Settings.SessionIdle without a
// request or open stream. The server issues the IDs and looks them up on every request:
//
//	no id, or one that this server cannot have issued   400 "Invalid session ID"
//	an id that is unknown, ended or expired             404, so clients initialize again
//
// Beyond Options.MaxSessions, the sessions that were idle for longest are deleted.
//
// Handlers get their session with [SessionFrom] and store JSON values in it. Sessions are in
// memory, unless Options.Sessions is the result of [OpenSessions]. Sessions in its file survive
// a restart, including subscriptions.
//
// # Protection
//
// Every request except /health passes these checks, in this order:
//
//	Host     names of loopback, Settings.AllowedHosts and the address that the
//	         connection came to; while that list is empty, any name on
//	         connections that do not come over loopback                   403
//	Origin   absent, in Settings.AllowedOrigins, or with a host of that list;
//	         of other pages on loopback, on connections over loopback     403
//	Sec-Fetch-Site  not cross-site, but for Settings.AllowedOrigins       403
//	bearer   Options.Token or Options.Guard, when there is one            401
//	size     Options.MaxBody, read within 30 s; 64 KiB for initialize     413
//
// A response that its client does not read ends after Options.WriteTimeout. Options.MaxBody
// also limits the lines of stdio. A longer line is skipped and answered with the error -32600;
// the answer has the ID of the request if it is at the beginning of the line.
//
// The first three checks are in package guard. They prevent web pages from using a server that
// only their visitor can reach. Allowed origins also get CORS headers.
//
// Run refuses to listen off loopback if everybody could call: it wants auth (keys or oidc, package
// auth) or auth_token_env, or auth: none, which says that the network keeps others away.
//
// # Repeated calls
//
// A caller may have to repeat a writing call, because it cannot know whether the first one
// arrived. It then sends a key in _meta under [IdempotencyKey]. A server reads the key with
// [ParseCallKey]. It stores the key and the result in one transaction with the change, as package
// resources does, or in [Results] if it has no database. It declares this with
// [WithIdempotency]; without it, careful callers do not repeat calls.
//
// # Shutdown
//
// When the context of [Run] ends, no new connection is accepted, streams are closed, and
// running calls have Options.Grace to finish. After that their contexts are cancelled and their
// connections are closed.
//
// # Files
//
//	program.go settings.go flags.go yaml.go options.go run.go    settings and start
//	http.go access.go body.go deadline.go requestlog.go   around every HTTP request
//	session.go memory.go sqlite.go sessions.go expire.go    sessions, their stores, their requests
//	sse.go stdio.go pending.go                    the other transports
//	arguments.go tool.go                          code shared by all tools
//	idempotency.go                                idempotency keys and stored results
//	subscriptions.go missing.go                   parts of resources that mcp-go lacks
//	guard/                                        which web pages may send requests
//	auth/                                         keys and tokens of callers
//	typed/                                        tools of Go functions, and an example
//	programtest/                                  tests of a command as a program
//	reach/                                        requests to addresses that others have chosen
//	excerpt/                                      texts made shorter
//	sqlitefile/                                   how SQLite files are opened
package hosting
