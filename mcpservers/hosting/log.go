package hosting

import (
	"fmt"
	"io"
	"log/slog"
)

// NewLogger returns a text logger with a minimum level: debug, info, warn or error. An empty
// level means info.
func NewLogger(level string, to io.Writer) (*slog.Logger, error) {
	var at slog.Level
	if level != "" {
		if err := at.UnmarshalText([]byte(level)); err != nil {
			return nil, fmt.Errorf("LOG_LEVEL %q is unknown: use debug, info, warn or error", level)
		}
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: at})), nil
}
