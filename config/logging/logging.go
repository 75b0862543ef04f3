package logging

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
)

// LevelVariable names the environment variable with the level: debug, info, warn or error.
// The default is info.
const LevelVariable = "LOG_LEVEL"

// FormatVariable names the environment variable with the format: text or json. The default is
// text at a terminal, and json elsewhere: in files, pipes and journals programs read it.
const FormatVariable = "LOG_FORMAT"

// New returns a logger configured by the environment. An unknown level or format is an error.
func New(w io.Writer, getenv func(string) string) (*slog.Logger, error) {
	o := &slog.HandlerOptions{}
	if v := getenv(LevelVariable); v != "" {
		var level slog.Level
		if err := level.UnmarshalText([]byte(v)); err != nil {
			return nil, fmt.Errorf("%s=%s: must be debug, info, warn or error", LevelVariable, v)
		}
		o.Level = level
	}
	v := strings.ToLower(getenv(FormatVariable))
	if v == "" && !isTerminal(w) {
		v = "json"
	}
	switch v {
	case "", "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	default:
		return nil, fmt.Errorf("%s=%s: must be text or json", FormatVariable, v)
	}
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
