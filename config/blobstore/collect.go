package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"agent-stop-and-go/config/encryption"
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

// Collect puts values aside that no holder has marked and that were stored longer than grace
// before the oldest marks, and removes those that were put aside so long before. Marked values
// may refer to others, which are kept too.
//
// Others may store and read values meanwhile, also in other processes, and even collect. A value
// that is put aside in the moment in which it is stored again is not lost: whoever reads it puts it
// back, and so does the next collection.
func (s *Store) Collect(ctx context.Context, grace time.Duration, dry bool) (out deletion.Collected, err error) {
	marks, err := s.marked(ctx)
	if err != nil {
		return out, fmt.Errorf("find the values that are used: %w", err)
	}
	values, aside, err := s.listAll(ctx)
	if err == nil {
		out.Damaged, err = s.follow(ctx, marks.live, values, aside)
	}
	if err != nil {
		return out, err
	}
	before := marks.before.Add(-grace)
	out.Values, out.Late = len(values), marks.late
	for sum, v := range values {
		switch {
		case marks.live[sum]:
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
	return s.empty(ctx, values, aside, marks.live, before, dry, out)
}

// empty removes what was put aside long ago, and puts back what is used. What was put back stays
// aside for its time too, so that a collection that overlaps with the reading of a value cannot
// remove both.
func (s *Store) empty(ctx context.Context, values, aside map[string]stored, live map[string]bool, before time.Time, dry bool, out deletion.Collected) (deletion.Collected, error) {
	for sum, v := range aside {
		var err error
		switch {
		case live[sum] && !has(sum, values):
			out.Restored++
			if !dry {
				_, err = s.restore(ctx, sum)
			}
			if errors.Is(err, encryption.ErrUnreadable) { // it stays aside
				out.Restored, err = out.Restored-1, nil
			}
		case v.at.Before(before):
			if !has(sum, values) {
				out.Removed, out.RemovedBytes = out.Removed+1, out.RemovedBytes+v.size
			}
			if !dry {
				err = s.removeOld(ctx, asideFolder+keyOf(sum), before)
			}
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// listAll returns the values, and those that are put aside. One that is moved meanwhile is in one
// of the lists at least.
func (s *Store) listAll(ctx context.Context) (values, aside map[string]stored, err error) {
	if values, err = s.list(ctx, ""); err == nil {
		aside, err = s.list(ctx, asideFolder)
	}
	return values, aside, err
}

// has reports whether one of several lists has a value.
func has(sum string, lists ...map[string]stored) bool {
	return slices.ContainsFunc(lists, func(l map[string]stored) bool { _, ok := l[sum]; return ok })
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

// follow adds the values to which those in live refer. It returns those that cannot be decrypted any
// more: whatever they refer to, nobody gets at it through them.
func (s *Store) follow(ctx context.Context, live map[string]bool, stores ...map[string]stored) (damaged []string, err error) {
	var next []string
	trial := trial{}
	for sum := range live {
		next = append(next, sum)
	}
	for len(next) > 0 {
		sum := next[len(next)-1]
		next = next[:len(next)-1]
		if !has(sum, stores...) {
			continue
		}
		inside, err := s.sumsIn(ctx, sum, trial)
		switch {
		case errors.Is(err, encryption.ErrUnreadable):
			damaged = append(damaged, sum)
		case err != nil:
			return nil, err
		}
		for _, sum := range inside {
			if !live[sum] {
				live[sum] = true
				next = append(next, sum)
			}
		}
	}
	return damaged, trial.verdict()
}

// trial says of keys, by their IDs, whether they have decrypted a value.
type trial map[string]bool

// note notes the result for a stored value. One that is in clear is as long as what is stored.
func (t trial) note(stored, value []byte, err error) {
	id, sealed := encryption.KeyID(stored)
	if !sealed || id == "" || len(value) == len(stored) {
		return
	}
	if err == nil || errors.Is(err, encryption.ErrUnreadable) {
		t[id] = t[id] || err == nil
	}
}

// verdict fails for a key that has decrypted nothing. It may be another one with the ID of the right
// one: then no value is damaged, and what they refer to is not known.
func (t trial) verdict() error {
	for id, fits := range t {
		if !fits {
			return fmt.Errorf("the key %q decrypts no value that is encrypted with it: %w", id, encryption.ErrUnreadable)
		}
	}
	return nil
}

// sumsIn returns the sums in a value. Only JSON refers to others.
func (s *Store) sumsIn(ctx context.Context, sum string, keys trial) ([]string, error) {
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
	if _, err := io.ReadFull(r, first); err != nil || first[0] != '{' && first[0] != '[' && first[0] != 0 {
		return nil, nil // neither JSON nor encrypted
	}
	rest, err := io.ReadAll(r)
	var data []byte
	if err == nil {
		stored := append(first, rest...)
		data, err = s.open(sum, stored)
		keys.note(stored, data, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", sum, err)
	}
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return nil, nil
	}
	return sumPattern.FindAllString(string(data), -1), nil
}

// discard puts a value aside, unless it was stored again. It is on disk there before it is removed
// here.
func (s *Store) discard(ctx context.Context, sum string, before time.Time) error {
	attrs, err := s.bucket.Attributes(ctx, keyOf(sum))
	if gcerrors.Code(err) == gcerrors.NotFound || err == nil && !attrs.ModTime.Before(before) {
		return nil
	}
	var data []byte
	if err == nil {
		data, err = s.bucket.ReadAll(ctx, keyOf(sum))
	}
	if gcerrors.Code(err) == gcerrors.NotFound { // another collection was faster
		return nil
	}
	if err == nil {
		err = s.write(ctx, asideFolder+keyOf(sum), data, octets())
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
	var value []byte
	if err == nil {
		value, err = s.open(sum, data)
	}
	switch {
	case err == nil && contract.Hash(value) != sum:
		return nil, nil
	case err == nil:
		err = s.write(ctx, keyOf(sum), data, octets())
	}
	if err != nil {
		return nil, fmt.Errorf("put blob %s back: %w", sum, err)
	}
	return value, nil
}

// removeOld removes a file, unless it was written again.
func (s *Store) removeOld(ctx context.Context, key string, before time.Time) error {
	attrs, err := s.bucket.Attributes(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound || err == nil && !attrs.ModTime.Before(before) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.remove(ctx, key)
}

func (s *Store) remove(ctx context.Context, key string) error {
	if err := s.bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return err
	}
	return nil
}

func keyOf(sum string) string { return sum[:2] + "/" + sum[2:] }
