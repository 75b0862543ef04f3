package hosting_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/mcpservers/hosting"
)

func TestFormatsOfTheLog(t *testing.T) {
	for name, c := range map[string]struct {
		env    map[string]string
		quoted bool
		want   string // of the line; "" for an error
	}{
		"a file or a pipe":       {nil, false, `"level":"INFO"`},
		"quoted by an agent":     {nil, true, "level=INFO"},
		"as somebody wants it":   {map[string]string{"LOG_FORMAT": "text"}, false, "level=INFO"},
		"quoted, and JSON":       {map[string]string{"LOG_FORMAT": "json"}, true, `"level":"INFO"`},
		"a format there is not":  {map[string]string{"LOG_FORMAT": "xml"}, false, ""},
		"a level there is not":   {map[string]string{"LOG_LEVEL": "loud"}, false, ""},
		"a level and its format": {map[string]string{"LOG_LEVEL": "info"}, false, `"level":"INFO"`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log, err := hosting.NewLogger(func(name string) string { return c.env[name] }, &out, c.quoted)
			if err != nil || c.want == "" {
				if (err == nil) == (c.want == "") {
					t.Fatalf("error %v", err)
				}
				return
			}
			log.Info("hello")
			if !strings.Contains(out.String(), c.want) {
				t.Errorf("%q, want %q in it", out.String(), c.want)
			}
		})
	}
}

// A line about a call has the session and the trace of its caller, if they cannot forge a line.
func TestLinesNameTheCaller(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	for parent, want := range map[string]string{
		"00-" + trace + "-00f067aa0ba902b7-01": trace,
		"00-" + trace + "\nlevel=ERROR":        "",
		"":                                     "",
	} {
		r := mcp.CallToolRequest{Header: http.Header{"X-Session-Id": {"s1"}}}
		r.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{"traceparent": parent}}
		var out bytes.Buffer
		log, err := hosting.NewLogger(func(string) string { return "" }, &out, false)
		if err != nil {
			t.Fatal(err)
		}
		log.With(hosting.CallerAttrs(r)...).Info("tool")
		var line struct{ SID, Trace string }
		if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.SID != "s1" || line.Trace != want {
			t.Errorf("%q: %s (%v)", parent, out.String(), err)
		}
	}
}
