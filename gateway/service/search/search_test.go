package search_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/search"
	"agent-stop-and-go/workflows/contract"
)

// list has conversations c0, c1, … with titles.
type list []string

func (l list) page(_ context.Context, q service.ListQuery) (p service.Page[service.Item], err error) {
	from := 0
	if len(q.Token) > 0 {
		_, err = fmt.Sscan(string(q.Token), &from)
	}
	to := min(from+q.Limit, len(l))
	for n := from; n < to; n++ {
		p.Items = append(p.Items, service.Item{ID: fmt.Sprint("c", n), Title: l[n]})
	}
	if to < len(l) {
		p.Next = fmt.Append(nil, to)
	}
	return p, err
}

func exported(content string) *fstest.MapFile {
	return &fstest.MapFile{Data: fmt.Appendf(nil, `{"id":"x","owner":{"subject":"kiwi"},"messages":[{"role":"system","content":"secret prompt"},{"role":"user","content":%q},
		{"role":"tool","content":"","tool_call":{"name":"t","arguments":null,"result":"a result"}}]}`, content)}
}

func ids(r search.Result) (out string) {
	for _, f := range r.Found {
		out += f.ID + " "
	}
	return strings.TrimSpace(out)
}

func TestWordsAreFoundInTitlesAndTexts(t *testing.T) {
	s := search.Searcher{List: list{"Fruit salad", "Invoices", "Nothing"}.page, Exports: fstest.MapFS{
		contract.ConversationFile("c0"): exported("cut the KIWI <small>"), contract.ConversationFile("c1"): exported("Über Kiwis, and a salad of them"),
	}}
	for words, want := range map[string]string{
		"salad": "c0 c1", "SALAD kiwi": "c0 c1", "fruit kiwi": "c0", "über": "c1", "<small>": "c0", "nothing": "c2",
		"system": "", "secret": "", "role": "", "subject": "", "result": "", "plum": "",
	} {
		r, err := s.Search(t.Context(), words, service.ListQuery{Limit: 50})
		if err != nil || ids(r) != want || r.Searched != 3 || r.Texts != 2 || len(r.Next) > 0 {
			t.Errorf("%s: got %q, want %q (%d searched, %d texts), %v", words, ids(r), want, r.Searched, r.Texts, err)
		}
	}
	r, _ := s.Search(t.Context(), "kiwi", service.ListQuery{Limit: 50})
	if got := r.Found[0].Excerpt; got != "cut the KIWI <small>" {
		t.Errorf("the excerpt is %q", got)
	}
}

func TestASearchIsBoundedAndGoesOn(t *testing.T) {
	l := make(list, 5_000)
	for n := range l {
		l[n] = "x"
	}
	l[10], l[4_990] = "kiwi", "kiwi"
	s := search.Searcher{List: l.page}
	var found []string
	q := service.ListQuery{Limit: 50}
	for pages := 1; ; pages++ {
		r, err := s.Search(t.Context(), "kiwi", q)
		if err != nil || r.Searched > search.MaxSearched+50 {
			t.Fatalf("%d searched, %v", r.Searched, err)
		}
		found = append(found, strings.Fields(ids(r))...)
		if q.Token = r.Next; len(r.Next) == 0 {
			break
		}
		if pages > 5 {
			t.Fatal("it does not end")
		}
	}
	if fmt.Sprint(found) != "[c10 c4990]" {
		t.Errorf("found %v", found)
	}
	all, _ := s.Search(t.Context(), "x", service.ListQuery{Limit: 50})
	if len(all.Found) > 50 || len(all.Next) == 0 {
		t.Errorf("%d found", len(all.Found))
	}
	for _, words := range []string{"", "  ", strings.Repeat("x", 201), "a b c d e f g h i", "\xff"} {
		if _, err := s.Search(t.Context(), words, q); !service.IsKind(err, contract.KindInvalid) {
			t.Errorf("%q: %v", words, err)
		}
	}
}
