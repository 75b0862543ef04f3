package google

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"agent-stop-and-go/mcpservers/drive/store"

	"google.golang.org/api/drive/v3"
)

// exports are the forms in which documents are read.
var exports = map[string]string{
	typePrefix + "document":     "text/plain",
	typePrefix + "spreadsheet":  "text/csv", // of the first sheet
	typePrefix + "presentation": "text/plain",
	typePrefix + "script":       typePrefix + "script+json",
}

// maxExport is the size of the largest document that Drive exports.
const maxExport = 10 << 20

// Read implements [store.Store].
func (d *Drive) Read(ctx context.Context, id string, offset int64, limit int) (store.Part, error) {
	f, err := d.follow(ctx, id)
	if err != nil {
		return store.Part{}, err
	}
	part := store.Part{File: d.describe(ctx, f)}
	switch part.File.Kind {
	case store.KindFolder:
		return part, store.ErrFolder
	case store.KindDocument:
		return d.export(ctx, f, part, offset, limit)
	}
	if offset >= f.Size {
		return part, nil
	}
	part.Data, err = d.download(ctx, f, offset, limit)
	part.More = offset+int64(len(part.Data)) < f.Size
	return part, err
}

// download reads at most limit bytes of the content of a file.
func (d *Drive) download(ctx context.Context, f *drive.File, offset int64, limit int) ([]byte, error) {
	if limit == 0 || f.Size == 0 {
		return nil, nil
	}
	call := d.api.Files.Get(f.Id).Context(ctx).SupportsAllDrives(true)
	call.Header().Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+int64(limit)-1))
	response, err := call.Download()
	if isStatus(err, http.StatusRequestedRangeNotSatisfiable) {
		return nil, nil // it became shorter
	}
	if err != nil {
		return nil, d.explain(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusPartialContent { // all of it
		if _, err := io.CopyN(io.Discard, response.Body, offset); err != nil && err != io.EOF {
			return nil, d.explain(ctx, err)
		}
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)))
	return data, d.explain(ctx, err)
}

// export reads a document as text. Drive has no parts of an export, so all before the part is read as well.
func (d *Drive) export(ctx context.Context, f *drive.File, part store.Part, offset int64, limit int) (store.Part, error) {
	var ok bool
	if part.As, ok = exports[f.MimeType]; !ok {
		return part, fmt.Errorf("%q is of the type %s, which cannot be read as text", f.Name, f.MimeType)
	}
	response, err := d.api.Files.Export(f.Id, part.As).Context(ctx).Download()
	if err != nil {
		return part, d.explain(ctx, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, min(offset+int64(limit)+1, maxExport)))
	if err != nil {
		return part, d.explain(ctx, err)
	}
	data = data[min(offset, int64(len(data))):]
	part.More = len(data) > limit
	part.Data = data[:min(limit, len(data))]
	return part, nil
}
