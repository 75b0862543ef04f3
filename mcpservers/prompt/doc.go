// Package prompt is the tool server mcp-prompt: a system prompt as named sections in a directory, which
// a model may read, and change when a person agrees. Every version is kept.
//
//	store, err := prompt.Open(ctx, "./prompt", prompt.Limits{Versions: prompt.DefaultVersions})
//	s := prompt.NewServer(store, log)
//	err = hosting.Run(ctx, options, s)
//
// Package sections has the form of the directory and the operations. The program is mcpservers/cmd/mcp-prompt.
//
// # Tools
//
//	read_prompt     section                                read-only    the text, and the base of each section
//	update_prompt   section, operation, content, target,   destructive  the new version, with a diff
//	                base, why
//	prompt_history  limit                                  read-only    versions with who, when, why and a diff
//	revert_prompt   version, base, why                     destructive  the new version, which is as an earlier one
//	prompt_preview  tool, arguments                        read-only    the diff that a call would make
//
// A base is what read_prompt returns for the section, or for the whole prompt with revert_prompt. It stands for the
// name, the file and the text of a section. A call with another base is refused: what was shown when a person
// agreed is what is changed. prompt_preview has the _meta agent-stop-and-go/facts with the name preview: agents
// ask it before they ask a person.
//
// The resource prompt://system is the whole text; its _meta agent-stop-and-go/prompt has version and digest. The
// resource prompt://sections is a sections.Reading, with which agents of other machines begin conversations.
//
// # Versions
//
// The folder .versions in the directory has a file for each version, with all files of the prompt, who made it,
// when and why. A change is written there first, as NUMBER.pending, then to the files of the prompt, and then the
// name loses .pending. Whoever opens the directory next completes what a crash has interrupted. A lock (.lock) admits
// one process at a time. Files that somebody has edited become a version of their own before anything else is done,
// also those that are saved while a change is written: a change writes no other files than those it changes.
//
// The oldest versions are removed beyond Limits.Versions, if it is not 0. All processes that open a directory must
// be of one user, who is its owner.
//
// # Repeated calls
//
// The idempotency key of a call is in its version. A call with the same key and arguments returns the first
// result, as long as the version is kept. Later it is refused, because its base is not that of now.
//
// # Map
//
//	store.go     the directory: lock, recovery, edited files
//	owner.go     whose the directory is
//	version.go   the files in .versions
//	change.go    updates, reverts and previews
//	server.go    the MCP server; tools.go its tools; config.go its settings
package prompt
