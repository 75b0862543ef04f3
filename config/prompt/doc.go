// Package prompt is the key prompt of an agent's file: a text, or a tree of named sections in the file
// itself, in a directory or at a tool server.
//
//	faults := p.Read(ctx, dir)  // dir: of the file, to which the names of files are relative
//	err := p.Take(reading)      // of a server, which a worker has read
//	text := p.System()          // what the model gets
//	version := p.Version()      // for the record of conversations
//
// prompt.go has the keys and the files, version.go the versions and the server. A Prompt whose server nobody has read
// has the text of the file, which may be empty: who begins conversations uses Take or FallBack first.
//
// Package mcpservers/prompt/sections has the form of a directory and of the text.
package prompt
