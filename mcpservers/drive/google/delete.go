package google

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"agent-stop-and-go/mcpservers/drive/store"

	"google.golang.org/api/drive/v3"
)

// Delete implements [store.Store]. Of a shortcut it deletes the shortcut.
func (d *Drive) Delete(ctx context.Context, del store.Deletion) (store.Deleted, error) {
	f, err := d.find(ctx, del.ID)
	if err != nil {
		return store.Deleted{}, err
	}
	root, err := d.folder(ctx)
	if err != nil {
		return store.Deleted{}, err
	}
	out := store.Deleted{File: d.describe(ctx, f)}
	if !d.config.Permanent {
		out.Trash = "the trash of Google Drive, from which it can be restored for 30 days"
	}
	if made, err := marked(f, del.Mark); made || err != nil {
		return out, err
	}
	switch {
	case f.Id == root.Id:
		return out, errors.New("the configured folder itself is not deleted")
	case f.Trashed:
		return out, fmt.Errorf("%w: it is in the trash already", store.ErrNotFound)
	case del.Version != "" && del.Version != out.File.Version:
		return out, store.ErrChanged
	}
	if f.MimeType == typeFolder {
		if err := d.empty(ctx, f); err != nil {
			return out, err
		}
	}
	return out, d.remove(ctx, f, del.Mark)
}

// empty fails if there is something in a folder: it would be deleted with it.
func (d *Drive) empty(ctx context.Context, f *drive.File) error {
	q := "'" + f.Id + "' in parents"
	if !d.config.Permanent { // else what is in the trash would be deleted with it
		q += " and trashed = false"
	}
	found, err := d.query(ctx, q, "", store.Page{Limit: 1})
	switch {
	case err != nil:
		return err
	case len(found.Files) > 0:
		return fmt.Errorf("the folder %q is not empty", f.Name)
	case found.IncompleteSearch || found.NextPageToken != "":
		return fmt.Errorf("whether the folder %q is empty is not known: try again later", f.Name)
	}
	return nil
}

func (d *Drive) remove(ctx context.Context, f *drive.File, mark store.Mark) error {
	once := changing(ctx, true) // an ID is never used again
	if d.config.Permanent {
		err := d.api.Files.Delete(f.Id).Context(once).SupportsAllDrives(true).Do()
		if isStatus(err, http.StatusNotFound) { // since it was found, perhaps by an attempt without an answer
			return nil
		}
		return d.explain(once, err)
	}
	update := withMark(f, mark)
	update.Trashed = true
	made, err := d.api.Files.Update(f.Id, update).Context(once).SupportsAllDrives(true).Fields(fields).Do()
	_, err = d.settle(ctx, f.Id, mark, made, d.explain(once, err))
	return err
}
