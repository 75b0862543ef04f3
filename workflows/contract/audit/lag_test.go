package audit_test

import (
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract/audit"
)

func TestLags(t *testing.T) {
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	away := audit.Witnessed{Name: "w", Size: 4, Problem: "away", Since: since}
	for name, tc := range map[string]struct {
		view audit.View
		want audit.Lag
	}{
		"an empty log":                   {audit.View{}, audit.Lag{}},
		"it was not asked yet":           {audit.View{Head: audit.Head{Size: 7, Unsigned: 1}}, audit.Lag{Leaves: 7}},
		"it is away":                     {audit.View{Head: audit.Head{Size: 7, Unsigned: 1}, Witnesses: []audit.Witnessed{{Name: "v", Size: 7}, away}}, audit.Lag{Signed: 4, Leaves: 3, Problem: "away", Since: since}},
		"it has signed all":              {audit.View{Head: audit.Head{Size: 7}, Witnesses: []audit.Witnessed{{Name: "w", Size: 7}}}, audit.Lag{Signed: 7}},
		"calls wait for it":              {audit.View{Head: audit.Head{Size: 4}, Problem: "0 of 1", Queued: 2, Witnesses: []audit.Witnessed{away}}, audit.Lag{Signed: 4, Leaves: 2, Problem: "away", Since: since}},
		"the store fails, it has signed": {audit.View{Head: audit.Head{Size: 4}, Problem: "disk", Queued: 2, Witnesses: []audit.Witnessed{{Name: "w", Size: 4}}}, audit.Lag{Signed: 4}},
		"it is new, and nothing happens": {audit.View{Head: audit.Head{Size: 4}}, audit.Lag{Leaves: 4}},
		"another one has more":           {audit.View{Head: audit.Head{Size: 4, Unsigned: 1}, Witnesses: []audit.Witnessed{{Name: "w", Size: 6}}}, audit.Lag{Signed: 6}},
	} {
		tc.want.Name = "w"
		if got := tc.view.Lag("w"); got != tc.want {
			t.Errorf("%s: %+v, expected %+v", name, got, tc.want)
		}
	}
}
