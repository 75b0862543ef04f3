package hosting

import (
	"fmt"
	"io"
	"log/slog"
)

// NewLogger logs as text from a level on: debug, info, warn or error; empty means
// info.
func NewLogger(level string, to io.Writer) (*slog.Logger, error) {
	var at slog.Level
	if level != "" {
		if err := at.UnmarshalText([]byte(level)); err != nil {
			return nil, fmt.Errorf("LOG_LEVEL %q is unknown: use debug, info, warn or error", level)
		}
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: at})), nil
}
