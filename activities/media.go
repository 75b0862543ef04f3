package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/transcript"
)

// How many images a model is shown, and how large ones, in bytes. Providers count
// the bytes as base64, which has a third more: the strictest takes 5 MiB for one
// image and 20 MB for a request, and small images only when there are many.
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

// images reads what the model is shown of the media in messages: images, the
// newest ones while there is room. Of all others it knows what the texts say.
func (m *Models) images(ctx context.Context, model string, messages []contract.Message) (map[string][]llm.Media, error) {
	if !m.facts(model).Images {
		return nil, nil
	}
	a := album{store: m.Blobs, room: maxImageBytes, images: map[string][]llm.Media{}}
	for _, message := range slices.Backward(messages) {
		if message.Role != contract.RoleTool || message.ToolCall == nil {
			continue
		}
		for _, media := range slices.Backward(message.ToolCall.Media) {
			if err := a.add(ctx, message.ID, media); err != nil || a.full {
				return a.images, err
			}
		}
	}
	return a.images, nil
}

// album fills with images, the newest first.
type album struct {
	store  transcript.Store
	images map[string][]llm.Media // by message, the oldest first
	count  int
	room   int64
	full   bool
}

func (a *album) add(ctx context.Context, message string, media contract.Media) error {
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
		a.images[message] = slices.Insert(a.images[message], 0, image)
		a.count, a.room = a.count+1, a.room-media.Size
	}
	return nil
}
