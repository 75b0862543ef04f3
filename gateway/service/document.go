package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/sync/errgroup"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

// unansweredTime is the time without an answer after which the service checks whether a
// worker runs and the disk has room. A slow worker may take longer.
const unansweredTime = 700 * time.Millisecond

// exportedText is the problem of a conversation that is shown as exported because the disk is
// full.
const exportedText = "no space is left on the disk; nothing that was recorded is lost. This is the conversation as it was exported last"

// Causes for abandoning a read.
var (
	errUnattended = Errorf(KindUnavailable, "no worker is answering")
	errFull       = NoSpace(nil)
)

// Document reads a conversation. While no worker answers or the server's disk is full, it
// returns the last export, with its time.
func (s *Service) Document(ctx context.Context, id string, part Part) (document.Conversation, error) {
	d, err := s.readUnlessUnattended(ctx, id, part)
	switch err = s.WithCause(ctx, err); {
	case IsKind(err, KindNoSpace):
		return s.exportedOnFullDisk(ctx, id, part, err)
	case !IsKind(err, KindUnavailable):
		return d, err
	}
	item, problem, failed := s.backend.Trouble(ctx, id)
	if failed == nil && problem != "" {
		return unreadable(item, problem), nil
	}
	if exported, ok := s.exported(ctx, id, part); ok && !IsKind(failed, contract.KindNotFound) {
		return exported, nil
	}
	return d, err
}

// readUnlessUnattended reads a conversation. If that takes long, it gives up when no worker
// runs or the disk is full.
func (s *Service) readUnlessUnattended(ctx context.Context, id string, part Part) (document.Conversation, error) {
	read, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	look := time.AfterFunc(unansweredTime, func() {
		switch {
		case s.disk.full(read):
			giveUp(errFull)
		case !s.attended(read):
			giveUp(errUnattended)
		}
	})
	defer look.Stop()
	d, err := s.readDocument(read, id, part)
	var cause *Error
	if err != nil && ctx.Err() == nil && errors.As(context.Cause(read), &cause) {
		err = &Error{Kind: cause.Kind, Text: cause.Text, Err: err}
	}
	return d, err
}

func (s *Service) readDocument(ctx context.Context, id string, part Part) (document.Conversation, error) {
	view, err := s.backend.Conversation(ctx, id, "")
	if err != nil {
		return document.Conversation{}, err
	}
	return s.Render(ctx, view, part)
}

// attended reports whether a worker may still answer.
func (s *Service) attended(ctx context.Context) bool {
	attended, err := s.backend.Attended(ctx)
	if err != nil && ctx.Err() == nil {
		s.logger.Warn("ask whether there is a worker", "error", err)
	}
	return attended || err != nil
}

// exportedOnFullDisk returns the export without further calls to the server, each of which
// would run into its timeout.
func (s *Service) exportedOnFullDisk(ctx context.Context, id string, part Part, err error) (document.Conversation, error) {
	d, ok := s.exported(ctx, id, part)
	if !ok {
		return d, err
	}
	d.Problem = exportedText
	return d, nil
}

// exported reads the exported file of a conversation, if there is one that the caller may see.
func (s *Service) exported(ctx context.Context, id string, part Part) (document.Conversation, bool) {
	if s.exports == nil {
		return document.Conversation{}, false
	}
	d, err := readExport(s.exports, contract.ConversationFile(id))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d, false
	case err != nil:
		s.logger.Error("an exported conversation cannot be read", "conversation", id, "error", err)
		return d, false
	case !s.mayShow(ctx, d.Owner):
		return document.Conversation{}, false
	case !part.Whole:
		d.Page(part.First)
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

const (
	maxReads = 8 // concurrent reads
	// MemberTimeout limits the reading of one conversation of a list.
	MemberTimeout = 5 * time.Second
)

// Documents reads the conversations of a page. Deleted ones are left out. One that cannot be
// read is included with its problem.
func (s *Service) Documents(ctx context.Context, items []Item) ([]document.Conversation, error) {
	found := make([]*document.Conversation, len(items))
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(maxReads)
	for i, item := range items {
		reads.Go(func() error {
			d, err := s.member(ctx, item)
			found[i] = d
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	out := []document.Conversation{}
	for _, d := range found {
		if d != nil {
			out = append(out, *d)
		}
	}
	return out, nil
}

// member reads a conversation of a list; nil means that it was deleted. It fails only when
// the request ends.
func (s *Service) member(ctx context.Context, item Item) (*document.Conversation, error) {
	read, cancel := context.WithTimeout(ctx, MemberTimeout)
	defer cancel()
	d, err := s.readDocument(read, item.ID, Part{Whole: true})
	switch {
	case err == nil:
		return &d, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case IsKind(err, contract.KindNotFound):
		return nil, nil
	}
	s.logger.Error("a conversation cannot be read", "conversation", item.ID, "error", err)
	return new(unreadable(item, Problem(err))), nil
}

// unreadable returns what can be shown of a conversation that cannot be read.
func unreadable(item Item, problem string) document.Conversation {
	return document.Conversation{
		ID: item.ID, SessionID: item.SessionID, Status: item.Status, Messages: []document.Message{}, Agent: item.AgentName,
		CreatedAt: item.CreatedAt, UpdatedAt: item.UpdatedAt, Problem: problem,
	}
}
