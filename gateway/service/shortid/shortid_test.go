package shortid_test

import (
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/shortid"
)

const some = "7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f"

func TestShortIDsAreParsed(t *testing.T) {
	for given, want := range map[string]string{
		"7f9c": "7f9c", "#7F9C": "7f9c", "7f9c24e83b12": "7f9c24e8-3b12", "7f9c24e8-3b": "7f9c24e8-3b", "7f9c24e8-": "7f9c24e8",
		some: some, "#" + some: some, strings.ReplaceAll(some, "-", ""): some,
	} {
		if got, ok := shortid.Parse(given); got != want || !ok {
			t.Errorf("%s: %q, %v", given, got, ok)
		}
	}
	for _, given := range []string{"", "#", "7f9", "#7f9", "7f9g", "##7f9c", "7f9c%", "7f9c_", some + "0", "7f9c'"} {
		if got, ok := shortid.Parse(given); ok {
			t.Errorf("%q is taken for %s", given, got)
		}
	}
}

func TestAShortIDIsTheShortestThatTellsAConversationFromOthers(t *testing.T) {
	for _, c := range []struct {
		others []string
		total  int64
		want   string
	}{
		{nil, 0, "#7f9c"},
		{[]string{some}, 1, "#7f9c"},
		{[]string{some, "7f9d24e8-3b12-4fef-91e0-5a1b2c3d4e5f"}, 2, "#7f9c"},
		{[]string{some, "7f9c34e8-3b12-4fef-91e0-5a1b2c3d4e5f"}, 2, "#7f9c2"},
		{[]string{some, "7f9c24e8-3c12-4fef-91e0-5a1b2c3d4e5f"}, 2, "#7f9c24e8-3b"},
		{[]string{some, strings.TrimSuffix(some, "f") + "e"}, 2, "#" + some},
		{nil, 1024, "#7f9c"},
		{nil, 1025, "#7f9c2"},
		{nil, 20_000, "#7f9c24"},
		{nil, 1 << 62, "#7f9c24e8-3b12-4fef"},
	} {
		if got := shortid.Of(some, c.others, c.total); got != c.want {
			t.Errorf("among %d: %s, expected %s", c.total, got, c.want)
		}
	}
}

func TestShortIDsOfAPageDiffer(t *testing.T) {
	var page []service.Item
	for i := range 200 {
		page = append(page, service.Item{ID: fmt.Sprintf("7f9c%04x-3b12-4fef-91e0-5a1b2c3d4e5f", i*37)})
	}
	shortid.Set(page, 200)
	seen := map[string]bool{}
	for _, item := range page {
		if prefix, ok := shortid.Parse(item.ShortID); !ok || !strings.HasPrefix(item.ID, prefix) || seen[item.ShortID] {
			t.Errorf("%s for %s", item.ShortID, item.ID)
		}
		seen[item.ShortID] = true
	}
}
