package document

import (
	"context"
	"encoding/json"
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// PageSize bounds the bytes of messages in a page, unless a single one has more.
const PageSize = 256 << 10

// sized is a message of the document with its size there in bytes.
type sized struct {
	Message
	size int
}

// RenderPage is Render with one page: the newest of the first messages, or of all if first is
// not positive. MessagesBefore is first for the page before it.
func RenderPage(ctx context.Context, store transcript.Store, v contract.ConversationView, first int) (Conversation, error) {
	d := emptyDocument(v)
	size := 0
	for part, err := range pages(ctx, store).Backward(ctx, store, v.Transcript) {
		if err != nil {
			whole, err := Render(ctx, store, v) // its messages show which are lost
			whole.Page(first)
			return whole, err
		}
		for n, m := range slices.Backward(part.Value) {
			before := part.Before + n
			if first > 0 && before >= first {
				continue
			}
			if size += m.size; size > PageSize && len(d.Messages) > 0 {
				return d.finishPage(ctx, store, v)
			}
			d.Messages, d.MessagesBefore = append(d.Messages, m.Message), before
		}
	}
	return d.finishPage(ctx, store, v)
}

// finishPage reverses messages that were added newest first, and adds the pending approvals.
func (d Conversation) finishPage(ctx context.Context, store transcript.Store, v contract.ConversationView) (Conversation, error) {
	slices.Reverse(d.Messages)
	err := d.addPending(ctx, store, v)
	d.dropPreface()
	return d, err
}

// pages computes the document's messages of a transcript's parts.
func pages(ctx context.Context, store transcript.Store) transcript.Projection[[]sized] {
	return transcript.Projection[[]sized]{Kind: "page", Of: func(messages []contract.Message) (out []sized, size int, err error) {
		for _, m := range messages {
			r, err := renderMessage(ctx, store, m)
			if err != nil {
				return nil, 0, err
			}
			n := sizeOf(r)
			out, size = append(out, sized{r, n}), size+n
		}
		return out, 2 * size, nil
	}}
}

// Page reduces a whole document to the page that RenderPage returns.
func (d *Conversation) Page(first int) {
	end := len(d.Messages)
	if first > 0 {
		end = min(first, end)
	}
	start, size := end, 0
	for ; start > 0; start-- {
		if size += sizeOf(d.Messages[start-1]); size > PageSize && start < end {
			break
		}
	}
	d.Messages, d.MessagesBefore = d.Messages[start:end], start
}

// sizeOf returns the number of bytes of a message in the document.
func sizeOf(m Message) int {
	data, err := json.Marshal(m)
	if err != nil { // a loaded message can be encoded
		return 0
	}
	return len(data)
}
