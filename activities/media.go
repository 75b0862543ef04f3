package activities

import (
	"context"
	"fmt"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
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
