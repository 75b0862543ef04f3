// Package filesystem is the tool server mcp-filesystem: files below a few named folders, called
// roots, offered to agents over the Model Context Protocol. Its only import from this project
// is package hosting, which provides the transports:
//
//	config, err := filesystem.LoadConfig("filesystem.yaml")
//	files, err := filesystem.New(config, log)
//	defer files.Close()
//	files.Register(mcpServer)
//	err = hosting.Run(ctx, hosting.Options{Settings: config.Settings, Name: filesystem.Name}, mcpServer)
//
// The program is mcpservers/cmd/mcp-filesystem.
//
// A configuration lists the roots and the tools that are allowed in each. Other tools are
// refused there; "*" allows all 14:
//
//	host: 127.0.0.1
//	port: 8091
//	roots:
//	  - {name: docs, path: ./docs, allowed_tools: [list_folder, read_file, grep, glob]}
//	  - {name: work, path: /srv/work, allowed_tools: ["*"]}
//
// # Tools
//
// Results are compact JSON with sorted keys, as text and, up to 1 MiB, as structured content.
// Errors that a caller can correct are results with isError.
//
//	list_roots                                always enabled; returns names, never host paths
//	list_folder stat_file permissions_file    entries, sizes, modes, owners
//	read_file hash_file                       content, by bytes or by lines
//	grep glob                                 lines by regular expression, names by pattern
//	create_folder                             creates folders; existing ones are unchanged
//	write_file patch_file copy move           can replace existing files
//	remove_file remove_folder                 remove permanently
//
// # Paths
//
// A path is relative to its root; a leading slash is ignored. No path leads out of a root:
// paths are resolved step by step below it, and every operation uses an [os.Root]. If a link or
// folder is replaced during a call, the call fails and does not leave the root. Links inside a
// root are followed, except by remove_file, move and copies of folders, which operate on the
// link itself. FIFOs, sockets and devices are refused, and no call blocks on one. A path has at
// most 256 parts.
//
// # Writing
//
// A file is replaced by renaming a complete copy over it, so readers see either the old or the
// new content. The mode (without setuid and setgid) and the owner are kept; patches also keep a
// missing or present final newline. Hard links to the old content keep the old content.
// Appending is one write to the file itself, which is undone if it was incomplete. Calls that
// write the same file run one after the other. A killed process may leave a file
// .mcp-filesystem-*.tmp, which is hidden from the tools and can be deleted. The tools refuse
// such names for other files.
//
// # Repeated calls
//
// A writing call may carry a string in _meta under [hosting.IdempotencyKey]. The same key with
// the same arguments returns the first result for seven days and waits for it while the first
// call runs; with other arguments it is refused. The server stores this in memory (see
// [hosting.Results]), so it is lost on a restart; the program therefore does not declare the capability, and
// careful callers do not repeat a call whose outcome is unknown. A refused call stores no key.
//
// # Limits
//
// Files are read in pieces, and searches, copies and hashes end soon after their call is
// cancelled. [Config] limits what one call reads, writes, copies and returns, and its duration.
// Patterns that are too complex are refused, and matching the others ends soon after the
// timeout, even within one line.
//
// # Resources
//
// Files of roots that allow read_file are also MCP resources, with the template
// file-root://{root}/{+path}. In both parts all characters are percent-encoded except
// unreserved ones and the slashes of the path, so notes/a b.txt in docs is
// file-root://docs/notes/a%20b.txt. Text is returned as text, other content as a blob.
//
// # Map
//
//	config.go server.go tools.go   configuration, server and tools
//	root.go resolve.go walk.go failure.go       safe access to files
//	lock.go replace.go                          atomic changes
//	read.go list.go stat.go hash.go             the reading tools
//	grep.go search.go scan.go needle.go expression.go glob.go pattern.go   the searching tools
//	write.go patch.go folder.go remove.go copy.go move.go   the writing tools
//	resource.go                                 the MCP resources
//	unified/                                    unified diffs, usable without the server
package filesystem
