package service

import (
	"context"
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// Media returns a file that a message of the conversation refers to, with its bytes. Files of
// other conversations are not found.
func (s *Service) Media(ctx context.Context, id, sum string) (contract.Media, []byte, error) {
	found, err := s.findMedia(ctx, id, sum)
	if err != nil {
		return contract.Media{}, nil, err
	}
	data, err := s.blobs.Get(ctx, found.Blob)
	return found, data, err
}

func (s *Service) findMedia(ctx context.Context, id, sum string) (contract.Media, error) {
	if !(contract.Blob{SHA256: sum}).Valid() {
		return contract.Media{}, noMedia(sum)
	}
	view, err := s.backend.Conversation(ctx, id, "")
	if err != nil {
		return contract.Media{}, err
	}
	messages, err := transcript.Load(ctx, s.blobs, view.Transcript)
	if err != nil {
		return contract.Media{}, err
	}
	for _, m := range messages {
		media := m.Media
		if m.ToolCall != nil {
			media = m.ToolCall.Media
		}
		if i := slices.IndexFunc(media, func(f contract.Media) bool { return f.SHA256 == sum }); i >= 0 {
			return media[i], nil
		}
	}
	return contract.Media{}, noMedia(sum)
}

func noMedia(sum string) *Error {
	return Errorf(contract.KindNotFound, "media not found: %s", Printable(sum))
}
