package google

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"agent-stop-and-go/mcpservers/drive/store"

	"google.golang.org/api/drive/v3"
	"google.golang.org/api/googleapi"
)

const (
	// createdBy is the prefix of the property with the mark of a creation.
	createdBy = "created-"
	// maxPending bounds the IDs that are kept for repeated creations.
	maxPending = 1000
)

// Create implements [store.Store].
func (d *Drive) Create(ctx context.Context, c store.Creation) (store.File, error) {
	return d.create(ctx, c, &drive.File{Name: c.Name, MimeType: c.Type})
}

// CreateFolder implements [store.FolderMaker].
func (d *Drive) CreateFolder(ctx context.Context, c store.Creation) (store.File, error) {
	return d.create(ctx, c, &drive.File{Name: c.Name, MimeType: typeFolder})
}

func (d *Drive) create(ctx context.Context, c store.Creation, f *drive.File) (store.File, error) {
	folder, err := d.folderOf(ctx, c.Folder)
	if err != nil {
		return store.File{}, err
	}
	unlock, err := d.locks.Lock(ctx, folder.Id+"/"+c.Name)
	if err != nil {
		return store.File{}, err
	}
	defer unlock()
	made, err := d.made(ctx, folder, c)
	if err != nil {
		return store.File{}, err
	}
	if made == nil {
		f.Parents, f.AppProperties = []string{folder.Id}, map[string]string{createdBy + c.Mark.ID: c.Mark.Args}
		if made, err = d.insert(ctx, f, c); err != nil {
			return store.File{}, err
		}
	}
	return d.describe(ctx, made), nil
}

// made returns the file of an earlier call with the same key, or nil. Another file with the name is an error:
// Drive would make two with one name.
func (d *Drive) made(ctx context.Context, folder *drive.File, c store.Creation) (*drive.File, error) {
	for _, q := range []string{
		fmt.Sprintf("'%s' in parents and name = %s and trashed = false", folder.Id, quoted(c.Name)),
		fmt.Sprintf("appProperties has { key=%s and value=%s } and trashed = false", quoted(createdBy+c.Mark.ID), quoted(c.Mark.Args)),
	} {
		found, err := d.query(ctx, q, "", store.Page{Limit: 10})
		if err != nil {
			return nil, err
		}
		for _, f := range found.Files {
			if args, ok := f.AppProperties[createdBy+c.Mark.ID]; ok {
				return f, c.Mark.Check(args)
			}
			if f.Name == c.Name {
				return nil, fmt.Errorf("%w: id %s", store.ErrExists, f.Id)
			}
		}
	}
	return nil, nil
}

// insert makes the file under an ID that Drive has issued. The same request twice makes one file.
func (d *Drive) insert(ctx context.Context, f *drive.File, c store.Creation) (*drive.File, error) {
	var err error
	if f.Id, err = d.idFor(ctx, c.Mark.ID); err != nil {
		return nil, err
	}
	once := changing(ctx, true)
	call := d.api.Files.Create(f).Context(once).SupportsAllDrives(true).Fields(fields)
	if f.MimeType != typeFolder {
		call.Media(bytes.NewReader(c.Content), googleapi.ContentType(f.MimeType), googleapi.ChunkSize(0))
	}
	made, err := call.Do()
	if isStatus(err, http.StatusConflict) { // an attempt without an answer has made it
		made, err = d.api.Files.Get(f.Id).Context(ctx).SupportsAllDrives(true).Fields(fields).Do()
		if err == nil && made.AppProperties[createdBy+c.Mark.ID] != c.Mark.Args {
			err = errors.New("another file has the ID that Drive has issued")
		}
	}
	if err = d.explain(once, err); errors.Is(err, store.ErrUnknown) {
		return nil, err // the next call with the key takes the same ID
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.pending, c.Mark.ID)
	return made, err
}

// idFor returns the ID for the file of a mark, the same one until it is known what came of it.
func (d *Drive) idFor(ctx context.Context, mark string) (string, error) {
	d.mu.Lock()
	id := d.pending[mark]
	d.mu.Unlock()
	if id != "" {
		return id, nil
	}
	ids, err := d.api.Files.GenerateIds().Context(ctx).Count(1).Space("drive").Type("files").Do()
	if err != nil {
		return "", d.explain(ctx, err)
	}
	if len(ids.Ids) != 1 || !CheckID(ids.Ids[0]) {
		return "", errors.New("no ID was issued by Google Drive")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for other := range d.pending {
		if len(d.pending) < maxPending {
			break
		}
		delete(d.pending, other)
	}
	d.pending[mark] = ids.Ids[0]
	return ids.Ids[0], nil
}
