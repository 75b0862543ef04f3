package files

import (
	"fmt"

	"agent-stop-and-go/mcpservers/drive/store"
	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/mcp"
)

// FactsMeta is the _meta key of a tool that agents ask about a call before it is made.
const FactsMeta = "agent-stop-and-go/facts"

var (
	reads   = hosting.Hints{ReadOnly: true, Idempotent: true, OpenWorld: true}
	adds    = hosting.Hints{OpenWorld: true}
	changes = hosting.Hints{Destructive: true, OpenWorld: true}
)

// minRead is the smallest part of a file: the longest character.
const minRead = 4

// tools are those that the configuration permits.
func (s *Server) tools() []tool {
	list := []tool{
		{s.listTool(), list}, {s.searchTool(), search}, {s.statTool(), stat}, {s.readTool(), read},
	}
	if s.config.ReadOnly {
		return list
	}
	preview := []string{"create_file", "append_file"}
	list = append(list, tool{s.createTool(), create}, tool{s.appendTool(), appendTo})
	if _, ok := s.store.(store.FolderMaker); ok {
		preview = append(preview, "create_folder")
		list = append(list, tool{s.createFolderTool(), createFolder})
	}
	if s.config.Delete != DeleteNever {
		preview = append(preview, "delete_file")
		list = append(list, tool{s.deleteTool(), remove})
	}
	return append(list, tool{s.previewTool(preview), previewCall})
}

func (s *Server) define(name, title string, h hosting.Hints, description string, more ...mcp.ToolOption) mcp.Tool {
	return mcp.NewTool(name, append([]mcp.ToolOption{mcp.WithDescription(description), h.Annotation(title)}, more...)...)
}

func id(what string) mcp.ToolOption {
	return mcp.WithString("id", mcp.Required(), mcp.MinLength(1), mcp.Description("id of "+what+", as list_files and search_files give it"))
}

func inFolder() mcp.ToolOption {
	return mcp.WithString("folder", mcp.Description("id of a folder; the configured folder if it is missing"))
}

func (s *Server) paging() []mcp.ToolOption {
	return []mcp.ToolOption{
		mcp.WithString("page", mcp.Description("next_page of the call before; the first page if it is missing")),
		mcp.WithInteger("limit", mcp.Min(1), mcp.Max(float64(s.config.MaxList)), mcp.Description(fmt.Sprintf("how many at most; %d if it is missing", s.config.MaxList))),
		hosting.ResultOf[store.Listing](),
	}
}

func version() mcp.ToolOption {
	return mcp.WithString("version", mcp.Description("version of the file, as stat_file gives it; if the file has another one the call is refused"))
}

func (s *Server) listTool() mcp.Tool {
	return s.define("list_files", "List a folder", reads, "List the files and folders directly in a folder.", append(s.paging(), inFolder())...)
}

func (s *Server) searchTool() mcp.Tool {
	return s.define("search_files", "Search files by name", reads, "Find files by a part of their name, in the folder and all folders below. At Google Drive the part is the beginning of a word of the name.",
		append(s.paging(), inFolder(), mcp.WithString("name", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(255), mcp.Description("part of the name, in any case")))...)
}

func (s *Server) statTool() mcp.Tool {
	return s.define("stat_file", "Describe a file", reads, "Describe a file or a folder: kind, type, size, time of the last change, version.", id("a file or folder"), hosting.ResultOf[store.File]())
}

func (s *Server) readTool() mcp.Tool {
	return s.define("read_file", "Read a file", reads, "Read a file, or a part of it. Documents of Google are read as text.", id("a file"),
		mcp.WithInteger("offset", mcp.Min(0), mcp.Description("first byte; 0 if it is missing")),
		mcp.WithInteger("limit", mcp.Min(minRead), mcp.Max(float64(s.config.MaxRead)), mcp.Description(fmt.Sprintf("bytes at most; %d if it is missing", s.config.MaxRead))),
		mcp.WithString("encoding", mcp.Enum("text", "base64"), mcp.Description("base64 for content that is no text; text if it is missing")),
		hosting.ResultOf[Reading]())
}

func (s *Server) createTool() mcp.Tool {
	return s.define("create_file", "Create a file", adds, "Create a new file with a text. A name that is there already is refused.", inFolder(),
		mcp.WithString("name", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(255), mcp.Description("name, such as notes.txt")),
		mcp.WithString("content", mcp.Required(), mcp.Description("the text")),
		mcp.WithString("type", mcp.Pattern(`^[a-z]+/[A-Za-z0-9.+-]+$`), mcp.Description("media type; what the name says if it is missing")),
		hosting.ResultOf[Created]())
}

func (s *Server) createFolderTool() mcp.Tool {
	return s.define("create_folder", "Create a folder", adds, "Create a new folder. A name that is there already is refused.", inFolder(),
		mcp.WithString("name", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(255), mcp.Description("name of the folder")), hosting.ResultOf[Created]())
}

func (s *Server) appendTool() mcp.Tool {
	return s.define("append_file", "Append to a file", changes, "Add a text to the end of a file. Nothing is put between: begin with a line break where one is needed.", id("a file"),
		mcp.WithString("content", mcp.Required(), mcp.MinLength(1), mcp.Description("the text to add")), version(), hosting.ResultOf[store.Appended]())
}

func (s *Server) deleteTool() mcp.Tool {
	where := "Move a file, or an empty folder, to the trash."
	if s.config.Delete == DeletePermanent {
		where = "Delete a file, or an empty folder, for good."
	}
	return s.define("delete_file", "Delete a file", changes, where, id("a file or folder"), version(), hosting.ResultOf[store.Deleted]())
}

func (s *Server) previewTool(of []string) mcp.Tool {
	t := s.define("file_preview", "Preview a change of files", reads, "Say what a call would change. Nothing is changed.",
		mcp.WithString("tool", mcp.Required(), mcp.Enum(of...)), mcp.WithObject("arguments", mcp.Required(), mcp.Description("arguments of the call")), hosting.ResultOf[Preview]())
	t.Meta = &mcp.Meta{AdditionalFields: map[string]any{FactsMeta: map[string]any{"name": "preview", "for": of}}}
	return t
}
