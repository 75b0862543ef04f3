// Package commands is the tool server mcp-commands: tools, prompts and resources from YAML files, a
// tool being a command of this machine. Its program is mcpservers/cmd/mcp-commands.
//
//	server, err := commands.New(commands.Options{Load: load, Log: log})
//	m := commands.NewMCPServer()
//	err = server.Register(m)
//	go server.Watch(ctx, paths) // paths returns files and folders
//
// Its parts can be used alone:
//
//	definition   the YAML files, arguments, argv and environment
//	script       what a shell script must not do with a value
//	sandbox      one process with limits
//	profile      the file with profiles
//	convert      files of go-go-mcp with Go templates
//
// # Calls
//
// A call is checked against the definition first; what is refused starts nothing and is a result with isError.
// A command that was started is a result in any case: its standard output, with capture-stderr also its errors, and
// if it failed, both of them with the reason and isError. Each stream is cut at a rune.
//
// A call may carry an idempotency key, see package hosting. The result of a call that was started is
// kept in memory under it, also if the command failed: it may have had effects. After a restart of the server
// nothing is known of former calls, so the server does not declare the capability, and careful callers do not repeat.
//
// # What a machine cannot limit
//
// is said in the description of each tool that it concerns, for models and for those who approve.
//
// # Reloading
//
// Watch reads everything again when a file changes, and tells clients that lists have changed. If a
// file has a fault the old definitions stay, all of them, and the log says why. Running calls go on.
//
// # Files
//
//	server.go    definitions, registration
//	call.go      one call and its result
//	describe.go  what clients see
//	offer.go     prompts and resources
//	watch.go     reloading
package commands
