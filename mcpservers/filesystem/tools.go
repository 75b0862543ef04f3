package filesystem

import (
	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/mcp"
)

// Tool names must not change: configurations, agents and approvals contain them.
const (
	toolListRoots       = "list_roots"
	toolListFolder      = "list_folder"
	toolReadFile        = "read_file"
	toolWriteFile       = "write_file"
	toolRemoveFile      = "remove_file"
	toolPatchFile       = "patch_file"
	toolCreateFolder    = "create_folder"
	toolRemoveFolder    = "remove_folder"
	toolStatFile        = "stat_file"
	toolHashFile        = "hash_file"
	toolPermissionsFile = "permissions_file"
	toolCopy            = "copy"
	toolMove            = "move"
	toolGrep            = "grep"
	toolGlob            = "glob"
)

// gatedTools are the tools that allowed_tools can contain. list_roots is always enabled.
var gatedTools = []string{
	toolListFolder, toolReadFile, toolWriteFile, toolRemoveFile, toolPatchFile, toolCreateFolder, toolRemoveFolder,
	toolStatFile, toolHashFile, toolPermissionsFile, toolCopy, toolMove, toolGrep, toolGlob,
}

func (s *Server) tools() []tool {
	return []tool{
		{listRootsTool(), s.listRoots}, {listFolderTool(), listFolder}, {readFileTool(), readFile},
		{writeFileTool(), writeFile}, {removeFileTool(), removeFile}, {patchFileTool(), patchFile},
		{createFolderTool(), createFolder}, {removeFolderTool(), removeFolder}, {statFileTool(), statFile},
		{hashFileTool(), hashFile}, {permissionsFileTool(), permissionsFile}, {copyTool(), copyPath},
		{moveTool(), movePath}, {grepTool(), grep}, {globTool(), glob},
	}
}

// Destructive tools can change or remove existing data. Idempotent tools have no further effect
// when called again. write_file is not, because it can append; move is not, because its source
// may exist again.
var (
	reads    = hosting.Hints{ReadOnly: true, Idempotent: true}
	adds     = hosting.Hints{Idempotent: true}
	replaces = hosting.Hints{Destructive: true, Idempotent: true}
	modifies = hosting.Hints{Destructive: true}
)

func define(name, title string, h hosting.Hints, description string, options ...mcp.ToolOption) mcp.Tool {
	return mcp.NewTool(name, append([]mcp.ToolOption{mcp.WithDescription(description), h.Annotation(title)}, options...)...)
}

func textParameter(name, description string, options ...mcp.PropertyOption) mcp.ToolOption {
	return mcp.WithString(name, append(options, mcp.Description(description))...)
}

func numberParameter(name, description string) mcp.ToolOption {
	return mcp.WithInteger(name, mcp.Min(0), mcp.Description(description))
}

func rootParameter() mcp.ToolOption {
	return textParameter("root", "Name of a root, as given by list_roots", mcp.Required(), mcp.MinLength(1))
}

func pathParameter(what string) mcp.ToolOption {
	return textParameter("path", what+", relative to the root", mcp.Required(), mcp.MinLength(1))
}

func listRootsTool() mcp.Tool {
	return define(toolListRoots, "List roots", reads, "List the roots by name, with the tools that are allowed in each.",
		hosting.ResultOf[roots]())
}

func listFolderTool() mcp.Tool {
	return define(toolListFolder, "List a folder", reads,
		"List the entries of one folder by name: type, size, time of change. A symbolic link has target_type file, directory or external (out of the root), or none when its target is missing.",
		rootParameter(), pathParameter("Folder, . for the root itself"), hosting.ResultOf[listing]())
}

func readFileTool() mcp.Tool {
	return define(toolReadFile, "Read a file", reads,
		"Read a file: whole, or a part by bytes or by lines (not both). Large files can only be read in parts. "+
			"By bytes, truncated means that fewer bytes than limit_bytes came back; by lines, that more lines follow. "+
			"Lines are looked for in the first 256 MiB of a file; of a longer one lines_total is left out. "+
			"Content that is not text comes in base64 with encoding base64.",
		rootParameter(), pathParameter("File"),
		numberParameter("offset_bytes", "Byte to start at, from 0"),
		numberParameter("limit_bytes", "How many bytes to read"),
		numberParameter("offset_lines", "Line to start at, from 1"),
		numberParameter("limit_lines", "How many lines to read"),
		hosting.ResultOf[content]())
}

func writeFileTool() mcp.Tool {
	return define(toolWriteFile, "Write a file", modifies,
		"Write a file and the folders it needs. overwrite replaces what exists at once, append adds to its end, create_only refuses when it exists. size in the result is what this call wrote.",
		rootParameter(), pathParameter("File"),
		textParameter("content", "Text to write; may be empty", mcp.Required()),
		textParameter("mode", "What to do when the file exists", mcp.Enum(writeModes...), mcp.DefaultString(modeOverwrite)),
		hosting.ResultOf[writeResult]())
}

func removeFileTool() mcp.Tool {
	return define(toolRemoveFile, "Remove a file", replaces, "Remove a file for good. Of a symbolic link, the link is removed and what it points to stays.",
		rootParameter(), pathParameter("File"), hosting.ResultOf[removeResult]())
}

func patchFileTool() mcp.Tool {
	return define(toolPatchFile, "Patch a file", modifies,
		"Apply a unified diff to one file: every hunk or none. A missing file counts as empty. "+
			"Hunks are also found some lines away from where they say, and with up to two outer context lines that differ; adjusted lists the hunks for which that was needed.",
		rootParameter(), pathParameter("File"),
		textParameter("patch", "Unified diff of this one file; --- and +++ lines may be left out", mcp.Required(), mcp.MinLength(1)),
		hosting.ResultOf[patchResult]())
}

func createFolderTool() mcp.Tool {
	return define(toolCreateFolder, "Create a folder", adds, "Create a folder and the folders above it. One that exists stays as it is.",
		rootParameter(), pathParameter("Folder"), hosting.ResultOf[createResult]())
}

func removeFolderTool() mcp.Tool {
	return define(toolRemoveFolder, "Remove a folder", replaces, "Remove a folder and everything in it for good. The root itself cannot be removed.",
		rootParameter(), pathParameter("Folder"), hosting.ResultOf[removeResult]())
}

func statFileTool() mcp.Tool {
	return define(toolStatFile, "Describe a file or folder", reads, "Tell type, size and time of change of a file or folder. Symbolic links are followed: the answer is about what they point to.",
		rootParameter(), pathParameter("File or folder"), hosting.ResultOf[stat]())
}

func hashFileTool() mcp.Tool {
	return define(toolHashFile, "Hash a file", reads, "Compute a checksum of a file, in hexadecimal.",
		rootParameter(), pathParameter("File"),
		textParameter("algorithm", "Kind of checksum", mcp.Required(), mcp.Enum(hashNames...)),
		hosting.ResultOf[hashResult]())
}

func permissionsFileTool() mcp.Tool {
	return define(toolPermissionsFile, "Show permissions", reads, "Tell mode, owner and group of a file or folder. Symbolic links are followed.",
		rootParameter(), pathParameter("File or folder"), hosting.ResultOf[permissions]())
}

func pairParameters() []mcp.ToolOption {
	return []mcp.ToolOption{
		textParameter("source_root", "Root of the source, as given by list_roots", mcp.Required(), mcp.MinLength(1)),
		textParameter("source_path", "File or folder, relative to source_root", mcp.Required(), mcp.MinLength(1)),
		textParameter("dest_root", "Root of the destination; may be the same", mcp.Required(), mcp.MinLength(1)),
		textParameter("dest_path", "Where it goes: the new path itself, not a folder to put it into", mcp.Required(), mcp.MinLength(1)),
	}
}

func copyTool() mcp.Tool {
	return define(toolCopy, "Copy a file or folder", replaces,
		"Copy a file or a folder with all it has. Files at the destination are replaced, folders joined. "+
			"Inside a folder symbolic links are copied as links; skipped lists what was left out: links out of the root, FIFOs, sockets, devices.",
		append(pairParameters(), hosting.ResultOf[copyResult]())...)
}

func moveTool() mcp.Tool {
	return define(toolMove, "Move a file or folder", modifies,
		"Move or rename a file or folder. A file at the destination is replaced, a folder never. A root itself cannot be moved.",
		append(pairParameters(), hosting.ResultOf[moveResult]())...)
}

func grepTool() mcp.Tool {
	return define(toolGrep, "Search in files", reads,
		"Find lines by regular expression in a file or in all files below a folder. Binary files are left out. file in a match is relative to path. truncated means that the search stopped at a limit.",
		rootParameter(),
		textParameter("pattern", "Go regular expression, matched line by line", mcp.Required(), mcp.MinLength(1)),
		textParameter("path", "File or folder to search, relative to the root", mcp.DefaultString(".")),
		textParameter("glob_filter", "Only files whose base name matches this, for example *.go"),
		mcp.WithBoolean("case_insensitive", mcp.Description("Ignore case"), mcp.DefaultBool(false)),
		numberParameter("context_lines", "Lines to show before and after each match"),
		numberParameter("max_results", "Stop after this many matches; 100 when left out"),
		numberParameter("timeout_seconds", "Stop after this time with what was found; 300 when left out"),
		numberParameter("max_depth", "How many folders deep to search; 0 still enters the folders directly in path"),
		hosting.ResultOf[grepResult]())
}

func globTool() mcp.Tool {
	return define(toolGlob, "Find files by name", reads,
		"Find files and folders by name, sorted by path. Give either pattern or regex. A pattern without ** is compared with the base name only: *.go finds every Go file; to match folders use **, for example src/**/*.go. A regex is found anywhere in the path relative to path.",
		rootParameter(),
		textParameter("pattern", "Glob pattern with *, ?, [a-z], {a,b} and **"),
		textParameter("regex", "Go regular expression"),
		textParameter("path", "Folder to search, relative to the root", mcp.DefaultString(".")),
		numberParameter("max_results", "Stop after this many matches; 100 when left out"),
		numberParameter("timeout_seconds", "Stop after this time with what was found; 300 when left out"),
		numberParameter("max_depth", "How many folders deep to search; 0 still enters the folders directly in path"),
		textParameter("type_filter", "Only entries of this type", mcp.Enum("all", typeFile, typeFolder, typeLink), mcp.DefaultString("all")),
		hosting.ResultOf[globResult]())
}
