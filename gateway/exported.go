package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

// unansweredTime is after how long it is asked whether there is a worker at all, and a disk
// with room. A slow worker has longer.
const unansweredTime = 700 * time.Millisecond

// Why a reading is given up.
var (
	errUnattended = service.Errorf(service.KindUnavailable, "no worker is answering")
	errFull       = service.NoSpace(nil)
)

// present reads a conversation. While no worker is there to tell, or the server's disk is
// full, it is what was exported last, with its time.
func (g *Gateway) present(ctx context.Context, id string) (document.Conversation, error) {
	read, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	look := time.AfterFunc(unansweredTime, func() {
		switch {
		case g.full(read):
			giveUp(errFull)
		case !g.attended(read):
			giveUp(errUnattended)
		}
	})
	defer look.Stop()
	d, err := g.whole(read, id)
	var cause *service.Error
	if err != nil && ctx.Err() == nil && errors.As(context.Cause(read), &cause) {
		err = &service.Error{Kind: cause.Kind, Text: cause.Text, Err: err}
	}
	switch err = g.withCause(ctx, err); {
	case service.IsKind(err, service.KindNoSpace):
		return g.exportedOnFullDisk(id, err)
	case !service.IsKind(err, service.KindUnavailable):
		return d, err
	}
	item, problem, failed := g.Backend.Trouble(ctx, id)
	if failed == nil && problem != "" {
		return troubled(item, problem), nil
	}
	if exported, ok := g.exported(id); ok && !service.IsKind(failed, contract.KindNotFound) {
		return exported, nil
	}
	return d, err
}

// exportedOnFullDisk asks the server nothing more: each question takes its whole time.
func (g *Gateway) exportedOnFullDisk(id string, err error) (document.Conversation, error) {
	d, ok := g.exported(id)
	if !ok {
		return d, err
	}
	d.Problem = exportedText
	return d, nil
}

// attended reports whether a worker may still answer.
func (g *Gateway) attended(ctx context.Context) bool {
	attended, err := g.Backend.Attended(ctx)
	if err != nil && ctx.Err() == nil {
		g.Logger.Warn("ask whether there is a worker", "error", err)
	}
	return attended || err != nil
}

// exported reads the file of a conversation, if there is one.
func (g *Gateway) exported(id string) (document.Conversation, bool) {
	if g.Exports == nil {
		return document.Conversation{}, false
	}
	d, err := readExport(g.Exports, contract.ConversationFile(id))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d, false
	case err != nil:
		g.Logger.Error("an exported conversation cannot be read", "conversation", id, "error", err)
		return d, false
	}
	return d, true
}

func readExport(files fs.FS, name string) (d document.Conversation, err error) {
	file, err := files.Open(name)
	if err != nil {
		return d, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return d, err
	}
	if err := json.NewDecoder(file).Decode(&d); err != nil {
		return d, fmt.Errorf("decode %s: %w", name, err)
	}
	d.AsOf = info.ModTime().UTC()
	return d, nil
}
