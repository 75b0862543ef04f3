// Package files is the tool server mcp-drive: the files of one configured folder, offered to agents over the
// Model Context Protocol. The folder is one of Google Drive, a bucket (S3, Google Cloud Storage, Azure) or one of
// this machine; the tools are the same. From this project it imports package hosting and the packages beside it:
//
//	config, err := files.LoadConfig("drive.yaml")
//	s, err := files.New(ctx, config, os.Getenv, log)
//	defer s.Close()
//	s.Register(mcpServer)
//
// The program is cmd/mcp-drive.
//
// # Tools
//
//	list_files     folder, page, limit            read-only    what is directly in a folder
//	search_files   name, folder, page, limit      read-only    by name, below a folder
//	stat_file      id                             read-only    kind, type, size, time, version
//	read_file      id, offset, limit, encoding    read-only    text, or any content in base64
//	create_file    name, content, folder, type    additive     refuses a name that is there
//	create_folder  name, folder                   additive     not for buckets, where folders are names only
//	append_file    id, content, version           destructive  adds to the end of a text
//	delete_file    id, version                    destructive  into the trash, unless delete: permanent
//	file_preview   tool, arguments                read-only    what a change would do, for who approves it
//
// append_file is destructive because Google Drive has no condition for it, see package google: in rare cases it
// replaces what somebody else wrote at the same moment. A version makes both changes conditional.
//
// A result has structured content as well. Texts are cut at the end of a character, and say where to read on.
// Errors that a caller can correct are results with isError; a change of which it is not known whether it was made
// is an error of the protocol, after which a caller knows that it does not know.
//
// # Repeated calls
//
// Results of changes are kept in memory by the idempotency key of the call, and the key leaves a mark at the file
// where the store can keep one in the same step as the change: always in buckets, for which the server declares
// hosting.IdempotencyCapability, and with a gap at Google Drive (see package google).
//
// # Logins
//
// With google.login the token of each call is that of its caller: requests without a token, or with one that
// Google has not issued to one of client_ids, are answered with 401 and metadata that name Google (RFC 9728).
//
// # Map
//
//	config.go           the configuration
//	open.go             the store, and who may call
//	server.go tools.go  the server and its tools
//	call.go text.go     what the tools do, and texts
//	preview.go          what a change would do
package files
