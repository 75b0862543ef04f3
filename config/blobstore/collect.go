package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

const (
	// asideFolder has the values that were put aside. Get puts one back that is asked for.
	asideFolder = "aside/"
	// refreshAge is the age at which Put writes a value again that is there: its age says when it
	// was stored last.
	refreshAge = deletion.Grace / 4
)

// stored is a value in the bucket.
type stored struct {
	size int64
	at   time.Time // stored last
}

// Collect puts values aside that nothing uses and that were stored longer than grace ago, and
// removes those that were put aside so long ago. used returns the sums in everything outside the
// store that may refer to values; values that are used may refer to others.
//
// Others may store and read values meanwhile, also in other processes. A value that is put aside
// in the moment in which it is stored again is not lost: whoever reads it puts it back, and so
// does the next collection.
func (s *Store) Collect(ctx context.Context, grace time.Duration, dry bool, used func(context.Context) (map[string]bool, error)) (out deletion.Collected, err error) {
	values, err := s.list(ctx, "")
	if err != nil {
		return out, err
	}
	aside, err := s.list(ctx, asideFolder)
	if err != nil {
		return out, err
	}
	live, err := used(ctx) // after the lists: what was stored before them and is referred to since is found
	if err != nil {
		return out, fmt.Errorf("find the values that are used: %w", err)
	}
	if err := s.follow(ctx, live, values, aside); err != nil {
		return out, err
	}
	before := s.now().Add(-grace)
	out.Values = len(values)
	for sum, v := range values {
		switch {
		case live[sum]:
			out.Used++
		case !v.at.Before(before):
			out.Young++
		default:
			out.Discarded, out.DiscardedBytes = out.Discarded+1, out.DiscardedBytes+v.size
			if !dry {
				err = s.discard(ctx, sum, before)
			}
		}
		if err != nil {
			return out, err
		}
	}
	return s.empty(ctx, aside, live, before, dry, out)
}

// empty removes what was put aside long ago, and puts back what is used.
func (s *Store) empty(ctx context.Context, aside map[string]stored, live map[string]bool, before time.Time, dry bool, out deletion.Collected) (deletion.Collected, error) {
	for sum, v := range aside {
		var err error
		switch {
		case live[sum]:
			out.Restored++
			if !dry {
				_, err = s.restore(ctx, sum)
			}
		case v.at.Before(before):
			out.Removed, out.RemovedBytes = out.Removed+1, out.RemovedBytes+v.size
			if !dry {
				err = s.remove(ctx, asideFolder+keyOf(sum))
			}
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

var valueKey = regexp.MustCompile(`^([0-9a-f]{2})/([0-9a-f]{62})$`)

// list returns the values below a prefix, by their sums.
func (s *Store) list(ctx context.Context, prefix string) (map[string]stored, error) {
	out := map[string]stored{}
	for first := range 256 {
		if err := s.listFolder(ctx, prefix, fmt.Sprintf("%02x/", first), out); err != nil {
			return nil, fmt.Errorf("list the stored values: %w", err)
		}
	}
	return out, nil
}

// listAttempts is how often a folder is listed: that fails if a file is renamed or removed
// meanwhile.
const listAttempts = 100

func (s *Store) listFolder(ctx context.Context, prefix, folder string, into map[string]stored) error {
	objects, failed := s.bucket.List(&blob.ListOptions{Prefix: prefix + folder}), 0
	for {
		o, err := objects.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case gcerrors.Code(err) == gcerrors.NotFound && failed < listAttempts:
			failed++
			objects = s.bucket.List(&blob.ListOptions{Prefix: prefix + folder})
			continue
		case err != nil:
			return err
		}
		if m := valueKey.FindStringSubmatch(strings.TrimPrefix(o.Key, prefix)); m != nil {
			into[m[1]+m[2]] = stored{o.Size, o.ModTime}
		}
	}
}

var sumPattern = regexp.MustCompile(`[0-9a-f]{64}`)

// follow adds the values to which those in live refer.
func (s *Store) follow(ctx context.Context, live map[string]bool, stores ...map[string]stored) error {
	var next []string
	for sum := range live {
		next = append(next, sum)
	}
	for len(next) > 0 {
		sum := next[len(next)-1]
		next = next[:len(next)-1]
		there := false
		for _, values := range stores {
			_, has := values[sum]
			there = there || has
		}
		if !there {
			continue
		}
		inside, err := s.sumsIn(ctx, sum)
		if err != nil {
			return err
		}
		for _, sum := range inside {
			if !live[sum] {
				live[sum] = true
				next = append(next, sum)
			}
		}
	}
	return nil
}

// sumsIn returns the sums in a value. Only JSON refers to others.
func (s *Store) sumsIn(ctx context.Context, sum string) ([]string, error) {
	var r *blob.Reader
	var err error
	for _, folder := range []string{"", asideFolder, ""} { // it may be put aside, and back, at any time
		if r, err = s.bucket.NewReader(ctx, folder+keyOf(sum), nil); gcerrors.Code(err) != gcerrors.NotFound {
			break
		}
	}
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", sum, err)
	}
	defer r.Close()
	first := make([]byte, 1)
	if _, err := io.ReadFull(r, first); err != nil || first[0] != '{' && first[0] != '[' {
		return nil, nil
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", sum, err)
	}
	return sumPattern.FindAllString(string(data), -1), nil
}

// discard puts a value aside, unless it was stored again.
func (s *Store) discard(ctx context.Context, sum string, before time.Time) error {
	attrs, err := s.bucket.Attributes(ctx, keyOf(sum))
	if gcerrors.Code(err) == gcerrors.NotFound || err == nil && !attrs.ModTime.Before(before) {
		return nil
	}
	if err == nil {
		err = s.bucket.Copy(ctx, asideFolder+keyOf(sum), keyOf(sum), nil)
	}
	if err == nil {
		err = s.remove(ctx, keyOf(sum))
	}
	if err != nil {
		return fmt.Errorf("put blob %s aside: %w", sum, err)
	}
	return nil
}

// restore puts a value back that was put aside, and returns it, or nil if it is not there.
func (s *Store) restore(ctx context.Context, sum string) ([]byte, error) {
	data, err := s.bucket.ReadAll(ctx, asideFolder+keyOf(sum))
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, nil
	}
	if err == nil && contract.Hash(data) == sum {
		if err = s.write(ctx, keyOf(sum), data, octets()); err == nil {
			return data, s.remove(ctx, asideFolder+keyOf(sum))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("put blob %s back: %w", sum, err)
	}
	return nil, nil
}

func (s *Store) remove(ctx context.Context, key string) error {
	if err := s.bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return err
	}
	return nil
}

func keyOf(sum string) string { return sum[:2] + "/" + sum[2:] }
