package document

import (
	"context"
	"encoding/json"
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// PageSize is how many bytes of messages a page has at most, unless a single one has more.
const PageSize = 256 << 10

// sized is a message of the document with its size there in bytes.
type sized struct {
	Message
	size int
}

// RenderPage is Render with the newest of the first messages, as many as the number says, or of
// all for a number that is not positive. MessagesBefore is the number for the page in front of it.
func RenderPage(ctx context.Context, store transcript.Store, v contract.ConversationView, first int) (Conversation, error) {
	d := outline(v)
	size := 0
	for part, err := range pages(ctx, store).Backward(ctx, store, v.Transcript) {
		if err != nil {
			whole, err := Render(ctx, store, v) // its messages say what is lost
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

// finishPage puts messages that were added newest first in order, and adds what waits.
func (d Conversation) finishPage(ctx context.Context, store transcript.Store, v contract.ConversationView) (Conversation, error) {
	slices.Reverse(d.Messages)
	return d, d.pause(ctx, store, v)
}

// pages are the messages of a transcript's parts as the document has them.
func pages(ctx context.Context, store transcript.Store) transcript.Projection[[]sized] {
	return transcript.Projection[[]sized]{Kind: "page", Of: func(messages []contract.Message) (out []sized, size int, err error) {
		for _, m := range messages {
			r, err := readable(ctx, store, m)
			if err != nil {
				return nil, 0, err
			}
			n := sizeOf(r)
			out, size = append(out, sized{r, n}), size+n
		}
		return out, 2 * size, nil
	}}
}

// Page leaves of a whole document what RenderPage has of it.
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

// sizeOf is how many bytes a message has in the document.
func sizeOf(m Message) int {
	data, err := json.Marshal(m)
	if err != nil { // what was read can be encoded
		return 0
	}
	return len(data)
}
