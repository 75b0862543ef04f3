package filesystem_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/filesystem"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
)

func TestFilesAreResources(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) {
		c.MaxFullReadSize = 100
		c.Roots[1].AllowedTools = []string{"stat_file"}
		c.Roots[2].Name = "my docs"
	})
	put(t, f.outside, map[string]string{"secret": secret})
	put(t, f.work, map[string]string{"sub/a b.txt": "hello", "data": "\x00\xff", "é.md": "# x", "out": "->../outside/secret", "big": strings.Repeat("x", 101), "page.html": "<p>", "50%": "half"})
	put(t, f.docs, map[string]string{"a": "doc"})
	put(t, f.other, map[string]string{"a": "other"})
	templates, err := f.ListResourceTemplates(t.Context(), mcp.ListResourceTemplatesRequest{})
	must(t, err)
	if len(templates.ResourceTemplates) != 1 || templates.ResourceTemplates[0].URITemplate.Raw() != "file-root://{root}/{+path}" {
		t.Errorf("got %+v", templates)
	}
	for uri, want := range map[string]mcp.ResourceContents{
		"file-root://work/sub/a%20b.txt": mcp.TextResourceContents{MIMEType: "text/plain; charset=utf-8", Text: "hello"},
		"file-root://work/page.html":     mcp.TextResourceContents{MIMEType: "text/html; charset=utf-8", Text: "<p>"},
		"file-root://work/data":          mcp.BlobResourceContents{MIMEType: "application/octet-stream", Blob: "AP8="},
		"file-root://work/50%25":         mcp.TextResourceContents{MIMEType: "text/plain; charset=utf-8", Text: "half"},
		"file-root://my%20docs/a":        mcp.TextResourceContents{MIMEType: "text/plain; charset=utf-8", Text: "doc"},
	} {
		got, err := f.read(t, uri)
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		switch w := want.(type) {
		case mcp.TextResourceContents:
			w.URI, want = uri, w
			if diff := cmp.Diff(w, got[0]); diff != "" {
				t.Error(diff)
			}
		case mcp.BlobResourceContents:
			w.URI, want = uri, w
			if diff := cmp.Diff(w, got[0]); diff != "" {
				t.Error(diff)
			}
		}
	}
	if got, err := f.read(t, "file-root://work/%C3%A9.md"); err != nil || got[0].(mcp.TextResourceContents).Text != "# x" {
		t.Errorf("%v %v", got, err)
	}
	for uri, want := range map[string]string{
		"file-root://work/none":                  "file not found: none",
		"file-root://none/a":                     "not found",
		"file-root://other/a":                    "not found",
		"file-root://work/out":                   "path resolves outside root boundary",
		"file-root://work/%2e%2e/outside/secret": "path resolves outside root boundary",
		"file-root://work/../outside/secret":     "path resolves outside root boundary",
		"file-root://work/sub":                   "path is a directory, not a file: sub",
		"file-root://work/big":                   "file too large for full read (size: 101B, limit: 100B)",
		"file-root://work/%00":                   "path contains null bytes",
		"file-root://work/":                      "",
		"file:///etc/passwd":                     "not found",
	} {
		got, err := f.read(t, uri)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), f.work) {
			t.Errorf("%s: got %v, %v", uri, got, err)
		}
	}
}

func (f fixture) read(t *testing.T, uri string) ([]mcp.ResourceContents, error) {
	t.Helper()
	var request mcp.ReadResourceRequest
	request.Params.URI = uri
	result, err := f.ReadResource(t.Context(), request)
	if err != nil {
		return nil, err
	}
	return result.Contents, nil
}

func TestWithoutReadableRootsThereAreNoResources(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) {
		for i := range c.Roots {
			c.Roots[i].AllowedTools = []string{"list_folder"}
		}
	})
	got, err := f.ListResourceTemplates(t.Context(), mcp.ListResourceTemplatesRequest{})
	if err == nil && len(got.ResourceTemplates) > 0 {
		t.Errorf("got %+v", got)
	}
}
