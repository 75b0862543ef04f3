package template_test

import (
	"slices"
	"testing"

	"agent-stop-and-go/workflows/contract/template"
)

func TestKeysAreFoundOnceInOrder(t *testing.T) {
	got := template.Keys(`Review {draft} for {user_message}. {draft}! {not-a-key} { spaced } {"json": {n}} {} {draft.title} {p.q}`)
	if want := []string{"draft", "user_message", "n", "p"}; !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
}

func TestFill(t *testing.T) {
	values := map[string]string{
		"o": `{"title": "T", "n": 1.50, "deep": {"list": [{"x": "y"}, true]}, "no": null, "e": ""}`,
		"a": "1", "b": "{a}", "empty": "", "k_2": "two",
	}
	for _, c := range []struct{ name, text, want string }{
		{"a value stands in for its placeholder", "x {a} y", "x 1 y"},
		{"each time it appears", "{a}{a} {k_2}", "11 two"},
		{"a value is not filled in again", "{b}", "{a}"},
		{"an unknown placeholder stays", "{unknown} {a}", "{unknown} 1"},
		{"an empty value is a value", "<{empty}>", "<>"},
		{"braces around a placeholder stay", "{{a}}", "{1}"},
		{"a field of JSON stands in for its placeholder", "{o.title}!", "T!"},
		{"a number as it is written", "{o.n}", "1.50"},
		{"fields nest, and items of lists are numbered", "{o.deep.list.0.x} {o.deep.list.1} {o.deep.list}", `y true [{"x":"y"},true]`},
		{"a field that is not there is empty", "<{o.nope}{o.deep.list.7}{o.title.x}{o.e}{empty.x}>", "<>"},
		{"null is a value", "{o.no}", "null"},
		{"a text has no fields", "{k_2.x} {unknown.x}", " {unknown.x}"},
		{"what is no placeholder stays", `{"a": 1} {a b} {ä} {o.deep.list.-1}`, `{"a": 1} {a b} {ä} {o.deep.list.-1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := template.Fill(c.text, func(k string) (string, bool) { v, ok := values[k]; return v, ok }); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
