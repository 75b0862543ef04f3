package exchange

import (
	"strings"
	"testing"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/record"
)

func draft(id, node string) live.Item { return live.Item{Draft: &generation.Draft{ID: id, Node: node}} }

func piece(id, text string) live.Item {
	return live.Item{Delta: &generation.Delta{DraftID: id, Kind: generation.Text, Text: text}}
}

func said(id, draft, text string) record.Entry {
	return record.Entry{Kind: record.KindText, Text: text, Message: contract.Message{ID: id, DraftID: draft}}
}

func TestWhatIsTold(t *testing.T) {
	type step struct {
		item    live.Item
		entries []record.Entry
		want    string // what was told after it
	}
	for name, steps := range map[string][]step{
		"a draft, then its entry": {{item: draft("d", "")}, {item: piece("d", "Hel"), want: "Hel"}, {item: piece("d", "lo"), want: "Hello"}, {entries: []record.Entry{said("1", "d", "Hello!")}, want: "Hello!"}},
		"an entry alone":          {{entries: []record.Entry{said("1", "", "Hello")}, want: "Hello"}},
		"two entries": {
			{item: draft("d", "")}, {item: piece("d", "One"), want: "One"}, {entries: []record.Entry{said("1", "d", "One")}, want: "One"},
			{item: draft("e", ""), want: "One"}, {item: piece("e", "Two"), want: "One\n\nTwo"}, {entries: []record.Entry{said("1", "d", "One"), said("2", "e", "Two")}, want: "One\n\nTwo"},
		},
		"a model that is asked again goes on with what was told": {
			{item: draft("d", "")}, {item: piece("d", "Hello wor"), want: "Hello wor"}, {item: draft("d", ""), want: "Hello wor"}, {item: piece("d", "Hello"), want: "Hello wor"}, {item: piece("d", " world"), want: "Hello world"},
		},
		"a model that is asked again says something else": {
			{item: draft("d", "")}, {item: piece("d", "Hello"), want: "Hello"}, {item: draft("d", ""), want: "Hello"}, {item: piece("d", "Good"), want: "Hello"},
			{entries: []record.Entry{said("1", "d", "Good day")}, want: "Hello\n\nGood day"},
		},
		"nodes beside each other": {
			{item: draft("d", "left")}, {item: draft("e", "right")}, {item: piece("d", "Left"), want: "Left"}, {item: piece("e", "Right"), want: "Left"},
			{entries: []record.Entry{said("2", "e", "Right")}, want: "Left"}, {entries: []record.Entry{said("1", "d", "Left."), said("2", "e", "Right")}, want: "Left.\n\nRight"},
		},
		"a piece after its entry": {{entries: []record.Entry{said("1", "d", "Hello")}, want: "Hello"}, {item: piece("d", "Hello"), want: "Hello"}},
	} {
		var told strings.Builder
		s := NewSpeech(func(p string) error { told.WriteString(p); return nil })
		for n, step := range steps {
			var err error
			if step.entries != nil {
				err = s.Entries(step.entries, false)
			} else {
				err = s.Piece(step.item)
			}
			if err != nil || told.String() != step.want || s.said.String() != step.want {
				t.Errorf("%s, step %d: told %q, want %q", name, n, told.String(), step.want)
			}
		}
	}
}
