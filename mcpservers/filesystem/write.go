package filesystem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

const (
	modeOverwrite  = "overwrite"
	modeAppend     = "append"
	modeCreateOnly = "create_only"
)

var writeModes = []string{modeOverwrite, modeAppend, modeCreateOnly}

type writeResult struct {
	Mode string `json:"mode"`
	Path string `json:"path"`
	Size int    `json:"size"` // bytes written by this call
}

func writeFile(ctx context.Context, c call) (any, error) {
	at, err := c.writableLocation("root", "path")
	if err != nil {
		return nil, err
	}
	if !c.args.Has("content") {
		return nil, errors.New("content is required")
	}
	text, err := c.args.Text("content", "")
	if err != nil {
		return nil, err
	}
	mode, err := c.args.Text("mode", modeOverwrite)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(writeModes, mode) {
		return nil, fmt.Errorf("invalid write mode: %s; valid modes: %s", mode, strings.Join(writeModes, ", "))
	}
	if err := c.mayWrite("content", len(text)); err != nil {
		return nil, err
	}
	release, err := c.locks.acquire(ctx, at.hostPath())
	if err != nil {
		return nil, err
	}
	defer release()
	if err := at.write(mode, text); err != nil {
		return nil, describe(err, "path is not a directory", at.given)
	}
	return writeResult{Mode: mode, Path: at.given, Size: len(text)}, nil
}

func (c call) mayWrite(what string, size int) error {
	if int64(size) > c.config.MaxWriteSize {
		return fmt.Errorf("%s too large (size: %s, limit: %s)", what, sizeText(int64(size)), sizeText(c.config.MaxWriteSize))
	}
	return nil
}

func (l location) write(mode, text string) error {
	switch mode {
	case modeAppend:
		return l.append(text)
	case modeCreateOnly:
		return l.create(text)
	}
	return l.root.replace(l.rel, newFileMode, true, textWriter(text))
}

func textWriter(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

// append adds to the end in one write, so that concurrent appends of others remain complete. If
// another process creates the file at the same moment, the text is appended to that file.
func (l location) append(text string) error {
	for range 10 {
		file, info, err := l.root.openFile(l.rel, os.O_WRONLY|os.O_APPEND)
		if err == nil {
			return appendTo(file, info.Size(), text)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err = l.root.create(l.rel, textWriter(text)); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return syscall.EBUSY // the file is created and removed repeatedly
}

// appendTo appends all of text. If the write is incomplete it is undone, unless another process
// has appended meanwhile.
func appendTo(file *os.File, size int64, text string) error {
	n, err := file.WriteString(text)
	if err == nil {
		err = file.Sync()
	} else if info, problem := file.Stat(); n > 0 && problem == nil && info.Size() == size+int64(n) {
		err = errors.Join(err, file.Truncate(size))
	}
	return errors.Join(err, file.Close())
}

// create checks first whether the file exists, because opening it may not be permitted.
func (l location) create(text string) error {
	info, err := l.root.dir.Lstat(l.rel)
	if isMissing(err) {
		if err = l.root.create(l.rel, textWriter(text)); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err == nil && info.IsDir() {
		return errFolder
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return fmt.Errorf("file already exists: %s; use overwrite mode to replace", l.given)
}
