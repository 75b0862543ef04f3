package delegation

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Point is the end of a dialogue so far, in the IDs of the other agent. TaskID is empty if it
// answered with a message instead of a task.
type Point struct {
	ContextID string `json:"context_id,omitempty"`
	TaskID    string `json:"task_id,omitempty"`
	// EndedAt is when the task ended here, Since when the first one of the context did. Dialogues of older
	// versions have neither.
	EndedAt time.Time `json:"ended_at,omitzero"`
	Since   time.Time `json:"since,omitzero"`
}

// Dialogue is a dialogue with a peer.
type Dialogue struct {
	// Place is the branch of a parallel node, as its path in the tree ("0.1"), or "".
	Place string `json:"place,omitempty"`
	// URL is the peer's. Nodes may know it under different names.
	URL string `json:"url"`
	Point
}

func (d Dialogue) same(other Dialogue) bool {
	return d.Place == other.Place && d.URL == other.URL
}

// Dialogues are the dialogues of a node, which is in the Place.
type Dialogues struct {
	Place string     `json:"place,omitempty"`
	List  []Dialogue `json:"list,omitempty"`
}

// MaxDialogues limits how many dialogues a conversation remembers. The longest unused ones are
// forgotten.
const MaxDialogues = 20

// Merge returns a list with changed dialogues, each once, the last changed last.
func Merge(list []Dialogue, changed ...Dialogue) []Dialogue {
	for _, d := range changed {
		list = append(slices.DeleteFunc(slices.Clone(list), d.same), d)
	}
	return list[max(0, len(list)-MaxDialogues):]
}

// Book has the dialogues that a workflow knows. It is not safe for concurrent use.
type Book struct {
	place string
	list  []Dialogue
	taken []Dialogue
}

// Open returns the book of a workflow.
func Open(in Dialogues, changed ...Dialogue) *Book {
	return &Book{place: in.Place, list: Merge(in.List, changed...)}
}

// List returns all dialogues of the book.
func (b *Book) List() []Dialogue { return b.list }

// Put stores what a workflow inside has changed.
func (b *Book) Put(changed []Dialogue) { b.list = Merge(b.list, changed...) }

// Page is the part of a book for one node.
type Page struct {
	book  *Book
	place string
}

// Page returns the page of a node with the path. alone means that it is a branch of a parallel node;
// other nodes share the dialogues of those around them.
func (b *Book) Page(path []int, alone bool) Page {
	if !alone {
		return Page{b, b.place}
	}
	return Page{b, strings.Join(strings.Fields(strings.Trim(fmt.Sprint(path), "[]")), ".")}
}

// Dialogues returns the dialogues of the node and of the branches inside it.
func (p Page) Dialogues() Dialogues {
	out := Dialogues{Place: p.place}
	for _, d := range p.book.list {
		if p.place == "" || d.Place == p.place || strings.HasPrefix(d.Place, p.place+".") {
			out.List = append(out.List, d)
		}
	}
	return out
}

// Take returns the dialogue with a peer for one task, nil if the task is part of none: because the
// peer has no dialogues, or because a task of this one is running.
func (p Page) Take(peer Peer) *Thread {
	own := Dialogue{Place: p.place, URL: peer.URL}
	if peer.Context != ContextConversation || p.book == nil || slices.ContainsFunc(p.book.taken, own.same) {
		return nil
	}
	p.book.taken = append(p.book.taken, own)
	if i := slices.IndexFunc(p.book.list, own.same); i >= 0 {
		own = p.book.list[i]
	}
	return &Thread{book: p.book, dialogue: own}
}

// Next returns what a task of a peer would continue if it began now, nil if it would begin anew. peer may
// be nil.
func (p Page) Next(peer *Peer) *Point {
	if peer == nil {
		return nil
	}
	thread := p.Take(*peer)
	defer thread.Release()
	return thread.Point()
}

// Thread is a dialogue whose next task is running. The nil thread is the one of a task that is part
// of no dialogue.
type Thread struct {
	book     *Book
	dialogue Dialogue
}

// Point returns what the task continues, nil if it starts anew.
func (t *Thread) Point() *Point {
	if t == nil || t.dialogue.Point == (Point{}) {
		return nil
	}
	at := t.dialogue.Point
	return &at
}

// Continued returns what the task that is running continues, nil if it has begun anew, because of the other
// agent too.
func (t *Thread) Continued(anew bool) *Point {
	if anew {
		return nil
	}
	return t.Point()
}

// Advance records that the task has ended now. An agent that names neither a context nor a task cannot
// continue it.
func (t *Thread) Advance(now time.Time, context, task string) {
	if t == nil || context == "" && task == "" {
		return
	}
	to := Point{ContextID: context, TaskID: task, EndedAt: now, Since: now}
	if last := t.dialogue.Point; last.ContextID == context && !last.Since.IsZero() {
		to.Since = last.Since
	}
	t.dialogue.Point = to
	t.book.Put([]Dialogue{t.dialogue})
}

// Release lets another task continue the dialogue.
func (t *Thread) Release() {
	if t != nil {
		t.book.taken = slices.DeleteFunc(t.book.taken, t.dialogue.same)
	}
}
