package auditing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
)

// Files keep texts, encrypted where values are.
type Files interface {
	// CreateSealed fails with fs.ErrExist if there is a file of the name, ReadSealed with
	// fs.ErrNotExist if there is none.
	CreateSealed(ctx context.Context, name string, data []byte) error
	ReadSealed(ctx context.Context, name string) ([]byte, error)
	// Remove removes all files whose names begin with a prefix.
	Remove(ctx context.Context, prefix string) error
}

// texts is the folder of the texts of a conversation.
func texts(conversation string) string {
	return "texts/" + contract.Hash([]byte(conversation))[:40] + "/"
}

func textName(l audit.Leaf) string {
	return texts(l.Conversation) + contract.Hash([]byte(l.ID))[:40]
}

// ReadText returns the text of a leaf; the error is fs.ErrNotExist if it was erased.
func ReadText(ctx context.Context, f Files, l audit.Leaf) (t audit.Text, err error) {
	data, err := f.ReadSealed(ctx, textName(l))
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(data, &t); err != nil {
		return t, fmt.Errorf("read the text of %s: %w", l.ID, err)
	}
	return t, nil
}

// keepText keeps the text of a leaf, unless it has one, and completes the leaf.
func keepText(ctx context.Context, f Files, l *audit.Leaf, content any) error {
	t, err := audit.NewText(l.ID, content)
	if err != nil {
		return err
	}
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	err = f.CreateSealed(ctx, textName(*l), data)
	if errors.Is(err, fs.ErrExist) { // an attempt before this one
		t, err = ReadText(ctx, f, *l)
	}
	if err != nil {
		return fmt.Errorf("keep the text of %s: %w", l.ID, err)
	}
	l.Text = t.Sum()
	return nil
}
