// Package filesystem is the tool server mcp-filesystem: files below a few named
// folders, called roots, offered to agents over the Model Context Protocol. Of
// this project it imports package hosting only, which brings the transports:
//
//	config, err := filesystem.LoadConfig("filesystem.yaml")
//	files, err := filesystem.New(config, log)
//	defer files.Close()
//	files.Register(mcpServer)
//	err = hosting.Run(ctx, hosting.Options{Settings: config.Settings, Name: filesystem.Name}, mcpServer)
//
// The program is mcpservers/cmd/mcp-filesystem.
//
// A configuration names the roots and what may be done in each. A tool that is
// not in allowed_tools does nothing there; "*" allows all 14:
//
//	host: 127.0.0.1
//	port: 8091
//	roots:
//	  - {name: docs, path: ./docs, allowed_tools: [list_folder, read_file, grep, glob]}
//	  - {name: work, path: /srv/work, allowed_tools: ["*"]}
//
// # Tools
//
// Results are compact JSON with sorted keys, as text and, up to 1 MiB, as
// structured content.
// What a caller can put right is a result with isError.
//
//	list_roots                                always on; shows names, never host paths
//	list_folder stat_file permissions_file    what is there
//	read_file hash_file                       content, by bytes or by lines
//	grep glob                                 lines by regular expression, names by pattern
//	create_folder                             adds; changes nothing that exists
//	write_file patch_file copy move           can replace what exists
//	remove_file remove_folder                 remove for good
//
// # Paths
//
// A path is relative to its root; a slash before it is ignored. Nothing leads
// out of a root: paths are resolved step by step below it, and every operation
// then goes through an [os.Root], so a link or folder that is swapped meanwhile
// makes the call fail rather than leave. Links inside a root are followed, except
// by remove_file, move and copies of folders, which treat the link itself.
// FIFOs, sockets and devices are refused, and no call
// ever waits for one. A path has at most 256 parts.
//
// # Writing
//
// A file is replaced by renaming a finished copy over it: readers see the old
// content or the new, and mode (without setuid and setgid), owner and (in patches)
// the missing or present final line end are kept. Hard links to the old content
// keep the old content. Appending is one write to the file itself, which is undone
// when only a part fits. Calls that write one file wait for each other. A process
// that is killed may leave a file .mcp-filesystem-*.tmp, which the tools do not
// show and anybody may delete; nothing else can get such a name here.
//
// # Calling twice
//
// A writing call may carry a string in _meta under [hosting.IdempotencyKey]. The
// same key with the same arguments returns the first result for seven days and
// waits for it while the first call runs; with other arguments it is refused. The
// server has this in memory (see [hosting.Results]): a restart forgets it. A
// refused call stores no key.
//
// # Limits
//
// Files are read in pieces, and searches, copies and sums end soon after their
// call is cancelled. How much one call may read, write, copy, return and how long
// it may take is in [Config]. Patterns that stand for too much are refused, and
// matching the others ends soon after its time, even within one line.
//
// # Resources
//
// Files of roots that allow read_file are also MCP resources, by the template
// file-root://{root}/{+path}: in both parts everything but unreserved characters
// and the slashes of the path is percent-encoded, so notes/a b.txt in docs is
// file-root://docs/notes/a%20b.txt. Text comes as text, anything else as a blob.
//
// # Map
//
//	config.go server.go tools.go   how it is set up and what it offers
//	root.go resolve.go walk.go failure.go       reaching files safely
//	lock.go replace.go                          changing them whole
//	read.go list.go stat.go hash.go             the reading tools
//	grep.go search.go scan.go needle.go expression.go glob.go pattern.go   the searching tools
//	write.go patch.go folder.go remove.go copy.go move.go   the writing tools
//	resource.go                                 the MCP resources
//	unified/                                    unified diffs, usable alone
package filesystem
