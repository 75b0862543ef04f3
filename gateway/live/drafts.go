package live

import (
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

const maxDraft = 1 << 20 // bytes of a reply that are kept for readers to come

// drafts are the replies that are being made, for readers who come meanwhile.
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

// begin takes note of a draft. What was said under its name is void.
func (d drafts) begin(i Item) drafts {
	return append(d.without(i.Draft.ID), &draft{name: i.Draft.ID, items: []Item{i}})
}

// extend takes note of a piece. A piece of an unknown draft is of no use to those
// who have not seen its beginning.
func (d drafts) extend(in *contract.Delta) drafts {
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

// settle forgets what the conversation itself has.
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
