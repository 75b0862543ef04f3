package hosting

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mattn/go-isatty"
)

// NewLogger returns a logger as the environment has it. LOG_LEVEL is debug, info, warn or error,
// info if it is empty. LOG_FORMAT is text or json; if it is empty, it is text at a terminal and
// if the lines are quoted, as an agent does with those of its children, and json elsewhere.
func NewLogger(getenv func(string) string, to io.Writer, quoted bool) (*slog.Logger, error) {
	options := &slog.HandlerOptions{}
	if name := getenv("LOG_LEVEL"); name != "" {
		var level slog.Level
		if err := level.UnmarshalText([]byte(name)); err != nil {
			return nil, fmt.Errorf("LOG_LEVEL %q is unknown: use debug, info, warn or error", name)
		}
		options.Level = level
	}
	switch format := getenv("LOG_FORMAT"); {
	case format == "text", format == "" && (quoted || isTerminal(to)):
		return slog.New(slog.NewTextHandler(to, options)), nil
	case format == "json", format == "":
		return slog.New(slog.NewJSONHandler(to, options)), nil
	default:
		return nil, fmt.Errorf("LOG_FORMAT %q is unknown: use text or json", format)
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

var traceParent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$`)

// CallerAttrs returns what a log line says of the caller of a tool: its session, and its trace if
// the call has one (W3C traceparent in _meta).
func CallerAttrs(r mcp.CallToolRequest) []any {
	attrs := []any{"sid", CallerID(r.Header)}
	if r.Params.Meta == nil {
		return attrs
	}
	parent, _ := r.Params.Meta.AdditionalFields["traceparent"].(string)
	if m := traceParent.FindStringSubmatch(parent); m != nil {
		attrs = append(attrs, "trace", m[1])
	}
	return attrs
}
