// Package hosting runs the tool servers of this project: transports, sessions, protection and
// an orderly shutdown around an mcp-go server. A server adds its tools, prompts and resources and
// nothing about HTTP.
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
// Package resources and mcpservers/cmd/mcp-resources are the example to copy.
// Declare only capabilities that the server keeps: listChanged when it calls
// AddTools or the like while clients are connected, subscribe when it uses
// [NewSubscriptions], logging when it sends log messages to clients. Resources
// that come and go are a template, with [MissingResources] for those that went.
//
// # Endpoints
//
//	/mcp             Streamable HTTP, protocols 2024-11-05 to 2025-11-25 with sessions
//	                 and 2026-07-28 without, on the same endpoint
//	/sse, /message   the older HTTP+SSE pair
//	/health          "ok", without any check
//
// A panic in a handler is the JSON-RPC error -32603, and the server lives on.
//
// # Sessions
//
// A session is created by initialize (SSE: by opening the stream), named by the
// Mcp-Session-Id header and forgotten after Settings.SessionIdle without request
// or open stream, or on DELETE. Ids are made here and looked up on every request:
//
//	no id, or one that this server cannot have issued   400 "Invalid session ID"
//	an id that is unknown, ended or expired             404, so clients initialize anew
//
// Of more than Options.MaxSessions, those that were silent for longest are
// forgotten first.
//
// Handlers find theirs with [SessionFrom] and keep JSON values in it. Sessions
// are in memory unless Options.Sessions is [OpenSessions], whose file lets clients
// carry on after a restart, subscriptions included.
//
// # Protection
//
// Every request except /health passes, in this order:
//
//	Host     names of loopback, Settings.AllowedHosts and the address that the
//	         connection came to; while that list is empty, any name on
//	         connections that do not come over loopback                   403
//	Origin   absent, in Settings.AllowedOrigins, or with a host of that list;
//	         of other pages on loopback, on connections over loopback     403
//	Sec-Fetch-Site  not cross-site, but for Settings.AllowedOrigins       403
//	bearer   Options.Token, when there is one                             401
//	size     Options.MaxBody, read within 30 s; 64 KiB for initialize     413
//
// An answer that its client does not read ends after Options.WriteTimeout.
// Options.MaxBody holds for lines of stdio, too. A longer one is answered with the
// error -32600 and skipped; the answer has the ID of the request if that stands at
// its beginning.
//
// The first three are package guard: they keep web pages from using a server that
// their visitor reaches. Allowed origins also get CORS headers.
//
// # Repeated calls
//
// A caller that may repeat a writing call, because it cannot know whether the
// first one arrived, names it in _meta under [IdempotencyKey]. A server reads that
// with [OnceOf] and keeps key and result in one transaction with the change, as
// package resources does, or in [Results] when it has no database. It says so with
// [RemembersCalls]: without that, no careful caller repeats a call.
//
// # Shutdown
//
// When the context of [Run] ends, no new connection is accepted, streams are
// closed and running calls have Options.Grace to be answered. After that their
// contexts are cancelled and their connections cut.
//
// # Files
//
//	program.go settings.go flags.go yaml.go options.go run.go    settings and start
//	http.go door.go body.go deadline.go requestlog.go   around every HTTP request
//	session.go memory.go sqlite.go sessions.go expire.go    sessions, their stores, their requests
//	sse.go stdio.go pending.go                    the other transports
//	arguments.go tool.go                          code shared by all tools
//	once.go                                       calls that are repeated
//	subscriptions.go missing.go                   resources, where mcp-go is incomplete
//	guard/                                        which web pages may send requests
//	sqlitefile/                                   how SQLite files are opened
package hosting
