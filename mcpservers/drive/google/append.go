package google

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/drive/store"

	"google.golang.org/api/drive/v3"
	"google.golang.org/api/googleapi"
)

// changedBy is the prefix of properties with marks of changes. Their values are the time in base 36, so that
// the oldest are known, a dot and the digest of the arguments.
const changedBy = "changed-"

// Append implements [store.Store].
func (d *Drive) Append(ctx context.Context, a store.Addition) (store.Appended, error) {
	f, err := d.follow(ctx, a.ID)
	if err != nil {
		return store.Appended{}, err
	}
	unlock, err := d.locks.Lock(ctx, f.Id)
	if err != nil {
		return store.Appended{}, err
	}
	defer unlock()
	for range 3 {
		out, err := d.appendOnce(ctx, f.Id, a)
		if !errors.Is(err, errMoved) {
			return out, err
		}
	}
	return store.Appended{}, store.ErrBusy
}

// errMoved is the error of a file that was changed while it was read.
var errMoved = errors.New("the file was changed")

func (d *Drive) appendOnce(ctx context.Context, id string, a store.Addition) (store.Appended, error) {
	f, err := d.present(ctx, id)
	if err != nil {
		return store.Appended{}, err
	}
	out := store.Appended{File: d.describe(ctx, f)}
	if made, err := marked(f, a.Mark); made || err != nil {
		return out, err
	}
	switch {
	case out.File.Kind == store.KindFolder:
		return out, store.ErrFolder
	case out.File.Kind != store.KindFile:
		return out, fmt.Errorf("%q is of the type %s: only files can be appended to, not documents of Google", f.Name, f.MimeType)
	case a.Version != "" && a.Version != out.File.Version:
		return out, store.ErrChanged
	case f.Size+int64(len(a.Content)) > d.config.MaxFile:
		return out, store.TooLarge(f.Size+int64(len(a.Content)), d.config.MaxFile)
	}
	old, err := d.download(ctx, f, 0, int(d.config.MaxFile))
	if err != nil {
		return out, err
	}
	if int64(len(old)) != f.Size {
		return out, errMoved
	}
	content, err := store.Extend(old, a.Content)
	if err != nil {
		return out, err
	}
	now, err := d.present(ctx, id) // right before the change: it may have been moved or changed
	if err != nil {
		return out, err
	}
	if now.HeadRevisionId != f.HeadRevisionId {
		return out, errMoved
	}
	made, err := d.upload(ctx, now, content, a.Mark)
	if err != nil {
		return out, err
	}
	out.File = d.describe(ctx, made)
	out.Warning = d.overwritten(ctx, f.HeadRevisionId, made)
	return out, nil
}

// upload replaces the content of a file. If there is no answer, it asks what came of it.
func (d *Drive) upload(ctx context.Context, f *drive.File, content []byte, mark store.Mark) (*drive.File, error) {
	once := changing(ctx, false)
	made, err := d.api.Files.Update(f.Id, withMark(f, mark)).Context(once).SupportsAllDrives(true).Fields(fields).
		Media(bytes.NewReader(content), googleapi.ContentType(f.MimeType), googleapi.ChunkSize(0)).Do()
	return d.settle(ctx, f.Id, mark, made, d.explain(once, err))
}

// settle looks for the mark of a change without an answer. That it is not there proves nothing: the request may
// still be on its way.
func (d *Drive) settle(ctx context.Context, id string, mark store.Mark, made *drive.File, err error) (*drive.File, error) {
	if !errors.Is(err, store.ErrUnknown) {
		return made, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	f, asked := d.api.Files.Get(id).Context(ctx).SupportsAllDrives(true).Fields(fields).Do()
	if asked != nil {
		return nil, err
	}
	if found, _ := marked(f, mark); found {
		return f, nil
	}
	return nil, err
}

// marked reports whether a file has the mark of a call.
func marked(f *drive.File, mark store.Mark) (bool, error) {
	value, ok := f.AppProperties[changedBy+mark.ID]
	if !ok {
		return false, nil
	}
	_, args, _ := strings.Cut(value, ".")
	return true, mark.Check(args)
}

// withMark is an update that adds a mark, and drops the oldest of too many: Drive keeps 30 properties.
func withMark(f *drive.File, mark store.Mark) *drive.File {
	update := &drive.File{AppProperties: map[string]string{changedBy + mark.ID: strconv.FormatInt(time.Now().UnixMilli(), 36) + "." + mark.Args}}
	old := slices.DeleteFunc(slices.Collect(maps.Keys(f.AppProperties)), func(key string) bool { return !strings.HasPrefix(key, changedBy) })
	slices.SortFunc(old, func(a, b string) int { return strings.Compare(f.AppProperties[a], f.AppProperties[b]) })
	for _, key := range old[:max(0, len(old)-store.MaxMarks+1)] {
		update.NullFields = append(update.NullFields, "AppProperties."+key)
	}
	return update
}

// overwritten says if somebody else changed the file between the revision that was read and the one that was
// made, and where that change is now.
func (d *Drive) overwritten(ctx context.Context, before string, made *drive.File) string {
	var last, page string
	for {
		call := d.api.Revisions.List(made.Id).Context(ctx).PageSize(1000).Fields("nextPageToken,revisions(id)")
		if page != "" {
			call.PageToken(page)
		}
		list, err := call.Do()
		if err != nil {
			return "It could not be checked whether somebody else changed the file at the same moment."
		}
		for _, r := range list.Revisions {
			if r.Id == made.HeadRevisionId {
				if last == before || last == "" {
					return ""
				}
				return fmt.Sprintf("Somebody else changed the file at the same moment, and this change has replaced theirs. It is in the revision %s of the file, from which a person can restore it.", last)
			}
			last = r.Id
		}
		if page = list.NextPageToken; page == "" {
			return "Somebody else has changed the file since; the addition may be in an earlier revision of it."
		}
	}
}
