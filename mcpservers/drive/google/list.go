package google

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/drive/store"

	"google.golang.org/api/drive/v3"
)

// maxPages is the number of pages of results that a search looks at in one call.
const maxPages = 5

// List implements [store.Store].
func (d *Drive) List(ctx context.Context, id string, page store.Page) (store.Listing, error) {
	folder, err := d.folderOf(ctx, id)
	if err != nil {
		return store.Listing{}, err
	}
	found, err := d.query(ctx, "'"+folder.Id+"' in parents and trashed = false", "folder,name_natural", page)
	if err != nil {
		return store.Listing{}, err
	}
	out := store.Listing{Files: []store.File{}, Next: found.NextPageToken}
	for _, f := range found.Files {
		if slices.Contains(f.Parents, folder.Id) { // a page of another listing leads nowhere else
			out.Files = append(out.Files, d.describe(ctx, f))
		}
	}
	return out, nil
}

// Search implements [store.Store]. Drive finds the beginnings of words of names. It looks everywhere, so that
// what is not in the folder is dropped.
func (d *Drive) Search(ctx context.Context, id, text string, page store.Page) (store.Listing, error) {
	folder, err := d.folderOf(ctx, id)
	if err != nil {
		return store.Listing{}, err
	}
	p, err := d.proof(ctx, folder.Id)
	if err != nil {
		return store.Listing{}, err
	}
	out := store.Listing{Files: []store.File{}, Next: page.Token}
	for range maxPages {
		found, err := d.query(ctx, "name contains "+quoted(text)+" and trashed = false", "", store.Page{Token: out.Next, Limit: page.Limit})
		if err != nil {
			return store.Listing{}, err
		}
		out.Next, out.Cut = found.NextPageToken, out.Cut || found.IncompleteSearch
		for _, f := range found.Files {
			in, err := p.shows(ctx, f.Parents, 0)
			if err == errLookups {
				out.Cut = true
				return out, nil
			}
			if err != nil {
				return store.Listing{}, err
			}
			if in {
				out.Files = append(out.Files, d.describe(ctx, f))
			}
		}
		if out.Next == "" || len(out.Files) > 0 {
			break
		}
	}
	return out, nil
}

// quoted is a text in a query.
func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}

// query returns a page of files, of the shared drive of the folder if it is in one.
func (d *Drive) query(ctx context.Context, q, order string, page store.Page) (*drive.FileList, error) {
	root, err := d.folder(ctx)
	if err != nil {
		return nil, err
	}
	call := d.api.Files.List().Context(ctx).Q(q).SupportsAllDrives(true).IncludeItemsFromAllDrives(true).
		Fields("nextPageToken,incompleteSearch,files(" + fields + ")").PageSize(int64(page.Limit))
	if order != "" {
		call.OrderBy(order)
	}
	if root.DriveId != "" {
		call.Corpora("drive").DriveId(root.DriveId)
	}
	if page.Token != "" {
		call.PageToken(page.Token)
	}
	found, err := call.Do()
	if isStatus(err, 400) && page.Token != "" {
		return nil, fmt.Errorf("the page is not one of this listing: begin again without page")
	}
	return found, d.explain(ctx, err)
}

// Stat implements [store.Store].
func (d *Drive) Stat(ctx context.Context, id string) (store.File, error) {
	f, err := d.present(ctx, id)
	if err != nil {
		return store.File{}, err
	}
	return d.describe(ctx, f), nil
}

// describe describes a file that is within the folder.
func (d *Drive) describe(ctx context.Context, f *drive.File) store.File {
	out := store.File{ID: f.Id, Name: f.Name, Kind: kindOf(f.MimeType), Type: f.MimeType, Size: f.Size, Modified: f.ModifiedTime, Version: versionOf(f)}
	if f.ShortcutDetails != nil {
		out.Target = f.ShortcutDetails.TargetId
	}
	if root, err := d.folder(ctx); err == nil && len(f.Parents) > 0 && f.Parents[0] != root.Id && f.Id != root.Id {
		out.Folder = f.Parents[0]
	}
	return out
}

func kindOf(mime string) string {
	switch {
	case mime == typeFolder:
		return store.KindFolder
	case mime == typeShortcut:
		return store.KindShortcut
	case strings.HasPrefix(mime, typePrefix):
		return store.KindDocument
	}
	return store.KindFile
}

// versionOf is the head revision of a file with content; of others a number that changes with everything.
func versionOf(f *drive.File) string {
	if f.HeadRevisionId != "" {
		return f.HeadRevisionId
	}
	return fmt.Sprint(f.Version)
}
