package blobstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"agent-stop-and-go/workflows/contract/deletion"
)

// marksFolder has a file of marks for each holder.
const marksFolder = "marks/"

// Mark replaces the marks of a holder. It keeps the sums of values only: the holder has found
// other texts that look like one.
func (s *Store) Mark(ctx context.Context, m deletion.Marks) error {
	values, aside, err := s.listAll(ctx)
	if err != nil {
		return err
	}
	m.Sums = slices.DeleteFunc(m.Sums, func(sum string) bool { return !has(sum, values, aside) })
	data, err := json.Marshal(m)
	if err == nil {
		err = s.write(ctx, marksFolder+m.Holder+".json", data, &blob.WriterOptions{ContentType: "application/json"})
	}
	if err != nil {
		return fmt.Errorf("write the marks of %s: %w", m.AgentName, err)
	}
	return nil
}

// marked is what all holders have marked, before a time.
type marked struct {
	live   map[string]bool
	before time.Time // the oldest marks began
	late   []deletion.Late
}

// lateAfter is the age of marks at which a collection reports their holder.
const lateAfter = 2 * deletion.Grace

func (s *Store) marked(ctx context.Context) (marked, error) {
	out := marked{live: map[string]bool{}, before: s.now()}
	files := s.bucket.List(&blob.ListOptions{Prefix: marksFolder})
	for holders := 0; ; holders++ {
		file, err := files.Next(ctx)
		switch {
		case errors.Is(err, io.EOF) && holders == 0:
			return out, errors.New("nobody has marked the values that are in use")
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return out, fmt.Errorf("list the marks: %w", err)
		}
		if strings.HasSuffix(file.Key, ".json") {
			err = s.addMarks(ctx, file.Key, &out)
		}
		if err != nil {
			return out, err
		}
	}
}

func (s *Store) addMarks(ctx context.Context, key string, to *marked) error {
	var m deletion.Marks
	data, err := s.bucket.ReadAll(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound { // somebody has decided that the holder is gone
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return fmt.Errorf("read the marks in %s: %w", key, err)
	}
	for _, sum := range m.Sums {
		to.live[sum] = true
	}
	if m.Began.Before(to.before) {
		to.before = m.Began
	}
	if s.now().Sub(m.Began) > lateAfter {
		to.late = append(to.late, deletion.Late{File: key, AgentName: m.AgentName, Began: m.Began})
	}
	return nil
}
