package prompt

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/prompt/sections"
)

// Update is a change of a section.
type Update struct {
	Section   string             `json:"section" jsonschema:"name or number of a section without sections"`
	Operation sections.Operation `json:"operation" jsonschema:"append or prepend the content; replace the first occurrence of the target by it; delete all lines that contain the target; overwrite the section with the content"`
	Content   string             `json:"content,omitempty" jsonschema:"text to write; not with delete"`
	Target    string             `json:"target,omitempty" jsonschema:"exact text to replace or delete"`
	Base      string             `json:"base" jsonschema:"base of the section, as read_prompt gives it"`
	Why       string             `json:"why,omitempty" jsonschema:"reason, for the history"`
}

// Revert makes the prompt as it was in a version.
type Revert struct {
	Version int    `json:"version" jsonschema:"version to restore, as prompt_history gives it"`
	Base    string `json:"base" jsonschema:"base of the whole prompt, as read_prompt gives it"`
	Why     string `json:"why,omitempty" jsonschema:"reason, for the history"`
}

// Author is who makes a change, and the key of the call.
type Author struct {
	By  string
	Key hosting.CallKey
}

// Change is what a change has made, or would make.
type Change struct {
	Version int    `json:"version" jsonschema:"number of the new version"`
	Base    string `json:"base" jsonschema:"new base of the section, or of the whole prompt"`
	Diff    string `json:"diff" jsonschema:"what has changed, as a unified diff"`
}

// maxWhy bounds a reason, in bytes.
const maxWhy = 2000

// Update changes a section.
func (s *Store) Update(ctx context.Context, u Update, a Author) (out Change, err error) {
	return s.change(ctx, "update_prompt", a, func(now State) (Version, error) { return s.updated(now, u) })
}

// Revert restores a version as a new one.
func (s *Store) Revert(ctx context.Context, r Revert, a Author) (Change, error) {
	return s.change(ctx, "revert_prompt", a, func(now State) (Version, error) { return s.reverted(now, r) })
}

// change makes the version that next returns, unless the call has made it before.
func (s *Store) change(ctx context.Context, tool string, a Author, next func(State) (Version, error)) (out Change, err error) {
	err = s.locked(ctx, func(now State) error {
		before, after, err := s.repeated(tool, a.Key)
		if err != nil {
			return err
		}
		if after.Number == 0 {
			before = now.Version
			if after, err = next(now); err != nil {
				return err
			}
			after.By, after.Key, after.ArgsHash = a.By, keyOf(tool, a.Key), a.Key.ArgsSHA256
			if after, err = s.record(before, after); err != nil {
				return err
			}
		}
		out, err = changeOf(before, after)
		return err
	})
	return out, err
}

func keyOf(tool string, key hosting.CallKey) string {
	if key.Key == "" {
		return ""
	}
	return tool + " " + key.Key
}

// repeated returns the version that a call with the key has made, and the one before it.
func (s *Store) repeated(tool string, key hosting.CallKey) (before, made Version, err error) {
	if key.Key == "" {
		return before, made, nil
	}
	numbers, _, err := s.versions.list()
	if err != nil {
		return before, made, err
	}
	for i, n := range slices.Backward(numbers) {
		used, args, err := s.versions.key(n)
		switch {
		case err != nil:
			return before, made, err
		case used != keyOf(tool, key):
			continue
		case args != key.ArgsSHA256:
			return before, made, hosting.ErrKeyReused
		}
		if made, err = s.versions.read(n); err == nil && i > 0 {
			before, err = s.versions.read(numbers[i-1])
		}
		return before, made, err
	}
	return before, made, nil
}

func (s *Store) updated(now State, u Update) (Version, error) {
	e, err := now.Find(u.Section)
	switch {
	case err != nil:
		return Version{}, err
	case e.Container:
		return Version{}, fmt.Errorf("the section %s has sections, and cannot be changed itself; change one of them:\n%s", e.Name, sections.List(sections.Prompt{Sections: e.Sections}.Entries()))
	case u.Base != e.Base():
		return Version{}, fmt.Errorf("the section %s is not what base %q stands for: it was changed meanwhile, or never read; read it again", e.Name, u.Base)
	case len(u.Why) > maxWhy:
		return Version{}, fmt.Errorf("why has more than %d bytes", maxWhy)
	}
	text, err := sections.Apply(u.Operation, e.Text, u.Content, u.Target)
	if err != nil {
		return Version{}, err
	}
	if text == e.Text {
		return Version{}, fmt.Errorf("the section %s would stay as it is", e.Name)
	}
	v := Version{Number: now.Version.Number + 1, Operation: string(u.Operation), Section: e.Name, Why: u.Why, Files: maps.Clone(now.Version.Files)}
	v.Files[e.File] = e.Page(text)
	size := 0
	for _, text := range v.Files {
		size += len(text)
	}
	if size > sections.MaxBytes {
		return Version{}, fmt.Errorf("the prompt would have more than %d bytes", sections.MaxBytes)
	}
	return v, nil
}

func (s *Store) reverted(now State, r Revert) (Version, error) {
	if r.Base != now.Base() {
		return Version{}, fmt.Errorf("the prompt is not what base %q stands for: it was changed meanwhile, or never read; read it again", r.Base)
	}
	if len(r.Why) > maxWhy {
		return Version{}, fmt.Errorf("why has more than %d bytes", maxWhy)
	}
	numbers, _, err := s.versions.list()
	if err != nil {
		return Version{}, err
	}
	if !slices.Contains(numbers, r.Version) {
		return Version{}, fmt.Errorf("there is no version %d; there are %d to %d", r.Version, numbers[0], numbers[len(numbers)-1])
	}
	old, err := s.versions.read(r.Version)
	if err != nil {
		return Version{}, err
	}
	if maps.Equal(old.Files, now.Version.Files) {
		return Version{}, fmt.Errorf("the prompt is as in version %d already", r.Version)
	}
	return Version{Number: now.Version.Number + 1, Operation: OperationRevert, Of: r.Version, Why: r.Why, Files: old.Files}, nil
}

// Preview returns the diff that a change would make.
func (s *Store) Preview(ctx context.Context, u *Update, r *Revert) (diff string, err error) {
	err = s.locked(ctx, func(now State) error {
		var v Version
		var err error
		if u != nil {
			v, err = s.updated(now, *u)
		} else {
			v, err = s.reverted(now, *r)
		}
		diff = Diff(now.Version.Files, v.Files)
		return err
	})
	return diff, err
}

// changeOf describes a change.
func changeOf(before, after Version) (Change, error) {
	p, err := after.prompt()
	if err != nil {
		return Change{}, err
	}
	out := Change{Version: after.Number, Base: State{Prompt: p}.Base(), Diff: Diff(before.Files, after.Files)}
	if after.Section != "" {
		e, err := p.Find(after.Section)
		if err != nil {
			return Change{}, err
		}
		out.Base = e.Base()
	}
	return out, nil
}

// Entry is a version in the history.
type Entry struct {
	Version   int    `json:"version"`
	At        string `json:"at" jsonschema:"RFC 3339"`
	By        string `json:"by,omitempty" jsonschema:"who made it, as far as the server knows"`
	Why       string `json:"why,omitempty"`
	Operation string `json:"operation" jsonschema:"of update_prompt, or revert; found is the first version, edited one whose files somebody has changed"`
	Section   string `json:"section,omitempty"`
	Of        int    `json:"of,omitempty" jsonschema:"version that a revert has restored"`
	Diff      string `json:"diff,omitempty" jsonschema:"against the version before"`
}

// History returns at most limit versions, the newest first.
func (s *Store) History(ctx context.Context, limit int) (out []Entry, err error) {
	err = s.locked(ctx, func(State) error {
		numbers, _, err := s.versions.list()
		if err != nil || len(numbers) == 0 {
			return err
		}
		v, err := s.versions.read(numbers[len(numbers)-1])
		for i := len(numbers) - 1; err == nil && i >= 0 && len(out) < limit; i-- {
			var before Version
			if i > 0 {
				if before, err = s.versions.read(numbers[i-1]); err != nil {
					return err
				}
			}
			e := Entry{Version: v.Number, At: v.At.Format("2006-01-02T15:04:05.000Z07:00"), By: v.By, Why: v.Why, Operation: v.Operation, Section: v.Section, Of: v.Of}
			if i > 0 {
				e.Diff = Diff(before.Files, v.Files)
			}
			out = append(out, e)
			v = before
		}
		return err
	})
	return out, err
}

// prompt parses the files of a version.
func (v Version) prompt() (sections.Prompt, error) {
	p, faults := sections.Of(v.Files)
	if len(faults) > 0 {
		return p, fmt.Errorf("version %d: %w", v.Number, faults)
	}
	return p, nil
}
