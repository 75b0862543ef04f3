package filesystem

import (
	"context"
	"fmt"
)

type createResult struct {
	Created bool   `json:"created"` // also true if it existed
	Path    string `json:"path"`
}

func createFolder(_ context.Context, c call) (any, error) {
	at, err := c.writableLocation("root", "path")
	if err != nil {
		return nil, err
	}
	if err := at.root.dir.MkdirAll(at.rel, newFolderMode); err != nil {
		info, problem := at.root.dir.Lstat(at.rel)
		switch {
		case problem != nil:
			return nil, describe(err, "path exists as a file", at.given)
		case !info.IsDir():
			return nil, fmt.Errorf("path exists as a file: %s", at.given)
		}
	}
	return createResult{Created: true, Path: at.given}, nil
}
