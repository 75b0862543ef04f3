package toolbox_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

func fileOf(uri, mimeType, blob string) mcp.Content {
	return mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: uri, MIMEType: mimeType, Blob: blob})
}

// openReturning returns a box with a server whose tools return these contents.
func openReturning(t *testing.T, results map[string][]mcp.Content) *toolbox.Toolbox {
	t.Helper()
	m := server.NewMCPServer("media", "1")
	for name, content := range results {
		m.AddTool(mcp.NewTool(name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: content}, nil
		})
	}
	return openServers(t, serve(t, m).server("web"))
}

func TestMediaOfAResult(t *testing.T) {
	const hello = "aGVsbG8="
	hi := []byte("hello")
	line := func(kind, mimeType string) string {
		return fmt.Sprintf(`{"type":%q,"mimeType":%q,"size":5}`, kind, mimeType)
	}
	tests := map[string]struct {
		content []mcp.Content
		text    string
		want    []toolbox.Media
	}{
		"a text has none": {[]mcp.Content{mcp.NewTextContent("a")}, "a", nil},
		"an image and a sound, in order": {
			[]mcp.Content{mcp.NewImageContent(hello, "image/png"), mcp.NewTextContent("and"), mcp.NewAudioContent(hello, "audio/L16; rate=44100")},
			line("image", "image/png") + "\nand\n" + line("audio", "audio/L16; rate=44100"),
			[]toolbox.Media{{MIMEType: "image/png", Data: hi}, {MIMEType: "audio/L16; rate=44100", Data: hi}},
		},
		"a file": {
			[]mcp.Content{fileOf("file:///b.pdf", "application/pdf", hello)},
			`{"type":"resource","mimeType":"application/pdf","uri":"file:///b.pdf","size":5}`,
			[]toolbox.Media{{MIMEType: "application/pdf", Name: "file:///b.pdf", Data: hi}},
		},
		"a long name": {
			[]mcp.Content{fileOf(strings.Repeat("x", 255)+"ü", "image/png", hello)},
			`{"type":"resource","mimeType":"image/png","uri":"` + strings.Repeat("x", 255) + `ü","size":5}`,
			[]toolbox.Media{{MIMEType: "image/png", Name: strings.Repeat("x", 255), Data: hi}},
		},
		"an embedded text and a link": {
			[]mcp.Content{
				mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "file:///a", MIMEType: "text/plain", Text: "inside"}),
				mcp.NewResourceLink("file:///c", "c", "", "image/png"),
			},
			`{"type":"resource","mimeType":"text/plain","uri":"file:///a","size":6}` + "\ninside\n" +
				`{"type":"resource_link","mimeType":"image/png","name":"c","uri":"file:///c"}`, nil,
		},
		"links that are none": {
			[]mcp.Content{
				mcp.NewResourceLink("notes.txt", "a", "", ""), mcp.NewResourceLink("", "b", "", ""), mcp.NewResourceLink("https://x/\x00", "c", "", ""),
				mcp.NewResourceLink("https://x/"+strings.Repeat("d", 2000), "d", "", ""), mcp.NewResourceLink("https://x/e", "e", "", "png"),
			},
			`{"type":"resource_link","name":"a","uri":"notes.txt"}` + "\n" + `{"type":"resource_link","name":"b"}` + "\n" +
				`{"type":"resource_link","name":"c","uri":"https://x/\u0000"}` + "\n" +
				`{"type":"resource_link","name":"d","uri":"https://x/` + strings.Repeat("d", 2000) + `"}` + "\n" +
				`{"type":"resource_link","mimeType":"png","name":"e","uri":"https://x/e"}`, nil,
		},
		"no type, or none that is one": {
			[]mcp.Content{mcp.NewImageContent(hello, ""), mcp.NewImageContent(hello, "png"), mcp.NewImageContent(hello, "image/\r\nX: y")},
			`{"type":"image","size":5}` + "\n" + line("image", "png") + "\n" + line("image", "image/\r\nX: y"),
			[]toolbox.Media{{MIMEType: toolbox.AnyMIMEType, Data: hi}, {MIMEType: toolbox.AnyMIMEType, Data: hi}, {MIMEType: toolbox.AnyMIMEType, Data: hi}},
		},
		"base64 without padding, and in lines": {
			[]mcp.Content{mcp.NewImageContent("aGVsbG8", "image/png"), mcp.NewImageContent("aGVs\nbG8=\n", "image/png")},
			line("image", "image/png") + "\n" + line("image", "image/png"),
			[]toolbox.Media{{MIMEType: "image/png", Data: hi}, {MIMEType: "image/png", Data: hi}},
		},
		"what is no base64 is told": {
			[]mcp.Content{mcp.NewImageContent("a*b?", "image/png"), mcp.NewImageContent("====", "image/png"), fileOf("file:///b", "image/png", "%")},
			`{"type":"image","mimeType":"image/png","size":3,"note":"not kept: it is not base64"}` + "\n" +
				`{"type":"image","mimeType":"image/png","note":"not kept: it is not base64"}` + "\n" +
				`{"type":"resource","mimeType":"image/png","uri":"file:///b","note":"not kept: it is not base64"}`, nil,
		},
		"nothing": {
			[]mcp.Content{mcp.NewImageContent("", "image/png"), fileOf("file:///b", "", "")},
			`{"type":"image","mimeType":"image/png"}` + "\n" + `{"type":"resource","uri":"file:///b"}`, nil,
		},
	}
	links := map[string][]contract.Link{
		"an embedded text and a link": {{URI: "file:///c", Name: "c", MIMEType: "image/png"}},
		"links that are none":         {{URI: "https://x/e", Name: "e", MIMEType: toolbox.AnyMIMEType}},
	}
	results := map[string][]mcp.Content{}
	for name, tt := range tests {
		results[name] = tt.content
	}
	box := openReturning(t, results)
	for name, tt := range tests {
		got := mustCall(t, box, toolbox.Call{Server: "web", Tool: name})
		if diff := cmp.Diff(toolbox.Result{Text: tt.text, Media: tt.want, Links: links[name]}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestMediaThatIsTooLargeOrTooMuchIsTold(t *testing.T) {
	whole := bytes.Repeat([]byte("x"), toolbox.MaxMedia)
	many := make([]mcp.Content, toolbox.MaxMediaCount+2)
	for i := range many {
		many[i] = mcp.NewImageContent("aGVsbG8=", "image/png")
	}
	box := openReturning(t, map[string][]mcp.Content{
		"large": {
			mcp.NewImageContent(base64.StdEncoding.EncodeToString(whole), "image/png"),
			mcp.NewImageContent(base64.StdEncoding.EncodeToString(append(whole, 'x')), "image/png"),
		},
		"many": many,
	})
	got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "large"})
	if len(got.Media) != 1 || !bytes.Equal(got.Media[0].Data, whole) {
		t.Errorf("got %d media", len(got.Media))
	}
	if want := `"size":10485761,"note":"not kept: it has more than 10485760 bytes"}`; !strings.HasSuffix(got.Text, want) || strings.Count(got.Text, "note") != 1 {
		t.Errorf("got %s", got.Text)
	}
	got = mustCall(t, box, toolbox.Call{Server: "web", Tool: "many"})
	if len(got.Media) != toolbox.MaxMediaCount || strings.Count(got.Text, `"note":"not kept: it comes after 16 others"`) != 2 {
		t.Errorf("got %d media of\n%s", len(got.Media), got.Text)
	}
}

func TestMediaOfAResource(t *testing.T) {
	eachKind(t, func(t *testing.T, s toolbox.Server) {
		got, err := openServers(t, s).ReadResource(t.Context(), toolbox.Access{Server: "web"}, "note://3")
		want := []toolbox.Media{{MIMEType: "image/png", Name: "note://3", Data: []byte("hello")}}
		if diff := cmp.Diff(want, got.Media); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

func TestMediaOfAPrompt(t *testing.T) {
	m := server.NewMCPServer("media", "1")
	m.AddPrompt(mcp.NewPrompt("look"), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{
			mcp.NewPromptMessage(mcp.RoleUser, mcp.NewImageContent("aGVsbG8=", "image/png")),
			mcp.NewPromptMessage(mcp.RoleAssistant, mcp.NewTextContent("Nice.")),
			mcp.NewPromptMessage(mcp.RoleUser, mcp.NewAudioContent("aGVsbG8=", "audio/wav")),
		}}, nil
	})
	got, err := openServers(t, serve(t, m).server("web")).GetPrompt(t.Context(), toolbox.Access{Server: "web"}, "look", nil)
	want := toolbox.Result{
		Text: `user: {"type":"image","mimeType":"image/png","size":5}` + "\n\nassistant: Nice.\n\n" +
			`user: {"type":"audio","mimeType":"audio/wav","size":5}`,
		Media: []toolbox.Media{{MIMEType: "image/png", Data: []byte("hello")}, {MIMEType: "audio/wav", Data: []byte("hello")}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestATokenInMediaIsHidden(t *testing.T) {
	data := base64.StdEncoding.EncodeToString([]byte("you said canary-1\xff"))
	box := openReturning(t, map[string][]mcp.Content{"tell": {fileOf("file:///canary-1", "text/plain", data)}})
	got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "tell", Bearer: "canary-1"})
	want := []toolbox.Media{{MIMEType: "text/plain", Name: "file:///[bearer token]", Data: []byte("you said [bearer token]\xff")}}
	if diff := cmp.Diff(want, got.Media); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
