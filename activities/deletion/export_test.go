package deletion

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
)

// SumsIn returns what looks like the sum of a value in a message.
func SumsIn(ctx context.Context, m proto.Message) ([]string, error) {
	s := sums{}
	err := s.addMessage(ctx, m)
	return slices.Sorted(maps.Keys(s)), err
}

// FolderName returns the name of a folder of conversation files.
func FolderName(dir string) (string, error) { return folderName(dir) }
