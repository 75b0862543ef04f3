package google

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"agent-stop-and-go/mcpservers/drive/store"

	"google.golang.org/api/drive/v3"
)

// Types of Google.
const (
	typePrefix   = "application/vnd.google-apps."
	typeFolder   = typePrefix + "folder"
	typeShortcut = typePrefix + "shortcut"
)

const fields = "id,name,mimeType,size,modifiedTime,parents,trashed,headRevisionId,version,shortcutDetails(targetId),appProperties"

// Limits of a proof.
const (
	maxDepth   = 100 // folders one in the other; Drive allows 100
	maxLookups = 300 // folders that are asked for in one call
)

// proof is what one call knows of folders. It is not safe for concurrent use.
type proof struct {
	drive   *Drive
	top     string          // the folder that files are to be within
	within  map[string]bool // folders that are, or are not
	lookups int
}

// proof begins the proofs of one call. top is within the configured folder; "" for it itself.
func (d *Drive) proof(ctx context.Context, top string) (*proof, error) {
	root, err := d.folder(ctx)
	if err != nil {
		return nil, err
	}
	if top == "" {
		top = root.Id
	}
	return &proof{drive: d, top: top, within: map[string]bool{top: true}}, nil
}

var errLookups = fmt.Errorf("more than %d folders had to be looked at", maxLookups)

// shows reports whether a file is within the folder: one of its parents is. Most files have one parent.
func (p *proof) shows(ctx context.Context, parents []string, depth int) (bool, error) {
	if depth > maxDepth {
		return false, nil
	}
	for _, parent := range parents {
		in, known := p.within[parent]
		if !known {
			if p.lookups++; p.lookups > maxLookups {
				return false, errLookups
			}
			p.within[parent] = false // of a folder within itself, which Drive does not have
			f, err := p.drive.api.Files.Get(parent).Context(ctx).SupportsAllDrives(true).Fields("id,parents,trashed").Do()
			switch {
			case isStatus(err, http.StatusNotFound):
			case err != nil:
				delete(p.within, parent)
				return false, p.drive.explain(ctx, err)
			case !f.Trashed:
				if in, err = p.shows(ctx, f.Parents, depth+1); err != nil {
					delete(p.within, parent)
					return false, err
				}
			}
			p.within[parent] = in
		}
		if in {
			return true, nil
		}
	}
	return false, nil
}

// find returns a file that is shown to be within the configured folder, also from the trash.
func (d *Drive) find(ctx context.Context, id string) (*drive.File, error) {
	root, err := d.folder(ctx)
	if err != nil {
		return nil, err
	}
	if isRoot(id) {
		id = root.Id
	}
	if !CheckID(id) {
		return nil, store.ErrNotFound
	}
	f, err := d.api.Files.Get(id).Context(ctx).SupportsAllDrives(true).Fields(fields).Do()
	if err != nil {
		return nil, d.explain(ctx, err)
	}
	if f.Id == root.Id {
		return f, nil
	}
	p, err := d.proof(ctx, "")
	if err != nil {
		return nil, err
	}
	in, err := p.shows(ctx, f.Parents, 0)
	if err != nil {
		return nil, err
	}
	if !in {
		return nil, store.ErrOutside
	}
	return f, nil
}

// isRoot reports whether an ID stands for the configured folder. Models write root for it.
func isRoot(id string) bool { return slices.Contains([]string{"", ".", "/", "root"}, id) }

// present is find without the trash.
func (d *Drive) present(ctx context.Context, id string) (*drive.File, error) {
	f, err := d.find(ctx, id)
	if err == nil && f.Trashed {
		return nil, fmt.Errorf("%w: it is in the trash", store.ErrNotFound)
	}
	return f, err
}

// follow is present, but of what a shortcut leads to, which has to be within the folder as well.
func (d *Drive) follow(ctx context.Context, id string) (*drive.File, error) {
	f, err := d.present(ctx, id)
	if err != nil || f.MimeType != typeShortcut {
		return f, err
	}
	if f.ShortcutDetails == nil || !CheckID(f.ShortcutDetails.TargetId) {
		return nil, store.ErrNotFound
	}
	target, err := d.present(ctx, f.ShortcutDetails.TargetId)
	if err != nil {
		return nil, fmt.Errorf("the shortcut leads out of the folder or nowhere: %w", err)
	}
	if target.MimeType == typeShortcut {
		return nil, fmt.Errorf("the shortcut leads to a shortcut: %w", store.ErrNotFound)
	}
	return target, nil
}

// folderOf returns the folder of an ID, through a shortcut.
func (d *Drive) folderOf(ctx context.Context, id string) (*drive.File, error) {
	f, err := d.follow(ctx, id)
	if err == nil && f.MimeType != typeFolder {
		return nil, fmt.Errorf("%q is not a folder", f.Name)
	}
	return f, err
}
