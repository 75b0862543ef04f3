package live

import (
	"slices"

	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/record"
)

const maxDraft = 1 << 20 // bytes of an unfinished reply that are kept for readers that join later

// drafts are the unfinished replies, kept for readers that join while they are written.
type drafts []*draft

type draft struct {
	name  string
	items []Item
	size  int
}

func (d drafts) take(i Item) drafts {
	if i.Draft != nil {
		return d.begin(i)
	}
	return d.extend(i.Delta)
}

// begin adds a draft. It replaces what was received under the same ID.
func (d drafts) begin(i Item) drafts {
	return append(d.without(i.Draft.ID), &draft{name: i.Draft.ID, items: []Item{i}})
}

// extend adds a piece to its draft. A piece of an unknown draft is dropped: it is useless
// without the beginning. A draft that grows too large is dropped too.
func (d drafts) extend(in *generation.Delta) drafts {
	for _, x := range d {
		if x.name != in.DraftID {
			continue
		}
		if x.size += len(in.Text); x.size > maxDraft {
			return d.without(x.name)
		}
		x.items = Append(x.items, Item{Delta: in})
	}
	return d
}

func (d drafts) without(name string) drafts {
	return slices.DeleteFunc(d, func(x *draft) bool { return x.name == name })
}

// settle drops the drafts whose messages are in the conversation, and all of them when no
// turn runs.
func (d drafts) settle(s *record.State) drafts {
	if len(d) == 0 || !s.Running {
		return nil
	}
	for _, m := range s.Messages {
		if m.DraftID != "" {
			d = d.without(m.DraftID)
		}
	}
	return d
}
