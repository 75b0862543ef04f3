package activities

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// Limits of the images that a model is shown, in bytes. Providers count bytes of base64, which
// is a third more: the strictest accepts 5 MiB for one image and 20 MB for a request, and only
// small images if there are many.
const (
	maxImage      = 15 << 18
	maxImageBytes = 12 << 20
	maxImages     = 20
)

// keep stores the media of a result.
func keep(ctx context.Context, store transcript.Store, media []toolbox.Media) ([]contract.Media, error) {
	var out []contract.Media
	for _, m := range media {
		b, err := store.Put(ctx, m.Data)
		if err != nil {
			return nil, fmt.Errorf("store a value of %d bytes: %w", len(m.Data), err)
		}
		b.Preview = ""
		out = append(out, contract.Media{Blob: b, MIMEType: m.MIMEType, Name: m.Name})
	}
	return out, nil
}

// addImages adds images from the messages to a request, the newest first while there is room.
// Other files of users are mentioned in their texts; tools describe their results themselves. It
// changes the slice of messages, which therefore must not be shared.
func (m *Models) addImages(ctx context.Context, r *llm.Request) error {
	a := imageLoader{store: m.Blobs, room: maxImageBytes, seen: map[imagePlace]bool{}}
	if m.facts(r.Model).Images {
		a.images = map[string][]llm.Media{}
		if err := a.fill(ctx, r.Messages); err != nil {
			return err
		}
	}
	r.Media = a.images
	for i, message := range r.Messages {
		for n, media := range message.Media {
			if !a.seen[imagePlace{message.ID, n}] {
				r.Messages[i].Content = withFileName(r.Messages[i].Content, media.Name, media.MIMEType, media.Size)
			}
		}
	}
	return nil
}

// withoutImages returns a request without images. The texts mention the files that users sent.
func withoutImages(r llm.Request) llm.Request {
	r.Messages = slices.Clone(r.Messages)
	for i, message := range r.Messages {
		if message.Role != contract.RoleUser {
			continue
		}
		for _, image := range r.Media[message.ID] {
			r.Messages[i].Content = withFileName(r.Messages[i].Content, image.Name, image.MIMEType, int64(len(image.Data)))
		}
	}
	r.Media = nil
	return r
}

// withFileName returns a text that mentions a file that the model does not see.
func withFileName(text contract.Text, name, mimeType string, size int64) contract.Text {
	what := strings.Join(strings.Fields(name), " ")
	if what != "" {
		what += ", "
	}
	line := fmt.Sprintf("[file %s%s, %d bytes: cannot be read by the model]", what, cmp.Or(mimeType, "of no known type"), size)
	return contract.Inline(strings.TrimSpace(text.Inline + "\n\n" + line))
}

// imageLoader loads images, the newest first.
type imageLoader struct {
	store  transcript.Store
	images map[string][]llm.Media // by message, the oldest first
	seen   map[imagePlace]bool
	count  int
	room   int64
	full   bool
}

// imagePlace identifies one of the media of a message.
type imagePlace struct {
	message string
	index   int
}

func (a *imageLoader) fill(ctx context.Context, messages []contract.Message) error {
	for _, message := range slices.Backward(messages) {
		media := message.Media
		if message.Role == contract.RoleTool && message.ToolCall != nil {
			media = message.ToolCall.Media
		}
		for i, one := range slices.Backward(media) {
			if err := a.add(ctx, imagePlace{message.ID, i}, one); err != nil || a.full {
				return err
			}
		}
	}
	return nil
}

func (a *imageLoader) add(ctx context.Context, at imagePlace, media contract.Media) error {
	if !strings.HasPrefix(media.MIMEType, "image/") || media.Size > maxImage {
		return nil
	}
	if a.full = a.count == maxImages || media.Size > a.room; a.full {
		return nil
	}
	data, err := a.store.Get(ctx, media.Blob)
	if err != nil {
		return fmt.Errorf("read a value of %d bytes: %w", media.Size, err)
	}
	if kind := llm.ImageType(data); kind != "" {
		image := llm.Media{MIMEType: kind, Name: media.Name, Data: data}
		a.images[at.message] = slices.Insert(a.images[at.message], 0, image)
		a.seen[at] = true
		a.count, a.room = a.count+1, a.room-media.Size
	}
	return nil
}
