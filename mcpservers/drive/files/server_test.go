package files_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"agent-stop-and-go/mcpservers/drive/files"
	"agent-stop-and-go/mcpservers/drive/google/drivetest"
	"agent-stop-and-go/mcpservers/drive/store"
	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/lint"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// drive is a folder of Google Drive, for a service account.
func drive(t *testing.T) (*drivetest.Server, *fixture) {
	t.Helper()
	at := drivetest.New()
	s := httptest.NewServer(at)
	t.Cleanup(s.Close)
	folder := at.Folder("Reports", drivetest.Root)
	key, err := drivetest.KeyFile(s.URL)
	must(t, err)
	path := filepath.Join(t.TempDir(), "key.json")
	must(t, os.WriteFile(path, key, 0o600))
	return at, newFixture(t, func(c *files.Config) {
		c.Google = files.GoogleConfig{Folder: folder, KeyFile: path, Endpoint: s.URL}
	})
}

func inFolder(t *testing.T) (string, *fixture) {
	t.Helper()
	dir := t.TempDir()
	return dir, newFixture(t, func(c *files.Config) { c.Path = dir })
}

func bucket(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, func(c *files.Config) { c.Bucket = "mem://?prefix=team/" })
}

// The tools are the same everywhere.
func TestToolsOfEveryPlace(t *testing.T) {
	_, onDrive := drive(t)
	_, local := inFolder(t)
	for name, f := range map[string]*fixture{"drive": onDrive, "folder": local, "bucket": bucket(t)} {
		t.Run(name, func(t *testing.T) {
			var made files.Created
			text := f.do(t, "create_file", args{"name": "plan.txt", "content": "first\n"}, &made)
			if id := made.File.ID; text != "Created 'plan.txt' — id: "+id {
				t.Error(text)
			}
			id := args{"id": made.File.ID}
			if text := f.fails(t, "create_file", args{"name": "plan.txt", "content": "x"}); !strings.Contains(text, "with this name already") {
				t.Error(text)
			}
			var added store.Appended
			if text := f.do(t, "append_file", args{"id": made.File.ID, "content": "second\n", "version": made.File.Version}, &added); text != "Appended to file id: "+made.File.ID || added.File.Size != 13 {
				t.Error(text, added)
			}
			if text := f.fails(t, "append_file", args{"id": made.File.ID, "content": "third\n", "version": made.File.Version}); !strings.Contains(text, "has changed") {
				t.Error(text)
			}
			var reading files.Reading
			if text := f.do(t, "read_file", id, &reading); text != "first\nsecond\n" || reading.Text != text || reading.Next != 0 {
				t.Errorf("%q %+v", text, reading)
			}
			var described store.File
			if text := f.do(t, "stat_file", id, &described); described.Size != 13 || described.Version != added.File.Version || !strings.HasPrefix(text, `file "plan.txt", 13 bytes, text/plain`) {
				t.Error(text, described)
			}
			var list store.Listing
			if text := f.do(t, "list_files", args{}, &list); len(list.Files) != 1 || list.Files[0].ID != made.File.ID || !strings.HasPrefix(text, `file "plan.txt", 13 bytes`) {
				t.Error(text)
			}
			if text := f.do(t, "search_files", args{"name": "PLAN"}, &list); len(list.Files) != 1 {
				t.Error(text)
			}
			if text := f.do(t, "search_files", args{"name": "other"}, &list); text != "No file has such a name." || list.Files == nil {
				t.Error(text)
			}
			if text := f.do(t, "file_preview", args{"tool": "delete_file", "arguments": id}, nil); !strings.HasPrefix(text, `Delete, into the trash: file "plan.txt", 13 bytes`) {
				t.Error(text)
			}
			if text := f.do(t, "file_preview", args{"tool": "append_file", "arguments": args{"id": made.File.ID, "content": "xyz", "version": "other"}}, nil); !strings.HasPrefix(text, "The call would be refused: the file has changed") {
				t.Error(text)
			}
			if text := f.do(t, "file_preview", args{"tool": "create_file", "arguments": args{"name": "new.txt", "content": "xyz"}}, nil); !strings.HasPrefix(text, `Create "new.txt" (text/plain; charset=utf-8, 3 bytes) in the folder`) {
				t.Error(text)
			}
			var gone store.Deleted
			if text := f.do(t, "delete_file", id, &gone); !strings.HasPrefix(text, "Deleted file id: "+made.File.ID+"\nIt is in ") || gone.Trash == "" {
				t.Error(text)
			}
			for _, tool := range []string{"stat_file", "read_file", "delete_file"} {
				if text := f.fails(t, tool, id); !strings.Contains(text, "no such file") {
					t.Errorf("%s: %s", tool, text)
				}
			}
			if text := f.do(t, "list_files", args{}, nil); text != "The folder is empty." {
				t.Error(text)
			}
		})
	}
}

func TestToolsSayWhatTheyDo(t *testing.T) {
	_, onDrive := drive(t)
	_, local := inFolder(t)
	for name, f := range map[string]*fixture{"drive": onDrive, "folder": local, "bucket": bucket(t)} {
		if faults, err := lint.Server(t.Context(), f.Client); err != nil || len(faults) > 0 {
			t.Errorf("%s: %v %v", name, faults, err)
		}
		list, err := f.ListTools(t.Context(), mcp.ListToolsRequest{})
		must(t, err)
		var got []string
		for _, tool := range list.Tools {
			hint := "adds"
			if *tool.Annotations.ReadOnlyHint {
				hint = "reads"
			} else if *tool.Annotations.DestructiveHint {
				hint = "destroys"
			}
			got = append(got, tool.Name+" "+hint)
		}
		want := "append_file destroys, create_file adds, create_folder adds, delete_file destroys, file_preview reads, list_files reads, read_file reads, search_files reads, stat_file reads"
		if name == "bucket" {
			want = strings.Replace(want, "create_folder adds, ", "", 1)
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %s", name, text)
		}
	}
	for change, want := range map[string]int{"read only": 4, "never": 8} {
		f := newFixture(t, func(c *files.Config) {
			c.Path = t.TempDir()
			c.ReadOnly = change == "read only"
			c.Delete = map[string]string{"never": files.DeleteNever, "read only": files.DeleteTrash}[change]
		})
		if list, err := f.ListTools(t.Context(), mcp.ListToolsRequest{}); err != nil || len(list.Tools) != want {
			t.Errorf("%s: %d tools", change, len(list.Tools))
		}
	}
}

func TestTextIsCutAtTheEndOfACharacter(t *testing.T) {
	dir, f := inFolder(t)
	const text = "aäß€日本語𝄞x\u0301ö"
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o600))
	for limit := 4; limit < len(text)+2; limit++ {
		var got strings.Builder
		offset := int64(0)
		for {
			var r files.Reading
			f.do(t, "read_file", args{"id": "a.txt", "limit": limit, "offset": offset}, &r)
			if !utf8.ValidString(r.Text) || strings.ContainsRune(r.Text, utf8.RuneError) {
				t.Fatalf("limit %d: %q", limit, r.Text)
			}
			got.WriteString(r.Text)
			if r.Next == 0 {
				break
			}
			offset = r.Next
		}
		if got.String() != text {
			t.Errorf("limit %d: %q", limit, got.String())
		}
	}
	if shown := f.do(t, "read_file", args{"id": "a.txt", "limit": 4, "offset": 2}, nil); !strings.HasPrefix(shown, "ß\n(there is more: read on with offset 5)") {
		t.Errorf("from the middle of a character: %q", shown)
	}
	for _, limit := range []int{0, 3, 1 << 30} {
		if text := f.fails(t, "read_file", args{"id": "a.txt", "limit": limit}); !strings.Contains(text, "out of range") {
			t.Error(text)
		}
	}
}

func TestContentThatIsNoText(t *testing.T) {
	dir, f := inFolder(t)
	binary := []byte{0x89, 'P', 'N', 'G', 0, 0xff, 0xfe}
	must(t, os.WriteFile(filepath.Join(dir, "a.png"), binary, 0o600))
	if text := f.fails(t, "read_file", args{"id": "a.png"}); !strings.Contains(text, `"a.png" is no text in UTF-8 (image/png, 7 bytes)`) {
		t.Error(text)
	}
	result, err := f.call(t, "read_file", "", args{"id": "a.png", "encoding": "base64"})
	must(t, err)
	blob, ok := result.Content[1].(mcp.EmbeddedResource).Resource.(mcp.BlobResourceContents)
	if !ok || blob.Blob != base64.StdEncoding.EncodeToString(binary) || blob.MIMEType != "image/png" {
		t.Errorf("%+v", result.Content)
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	_, f := inFolder(t)
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"read_file", args{}, "id is required"},
		{"read_file", args{"id": "../x"}, "consists of dots"},
		{"read_file", args{"id": "a", "offset": -1}, "offset -1 is out of range"},
		{"read_file", args{"id": "a", "encoding": "hex"}, "is unknown"},
		{"read_file", args{"file_id": "a"}, "unknown argument"},
		{"list_files", args{"limit": 101}, "out of range"},
		{"create_file", args{"name": "a/b", "content": ""}, "slash"},
		{"create_file", args{"name": "a", "content": "", "folder": ".."}, "consists of dots"},
		{"create_file", args{"name": "a", "content": strings.Repeat("x", 1<<20+1)}, "at most 1048576"},
		{"create_file", args{"name": "a", "content": "", "type": "text"}, "not a media type"},
		{"append_file", args{"id": "a"}, "content is required"},
		{"search_files", args{"name": ""}, "name is required"},
		{"file_preview", args{"tool": "append_file", "arguments": args{"other": "a"}}, "unknown argument"},
	} {
		if text := f.fails(t, c.tool, c.args); !strings.Contains(text, c.want) {
			t.Errorf("%s %v: %s", c.tool, c.args, text)
		}
	}
}

func TestTheSameKeyChangesOnce(t *testing.T) {
	_, onDrive := drive(t)
	_, local := inFolder(t)
	for name, f := range map[string]*fixture{"drive": onDrive, "folder": local, "bucket": bucket(t)} {
		var made files.Created
		f.do(t, "create_file", args{"name": "a.txt", "content": ""}, &made)
		var texts [2]string
		for i := range texts {
			result, err := f.call(t, "append_file", "key", args{"id": made.File.ID, "content": "<&>"})
			must(t, err)
			texts[i] = fmt.Sprint(result.Content, result.IsError)
		}
		if text := f.do(t, "read_file", args{"id": made.File.ID}, nil); text != "<&>" || texts[0] != texts[1] {
			t.Errorf("%s: %q %v", name, text, texts)
		}
		if result, err := f.call(t, "append_file", "key", args{"id": made.File.ID, "content": "other"}); err != nil || !result.IsError {
			t.Errorf("%s: the key is taken for another call: %v", name, err)
		}
	}
	if onDrive.server.RemembersKeys() || local.server.RemembersKeys() || !bucket(t).server.RemembersKeys() {
		t.Error("only buckets remember keys after a restart")
	}
}

// What is not known is an error of the protocol: a result would say that it is known.
func TestAnUnknownOutcomeIsNoResult(t *testing.T) {
	at, f := drive(t)
	var made files.Created
	f.do(t, "create_file", args{"name": "a.txt", "content": "x"}, &made)
	var sent atomic.Int64
	at.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/upload/") {
			sent.Add(1)
			panic(http.ErrAbortHandler)
		}
		return false
	}
	result, err := f.call(t, "append_file", "key", args{"id": made.File.ID, "content": "y"})
	if err == nil || !strings.Contains(err.Error(), "not known whether") || sent.Load() != 1 {
		t.Errorf("%+v %v, sent %d times", result, err, sent.Load())
	}
	at.Before = nil
	if result, err := f.call(t, "append_file", "key", args{"id": made.File.ID, "content": "y"}); err != nil || result.IsError || string(at.Get(made.File.ID).Content) != "xy" {
		t.Errorf("%+v %v", result, err)
	}
}

func TestCallersUseTheirOwnLogins(t *testing.T) {
	at := drivetest.New()
	s := httptest.NewServer(at)
	t.Cleanup(s.Close)
	folder := at.Folder("Reports", drivetest.Root)
	at.Text("a.txt", folder, "text")
	for name, audience := range map[string]string{"alice": "ours", "mallory": "theirs"} {
		at.Issue(name, drivetest.Token{Audience: audience, Subject: name, Scope: drivetest.Scope})
	}
	config := files.DefaultConfig()
	config.Google = files.GoogleConfig{Folder: folder, Login: true, ClientIDs: []string{"ours"}, Endpoint: s.URL}
	server, m := newServer(t, config)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	go func() {
		_ = hosting.NewHTTP(hosting.Options{Settings: config.Settings, Guard: server.Guard()}, m).Serve(t.Context(), listener)
	}()
	address := "http://" + listener.Addr().String() + "/mcp"
	for token, want := range map[string]int{"": 401, "mallory": 401, "nobody": 401} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader("{}"))
		must(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(r)
		must(t, err)
		response.Body.Close()
		if response.StatusCode != want || !strings.Contains(response.Header.Get("WWW-Authenticate"), "resource_metadata") {
			t.Errorf("%q: %d %v", token, response.StatusCode, response.Header)
		}
	}
	c, err := client.NewStreamableHttpClient(address, transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer alice"}))
	must(t, err)
	f := &fixture{connect(t, c), server}
	if text := f.do(t, "search_files", args{"name": "a"}, nil); !strings.Contains(text, `"a.txt"`) {
		t.Error(text)
	}
	f.do(t, "create_file", args{"name": "b.txt", "content": "b"}, nil)
	if made := at.Named("b.txt"); len(made) != 1 || made[0].Parents[0] != folder {
		t.Errorf("%+v", made)
	}
}

func TestWrongSettingsAreRefused(t *testing.T) {
	const id = "1test_file_id-000001"
	for want, change := range map[string]func(*files.Config){
		"no folder: name one":     func(c *files.Config) {},
		"exclude each other":      func(c *files.Config) { c.Path, c.Bucket = "x", "mem://" },
		"must begin with one of":  func(c *files.Config) { c.Bucket = "file:///etc" },
		"delete \"x\" is unknown": func(c *files.Config) { c.Path, c.Delete = "x", "x" },
		"is not the ID of a fold": func(c *files.Config) { c.Google.Folder = "root" },
		"google has no folder":    func(c *files.Config) { c.Path, c.Google.KeyFile = "x", "key.json" },
		"needs google.client_ids": func(c *files.Config) { c.Google = files.GoogleConfig{Folder: id, Login: true} },
		"login needs HTTP": func(c *files.Config) {
			c.Google, c.Transport = files.GoogleConfig{Folder: id, Login: true, ClientIDs: []string{"x"}}, hosting.TransportStdio
		},
		"login excludes google.key": func(c *files.Config) {
			c.Google = files.GoogleConfig{Folder: id, Login: true, ClientIDs: []string{"x"}, KeyFile: "k"}
		},
		"google.endpoint must begin":    func(c *files.Config) { c.Google = files.GoogleConfig{Folder: id, Endpoint: "http://evil.example"} },
		"max_read 1 is out of range":    func(c *files.Config) { c.Path, c.MaxRead = "x", 1 },
		"timeout 1ms is out of range":   func(c *files.Config) { c.Path, c.Timeout = "x", hosting.Span(1e6) },
		"no credentials: name the key":  func(c *files.Config) { c.Google.Folder = id },
		"read the key of the service a": func(c *files.Config) { c.Google = files.GoogleConfig{Folder: id, KeyFile: "missing.json"} },
	} {
		config := files.DefaultConfig()
		change(&config)
		if _, err := files.New(t.Context(), config, noEnv, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := files.DefaultConfig().Validate(); !errors.Is(err, files.ErrNoFolder) {
		t.Error(err)
	}
}
