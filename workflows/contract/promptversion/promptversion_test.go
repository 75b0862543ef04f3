package promptversion_test

import (
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract/promptversion"
)

func TestUsesAreThoseThatDiffer(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	version := func(n int) *promptversion.Version { return &promptversion.Version{Source: "directory", Number: n} }
	if uses := promptversion.Add(nil, nil, at, ""); uses != nil {
		t.Errorf("a text alone: %+v", uses)
	}
	uses := promptversion.Add(nil, version(1), at, "")
	uses = promptversion.Add(uses, version(1), at, "ops")
	if len(uses) != 1 || uses[0].By != "" {
		t.Errorf("the same prompt again: %+v", uses)
	}
	other := promptversion.Add(uses, nil, at, "ops")
	if len(other) != 2 || other[1].Source != "text" || other[1].By != "ops" {
		t.Errorf("a text after it: %+v", other)
	}
	for n := range 100 {
		uses = promptversion.Add(uses, version(n+2), at, "ops")
	}
	if len(uses) != 20 || uses[0].Number != 1 || uses[19].Number != 101 || uses[1].Number != 83 {
		t.Errorf("of many: %+v", uses)
	}
	withSections := func(n int) *promptversion.Version {
		return &promptversion.Version{Source: "directory", Number: n, Sections: []promptversion.Section{{Name: "tone"}}}
	}
	two := promptversion.Add(promptversion.Add(nil, withSections(1), at, ""), withSections(2), at, "")
	three := promptversion.Add(two, withSections(3), at, "")
	if len(three[0].Sections) != 1 || len(three[1].Sections) != 0 || len(three[2].Sections) != 1 || len(two[1].Sections) != 1 {
		t.Errorf("sections: %+v after %+v", three, two)
	}
	if text := (promptversion.Version{Source: "server p", Number: 3, Digest: "ab", Fallback: "down"}).String(); text != "server p, version 3, digest ab, the text of the file because it could not be read: down" {
		t.Error(text)
	}
}
