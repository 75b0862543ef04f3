// Package prompt is the key prompt of an agent's file: a text, or a tree of named sections in the file
// itself or in a directory.
//
//	faults := p.Read(ctx, dir)  // dir: of the file, to which the names of files are relative
//	text := p.System()          // what the model gets
//
// Package mcpservers/prompt/sections has the form of a directory and of the text.
package prompt
