package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"agent-stop-and-go/mcpservers/drive/store"
	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/mcp"
)

// Preview is the result of file_preview.
type Preview struct {
	Text string `json:"text" jsonschema:"what the call would do, or why it would be refused"`
}

// previewCall says what a call would do: an ID says nothing to who has to approve it.
func previewCall(ctx context.Context, c call) (answer, error) {
	name, err := c.args.Required("tool")
	if err != nil {
		return answer{}, err
	}
	var request mcp.CallToolRequest
	var arguments map[string]any
	if err := json.Unmarshal(c.args["arguments"], &arguments); err != nil {
		return answer{}, errors.New("arguments must be a JSON object")
	}
	request.Params.Arguments = arguments
	if c.args, err = hosting.ParseArguments(request, "id", "name", "content", "folder", "type", "version"); err != nil {
		return answer{}, err
	}
	text, err := c.preview(ctx, name)
	if err != nil {
		text = "The call would be refused: " + err.Error()
	}
	return answer{value: Preview{text}, text: text}, nil
}

func (c call) preview(ctx context.Context, name string) (string, error) {
	switch name {
	case "create_file", "create_folder":
		made, err := c.creation()
		if err != nil {
			return "", err
		}
		folder, err := c.store.Stat(ctx, made.Folder)
		if errors.Is(err, store.ErrNotFound) {
			folder, err = store.File{Name: made.Folder}, nil // of a bucket, where it begins with the file
		}
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("Create %q (%s, %d bytes) in the folder %q of %s.", made.Name, made.Type, len(made.Content), folder.Name, c.store.Name()), nil
	case "append_file":
		a, err := c.addition()
		if err != nil {
			return "", err
		}
		f, err := c.appended(ctx, a)
		return fmt.Sprintf("Append %d bytes to: %s. It is in %s.", len(a.Content), line(f), c.store.Name()), err
	case "delete_file":
		d, err := c.deletion()
		if err != nil {
			return "", err
		}
		f, err := c.target(ctx, d.ID, d.Version)
		how := "Delete, into the trash"
		if c.config.Delete == DeletePermanent {
			how = "Delete for good"
		}
		return fmt.Sprintf("%s: %s. It is in %s.", how, line(f), c.store.Name()), err
	}
	return "", fmt.Errorf("there is no preview for %q", name)
}

// appended returns the file that would be changed. It is where a shortcut leads.
func (c call) appended(ctx context.Context, a store.Addition) (store.File, error) {
	f, err := c.target(ctx, a.ID, "")
	if err != nil || f.Kind != store.KindShortcut {
		return c.target(ctx, a.ID, a.Version)
	}
	f, err = c.target(ctx, f.Target, a.Version)
	if err == nil && f.Kind != store.KindFile {
		err = fmt.Errorf("the shortcut does not lead to a file, but to a %s", f.Kind)
	}
	return f, err
}

// target returns a file with a version, if one is named.
func (c call) target(ctx context.Context, id, version string) (store.File, error) {
	f, err := c.store.Stat(ctx, id)
	if err == nil && version != "" && version != f.Version {
		err = store.ErrChanged
	}
	return f, err
}
