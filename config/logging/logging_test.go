package logging_test

import (
	"bytes"
	"strings"
	"testing"

	"agent-stop-and-go/config/logging"
)

func TestTheEnvironmentSetsLevelAndFormat(t *testing.T) {
	cases := map[string]struct {
		env   map[string]string
		shows string
		debug bool
		fails string
	}{
		"text":              {env: map[string]string{"LOG_FORMAT": "text"}, shows: "level=INFO msg=hello"},
		"no terminal":       {shows: `"level":"INFO","msg":"hello"`},
		"json":              {env: map[string]string{"LOG_FORMAT": "json"}, shows: `"msg":"hello"`},
		"debug":             {env: map[string]string{"LOG_LEVEL": "debug"}, shows: `"msg":"hello"`, debug: true},
		"an unknown level":  {env: map[string]string{"LOG_LEVEL": "loud"}, fails: "LOG_LEVEL=loud"},
		"an unknown format": {env: map[string]string{"LOG_FORMAT": "xml"}, fails: "LOG_FORMAT=xml"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log, err := logging.New(&out, func(key string) string { return c.env[key] })
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("error %v, want %s", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			log.Info("hello")
			log.Debug("detail")
			if !strings.Contains(out.String(), c.shows) || strings.Contains(out.String(), "detail") != c.debug {
				t.Errorf("logged %q", out.String())
			}
		})
	}
}
