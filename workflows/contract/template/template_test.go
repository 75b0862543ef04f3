package template_test

import (
	"slices"
	"testing"

	"agent-stop-and-go/workflows/contract/template"
)

func TestKeysAreFoundOnceInOrder(t *testing.T) {
	got := template.Keys(`Review {draft} for {user_message}. {draft}! {not-a-key} { spaced } {"json": {n}} {}`)
	if want := []string{"draft", "user_message", "n"}; !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
}

func TestFill(t *testing.T) {
	values := map[string]string{"a": "1", "b": "{a}", "empty": "", "k_2": "two"}
	for _, c := range []struct{ name, text, want string }{
		{"a value stands in for its placeholder", "x {a} y", "x 1 y"},
		{"each time it appears", "{a}{a} {k_2}", "11 two"},
		{"a value is not filled in again", "{b}", "{a}"},
		{"an unknown placeholder stays", "{unknown} {a}", "{unknown} 1"},
		{"and so does one with an empty value", "{empty}", "{empty}"},
		{"braces around a placeholder stay", "{{a}}", "{1}"},
		{"what is no placeholder stays", `{"a": 1} {a b} {ä}`, `{"a": 1} {a b} {ä}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := template.Fill(c.text, func(k string) string { return values[k] }); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
