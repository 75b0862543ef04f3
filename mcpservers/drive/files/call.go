package files

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"path"
	"strings"

	"agent-stop-and-go/mcpservers/drive/store"

	"github.com/mark3labs/mcp-go/mcp"
)

// Reading is the result of read_file.
type Reading struct {
	File store.File `json:"file"`
	Text string     `json:"text,omitempty"`
	As   string     `json:"as,omitempty" jsonschema:"media type of the text, if it is not that of the file"`
	Next int64      `json:"next_offset,omitempty" jsonschema:"offset for the next call, if there is more"`
}

// Created is the result of create_file and create_folder.
type Created struct {
	File store.File `json:"file"`
}

func (c call) page() (folder string, page store.Page, err error) {
	if folder, err = c.args.Text("folder", ""); err != nil {
		return "", page, err
	}
	if page.Token, err = c.args.Text("page", ""); err != nil {
		return "", page, err
	}
	page.Limit, err = c.limit(1, c.config.MaxList)
	return folder, page, err
}

// limit returns the argument limit, of least to most, which is the default.
func (c call) limit(least, most int) (int, error) {
	n, err := c.args.Integer("limit", int64(most))
	if err == nil && (n < int64(least) || n > int64(most)) {
		err = fmt.Errorf("limit %d is out of range: %d to %d", n, least, most)
	}
	return int(n), err
}

func list(ctx context.Context, c call) (answer, error) {
	folder, page, err := c.page()
	if err != nil {
		return answer{}, err
	}
	out, err := c.store.List(ctx, folder, page)
	return answer{value: out, text: listText(out, "The folder is empty.")}, err
}

func search(ctx context.Context, c call) (answer, error) {
	name, err := c.args.Required("name")
	if err != nil {
		return answer{}, err
	}
	folder, page, err := c.page()
	if err != nil {
		return answer{}, err
	}
	out, err := c.store.Search(ctx, folder, name, page)
	return answer{value: out, text: listText(out, "No file has such a name.")}, err
}

func stat(ctx context.Context, c call) (answer, error) {
	id, err := c.args.Required("id")
	if err != nil {
		return answer{}, err
	}
	f, err := c.store.Stat(ctx, id)
	return answer{value: f, text: line(f)}, err
}

func read(ctx context.Context, c call) (answer, error) {
	id, err := c.args.Required("id")
	if err != nil {
		return answer{}, err
	}
	offset, err := c.args.Integer("offset", 0)
	if err != nil || offset < 0 {
		return answer{}, cmp.Or(err, fmt.Errorf("offset %d is out of range: 0 or more", offset))
	}
	limit, err := c.limit(minRead, c.config.MaxRead)
	if err != nil {
		return answer{}, err
	}
	encoding, err := c.args.Text("encoding", "text")
	if err != nil || encoding != "text" && encoding != "base64" {
		return answer{}, cmp.Or(err, fmt.Errorf("encoding %q is unknown: use text or base64", encoding))
	}
	part, err := c.store.Read(ctx, id, offset, limit)
	if err != nil {
		return answer{}, err
	}
	out := Reading{File: part.File, As: part.As}
	if encoding == "base64" {
		if part.More {
			out.Next = offset + int64(len(part.Data))
		}
		blob := mcp.BlobResourceContents{URI: "mcp-drive:///" + url.PathEscape(part.File.ID), MIMEType: cmp.Or(part.As, part.File.Type, "application/octet-stream"), Blob: base64.StdEncoding.EncodeToString(part.Data)}
		return answer{out, readNote(out, offset, len(part.Data)), mcp.NewEmbeddedResource(blob)}, nil
	}
	text, consumed := whole(part.Data, offset > 0, part.More)
	if !store.IsText(text) {
		return answer{}, fmt.Errorf("%q is no text in UTF-8 (%s, %d bytes): read it with encoding base64, if that helps you", part.File.Name, cmp.Or(part.File.Type, "of unknown type"), part.File.Size)
	}
	out.Text = string(text)
	if part.More && consumed > 0 {
		out.Next = offset + int64(consumed)
	}
	return answer{value: out, text: out.Text + moreNote(out)}, nil
}

func (c call) creation() (store.Creation, error) {
	out := store.Creation{Mark: c.mark}
	var err error
	if out.Name, err = c.args.Required("name"); err != nil {
		return out, err
	}
	if err := store.CheckName(out.Name); err != nil {
		return out, err
	}
	if out.Folder, err = c.args.Text("folder", ""); err != nil {
		return out, err
	}
	content, err := c.args.Text("content", "")
	if err != nil {
		return out, err
	}
	if len(content) > c.config.MaxWrite {
		return out, store.TooLarge(int64(len(content)), int64(c.config.MaxWrite))
	}
	out.Content = []byte(content)
	if out.Type, err = c.args.Text("type", cmp.Or(mime.TypeByExtension(path.Ext(out.Name)), "text/plain; charset=utf-8")); err != nil {
		return out, err
	}
	if name, _, err := mime.ParseMediaType(out.Type); err != nil || !strings.Contains(name, "/") {
		return out, fmt.Errorf("type %q is not a media type", out.Type)
	}
	return out, nil
}

func create(ctx context.Context, c call) (answer, error) {
	return c.made(ctx, c.store.Create)
}

func createFolder(ctx context.Context, c call) (answer, error) {
	return c.made(ctx, c.store.(store.FolderMaker).CreateFolder)
}

func (c call) made(ctx context.Context, do func(context.Context, store.Creation) (store.File, error)) (answer, error) {
	creation, err := c.creation()
	if err != nil {
		return answer{}, err
	}
	f, err := do(ctx, creation)
	return answer{value: Created{f}, text: fmt.Sprintf("Created '%s' — id: %s", f.Name, f.ID)}, err
}

func (c call) addition() (store.Addition, error) {
	out := store.Addition{Mark: c.mark}
	var err error
	if out.ID, err = c.args.Required("id"); err != nil {
		return out, err
	}
	content, err := c.args.Required("content")
	if err != nil {
		return out, err
	}
	if len(content) > c.config.MaxWrite {
		return out, store.TooLarge(int64(len(content)), int64(c.config.MaxWrite))
	}
	out.Content = []byte(content)
	out.Version, err = c.args.Text("version", "")
	return out, err
}

func appendTo(ctx context.Context, c call) (answer, error) {
	addition, err := c.addition()
	if err != nil {
		return answer{}, err
	}
	out, err := c.store.Append(ctx, addition)
	text := "Appended to file id: " + out.File.ID
	if out.Warning != "" {
		text += "\n" + out.Warning
	}
	return answer{value: out, text: text}, err
}

func (c call) deletion() (store.Deletion, error) {
	out := store.Deletion{Mark: c.mark}
	var err error
	if out.ID, err = c.args.Required("id"); err != nil {
		return out, err
	}
	out.Version, err = c.args.Text("version", "")
	return out, err
}

func remove(ctx context.Context, c call) (answer, error) {
	deletion, err := c.deletion()
	if err != nil {
		return answer{}, err
	}
	out, err := c.store.Delete(ctx, deletion)
	text := "Deleted file id: " + out.File.ID
	if out.Trash != "" {
		text += "\nIt is in " + out.Trash + "."
	}
	return answer{value: out, text: text}, err
}
