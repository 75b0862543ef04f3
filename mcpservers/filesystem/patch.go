package filesystem

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"agent-stop-and-go/mcpservers/filesystem/unified"
)

type patchResult struct {
	Adjusted     []adjustment `json:"adjusted,omitempty"` // hunks that were changed to apply
	HunksApplied int          `json:"hunks_applied"`
	Path         string       `json:"path"`
}

type adjustment struct {
	Fuzz      int  `json:"fuzz,omitempty"`      // outer context lines that were ignored
	Hunk      int  `json:"hunk"`                // number in the patch, from 1
	Line      int  `json:"line"`                // line in the old file at which it was applied
	Offset    int  `json:"offset,omitempty"`    // lines between the stated and the actual position
	Recounted bool `json:"recounted,omitempty"` // its header had wrong line counts
}

func patchFile(ctx context.Context, c call) (any, error) {
	at, err := c.writableLocation("root", "path")
	if err != nil {
		return nil, err
	}
	patch, err := c.args.Required("patch")
	if err != nil {
		return nil, err
	}
	if err := c.mayWrite("patch", len(patch)); err != nil {
		return nil, err
	}
	release, err := c.locks.acquire(ctx, at.hostPath())
	if err != nil {
		return nil, err
	}
	defer release()
	old, err := c.toPatch(ctx, at)
	if err != nil {
		return nil, describe(err, "file not found", at.given)
	}
	result, err := unified.Apply(ctx, old, patch)
	if err != nil {
		return nil, err
	}
	if err := c.mayWrite("patched file", len(result.Text)); err != nil {
		return nil, err
	}
	if err := at.root.replace(at.rel, newFileMode, true, textWriter(string(result.Text))); err != nil {
		return nil, describe(err, "path is not a directory", at.given)
	}
	return patchResult{Adjusted: adjustments(result.Hunks), HunksApplied: len(result.Hunks), Path: at.given}, nil
}

// toPatch reads the file to patch. A missing file is empty.
func (c call) toPatch(ctx context.Context, at location) ([]byte, error) {
	file, info, err := at.root.openFile(at.rel, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := c.mayWrite("file", int(info.Size())); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(cancellable{ctx, file}, c.config.MaxWriteSize+1)) // it may have grown
	if err != nil {
		return nil, err
	}
	return text, c.mayWrite("file", len(text))
}

func adjustments(hunks []unified.Hunk) (list []adjustment) {
	for _, h := range hunks {
		if h.Offset != 0 || h.Fuzz != 0 || h.Recounted {
			list = append(list, adjustment{Fuzz: h.Fuzz, Hunk: h.Hunk, Line: h.Line, Offset: h.Offset, Recounted: h.Recounted})
		}
	}
	return list
}
