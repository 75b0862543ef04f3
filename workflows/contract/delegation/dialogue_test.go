package delegation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "agent-stop-and-go/workflows/contract/delegation"
)

var writer = Peer{Name: "writer", URL: "http://writer", Context: ContextConversation}

// epoch is when the first task of every dialogue ends.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func point(n int) Point {
	return Point{ContextID: "c", TaskID: fmt.Sprint("t", n), EndedAt: epoch, Since: epoch}
}

func advance(t *Thread, to Point) { t.Advance(epoch, to.ContextID, to.TaskID) }

func TestATaskContinuesTheOneThatEndedBeforeIt(t *testing.T) {
	page := Open(Dialogues{}).Page(nil, false)
	for n := range 3 {
		thread := page.Take(writer)
		if at := thread.Point(); n == 0 && at != nil || n > 0 && *at != point(n-1) {
			t.Errorf("task %d continues %+v", n, at)
		}
		if busy := page.Take(writer); busy != nil {
			t.Error("a second task joins a dialogue whose task runs")
		}
		advance(thread, point(n))
		advance(thread, Point{})
		thread.Release()
	}
	renamed, elsewhere := writer, writer
	renamed.Name, elsewhere.URL = "author", "http://other"
	if at := page.Take(renamed).Point(); at == nil {
		t.Error("the agent under another name starts anew")
	}
	if at := page.Take(elsewhere).Point(); at != nil {
		t.Errorf("an agent elsewhere continues %+v", at)
	}
}

func TestATaskOutsideOfADialogueKeepsNothing(t *testing.T) {
	book := Open(Dialogues{})
	page := book.Page(nil, false)
	thread := page.Take(Peer{Name: "writer", URL: "http://writer"})
	advance(thread, point(1))
	thread.Release()
	if thread.Point() != nil || len(book.List()) != 0 {
		t.Errorf("%+v, %+v", thread.Point(), book.List())
	}
	if (Page{}).Take(writer) != nil {
		t.Error("a page of no book has a dialogue")
	}
}

// TestBranchesHaveDialoguesOfTheirOwn has the page of a branch in another workflow, as composite
// nodes inside are.
func TestBranchesHaveDialoguesOfTheirOwn(t *testing.T) {
	end := func(page Page, n int) {
		thread := page.Take(writer)
		advance(thread, point(n))
		thread.Release()
	}
	book := Open(Dialogues{})
	end(book.Page([]int{0}, false), 0)
	first, second := book.Page([]int{1, 1}, true), book.Page([]int{1, 10}, true)
	end(first, 1)
	end(second, 10)
	for page, want := range map[Page][]Dialogue{
		book.Page([]int{5}, false): book.List(),
		first:                      {{Place: "1.1", URL: "http://writer", Point: point(1)}},
		second:                     {{Place: "1.10", URL: "http://writer", Point: point(10)}},
	} {
		if got := page.Dialogues().List; !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
	}
	inside := Open(first.Dialogues())
	end(inside.Page([]int{1, 1, 0}, false), 2)
	end(inside.Page([]int{1, 1, 1, 0}, true), 3)
	book.Put(inside.List())
	want := []Dialogue{
		{URL: "http://writer", Point: point(0)},
		{Place: "1.10", URL: "http://writer", Point: point(10)},
		{Place: "1.1", URL: "http://writer", Point: point(2)},
		{Place: "1.1.1.0", URL: "http://writer", Point: point(3)},
	}
	if !cmp.Equal(book.List(), want) {
		t.Error(cmp.Diff(want, book.List()))
	}
}

func TestTheLongestUnusedDialoguesAreForgotten(t *testing.T) {
	book := Open(Dialogues{})
	for n := range MaxDialogues + 5 {
		for _, url := range []string{"http://writer", fmt.Sprint("http://peer", n)} {
			peer := writer
			peer.URL = url
			thread := book.Page(nil, false).Take(peer)
			advance(thread, point(n))
			thread.Release()
		}
	}
	list := book.List()
	if len(list) != MaxDialogues || list[len(list)-2].URL != "http://writer" || list[0].URL != "http://peer6" {
		t.Errorf("%d dialogues: %+v", len(list), list)
	}
}

// What is shown of a dialogue says since when it goes on, and what the next task continues, without taking it.
func TestTheNextTaskOfADialogueIsKnown(t *testing.T) {
	page := Open(Dialogues{}).Page(nil, false)
	if page.Next(&writer) != nil || page.Next(nil) != nil {
		t.Error("a task continues nothing")
	}
	at := epoch
	for n, context := range []string{"c", "c", "d"} {
		thread := page.Take(writer)
		if page.Next(&writer) != nil {
			t.Error("a second task joins a dialogue whose task runs")
		}
		at = at.Add(time.Hour)
		thread.Advance(at, context, fmt.Sprint("t", n))
		thread.Release()
	}
	want := Point{ContextID: "d", TaskID: "t2", EndedAt: at, Since: at}
	thread := page.Take(writer)
	if got := thread.Continued(false); *got != want || thread.Continued(true) != nil {
		t.Errorf("%+v", got)
	}
	thread.Release()
	if got := page.Next(&writer); *got != want {
		t.Errorf("%+v", got)
	}
	thread = page.Take(writer)
	thread.Advance(at.Add(time.Hour), "d", "t3")
	thread.Release()
	if got := page.Next(&writer); got.Since != at || got.EndedAt != at.Add(time.Hour) {
		t.Errorf("%+v", got)
	}
}
