package attachment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modality"
	"agent-stop-and-go/workflows/record/transcript"
)

// Limits of the files that a model is shown, in bytes. Providers count bytes of base64, which
// is a third more: the strictest accepts 5 MiB for one image and 20 MB for a request, and only
// small images if there are many. A PDF may take all the room.
const (
	maxImage = 15 << 18
	maxBytes = 12 << 20
	maxFiles = 20
)

// Add adds files from the messages to a request, the newest first while there is room. It changes
// the slice of messages, which therefore must not be shared.
func Add(ctx context.Context, store transcript.Store, takes modality.Set, r *llm.Request) error {
	l := loader{store: store, takes: takes, room: maxBytes, seen: map[place]bool{}}
	if takes != (modality.Set{}) {
		l.files = map[string][]llm.Media{}
		if err := l.fill(ctx, r.Messages); err != nil {
			return err
		}
	}
	r.Media = l.files
	for i, message := range r.Messages {
		for n, media := range message.Media {
			if !l.seen[place{message.ID, n}] {
				r.Messages[i].Content = mention(r.Messages[i].Content, media.Name, media.MIMEType, media.Size)
			}
		}
	}
	return nil
}

// Remove returns a request without files. The texts mention those that users sent.
func Remove(r llm.Request) llm.Request {
	r.Messages = slices.Clone(r.Messages)
	for i, message := range r.Messages {
		if message.Role != contract.RoleUser {
			continue
		}
		for _, f := range r.Media[message.ID] {
			r.Messages[i].Content = mention(r.Messages[i].Content, f.Name, f.MIMEType, int64(len(f.Data)))
		}
	}
	r.Media = nil
	return r
}

// mention returns a text that mentions a file that the model does not see.
func mention(text contract.Text, name, mimeType string, size int64) contract.Text {
	what := strings.Join(strings.Fields(name), " ")
	if what != "" {
		what += ", "
	}
	line := fmt.Sprintf("[file %s%s, %d bytes: cannot be read by the model]", what, cmp.Or(mimeType, "of no known type"), size)
	return contract.Inline(strings.TrimSpace(text.Inline + "\n\n" + line))
}

// loader loads files, the newest first.
type loader struct {
	store transcript.Store
	takes modality.Set
	files map[string][]llm.Media // by message, the oldest first
	seen  map[place]bool
	count int
	room  int64
	full  bool
}

// place identifies one of the media of a message.
type place struct {
	message string
	index   int
}

func (l *loader) fill(ctx context.Context, messages []contract.Message) error {
	for _, message := range slices.Backward(messages) {
		media, takes := message.Media, l.takes
		if message.Role == contract.RoleTool && message.ToolCall != nil {
			media, takes.PDF = message.ToolCall.Media, false
		}
		for i, one := range slices.Backward(media) {
			if !fits(one, takes) {
				continue
			}
			if err := l.add(ctx, place{message.ID, i}, one, takes); err != nil || l.full {
				return err
			}
		}
	}
	return nil
}

// fits reports whether a file may be one that a model takes, by what is said of it.
func fits(m contract.Media, takes modality.Set) bool {
	if m.MIMEType == modality.PDF {
		return takes.PDF
	}
	return takes.Images && strings.HasPrefix(m.MIMEType, "image/") && m.Size <= maxImage
}

func (l *loader) add(ctx context.Context, at place, media contract.Media, takes modality.Set) error {
	if l.full = l.count == maxFiles || media.Size > l.room; l.full {
		return nil
	}
	data, err := l.store.Get(ctx, media.Blob)
	if err != nil {
		return fmt.Errorf("read a value of %d bytes: %w", media.Size, err)
	}
	f := llm.Media{MIMEType: llm.FileType(data), Name: media.Name, Data: data}
	if !f.In(takes) {
		return nil
	}
	l.files[at.message] = slices.Insert(l.files[at.message], 0, f)
	l.seen[at] = true
	l.count, l.room = l.count+1, l.room-media.Size
	return nil
}
