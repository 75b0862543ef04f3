package embedded

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"go.temporal.io/server/common/log/tag"
)

func TestALogLineHasTheTagsOfItsLoggers(t *testing.T) {
	var out bytes.Buffer
	root := newServerLog(slog.New(slog.NewTextHandler(&out, nil)))
	one := root.With(tag.String("a", "1")).(serverLog)
	two, three := one.With(tag.String("b", "2")).(serverLog), one.With(tag.String("b", "3")).(serverLog)
	two.Error("of two", tag.String("c", "4"))
	three.Warn("of three")
	root.Error("of none")
	two.SLog().Error("of the SDK")
	two.Info("dropped")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []string{
		`msg="of two" component=temporal a=1 b=2 c=4`, `msg="of three" component=temporal a=1 b=3`, `msg="of none" component=temporal`, `msg="of the SDK" component=temporal a=1 b=2`,
	} {
		if i >= len(lines) || !strings.HasSuffix(lines[i], want) {
			t.Errorf("line %d of %q does not end with %s", i, lines, want)
		}
	}
	if len(lines) != 4 {
		t.Errorf("logged %q", lines)
	}
}
