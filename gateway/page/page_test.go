package page_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"agent-stop-and-go/gateway/page"
)

var agent = page.Agent{
	Name: "help <script>", Description: "It & others", Version: "v1",
	Links: []page.Link{{Href: "docs", Label: "API", About: "to read"}},
}

// get requests the document or a file.
func get(t *testing.T, name string, header ...string) *http.Response {
	t.Helper()
	name, query, _ := strings.Cut(name, "?")
	r := httptest.NewRequest("GET", "/?"+query, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w, p := httptest.NewRecorder(), page.New(agent)
	if name == "" {
		p.Document(w, r)
	} else if !p.File(w, r, name) {
		t.Fatalf("there is no file %s", name)
	}
	return w.Result()
}

func text(t *testing.T, reply *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTheDocumentHasOnlyItsOwnFilesAndEscapesTexts(t *testing.T) {
	reply := get(t, "")
	document := text(t, reply)
	for _, want := range []string{"help &lt;script&gt;", "It &amp; others", `href="docs"`, "This page needs JavaScript"} {
		if !strings.Contains(document, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="(page/[^"]*)"`).FindAllStringSubmatch(document, -1) {
		get(t, strings.TrimPrefix(m[1], "page/"))
	}
	if inline := regexp.MustCompile(`<script>|<style| on\w+=| style=`).FindString(document); inline != "" {
		t.Errorf("it has %q", inline)
	}
	policy := reply.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self';", "require-trusted-types-for 'script'", "frame-ancestors 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %q: %s", want, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("the policy allows too much: %s", policy)
	}
}

func TestFilesAreKeptUntilTheyChange(t *testing.T) {
	for _, name := range []string{"", "bundle.js", "style.css", "icon.svg"} {
		for _, encoding := range []string{"", "gzip"} {
			first := get(t, name, "Accept-Encoding", encoding)
			tag := first.Header.Get("ETag")
			if tag == "" || first.Header.Get("Cache-Control") != "no-cache" || first.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s: %v", name, first.Header)
			}
			if again := get(t, name, "Accept-Encoding", encoding, "If-None-Match", `"other", W/`+tag); again.StatusCode != 304 || text(t, again) != "" {
				t.Errorf("%s: unchanged, it is %d", name, again.StatusCode)
			}
			if changed := get(t, name, "Accept-Encoding", encoding, "If-None-Match", `"other"`); changed.StatusCode != 200 {
				t.Errorf("%s: changed, it is %d", name, changed.StatusCode)
			}
		}
	}
}

// A file that never changes at its address is not asked for again.
func TestTheDocumentNamesVersions(t *testing.T) {
	document := text(t, get(t, ""))
	for _, name := range []string{"bundle.js", "style.css"} {
		m := regexp.MustCompile(`"page/(` + regexp.QuoteMeta(name) + `\?v=[0-9a-f]{16})"`).FindStringSubmatch(document)
		if m == nil {
			t.Fatalf("no version of %s in %s", name, document)
		}
		for _, encoding := range []string{"", "gzip"} {
			if got := get(t, m[1], "Accept-Encoding", encoding).Header.Get("Cache-Control"); got != "max-age=31536000, immutable" {
				t.Errorf("%s: %s", m[1], got)
			}
		}
		if got := get(t, name+"?v=0123456789abcdef").Header.Get("Cache-Control"); got != "no-cache" {
			t.Errorf("another version of %s: %s", name, got)
		}
	}
}

func TestFilesAreCompressed(t *testing.T) {
	reply := get(t, "bundle.js", "Accept-Encoding", "gzip, br")
	r, err := gzip.NewReader(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if plain := text(t, get(t, "bundle.js")); err != nil || plain != string(data) || reply.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%v, %v", err, reply.Header)
	}
}

func TestOtherNamesAreNoFiles(t *testing.T) {
	for _, name := range []string{"index.html", "../page.go", "npm/SHA256SUMS", "npm", "", "main.js", "/bundle.js"} {
		if name != "" && page.New(agent).File(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), name) {
			t.Errorf("%q is served", name)
		}
	}
}

// files calls do with each file of the page and its content.
func files(t *testing.T, do func(name, content string)) {
	t.Helper()
	root := os.DirFS("files")
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		do(name, string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

const maxScript = 60_000 // of all files together

func TestTheScriptIsSmall(t *testing.T) {
	size := 0
	for name := range scripts {
		n := len(text(t, get(t, name, "Accept-Encoding", "gzip")))
		t.Logf("%s: %d bytes, compressed", name, n)
		size += n
	}
	if size > maxScript {
		t.Errorf("%d bytes of script, compressed: more than %d", size, maxScript)
	}
}

var importForm = regexp.MustCompile(`(?m)(?:^(?:import|export) (?:[^"]* from )?|\bimport\()"([^"]+)"`)

// doc.go names every module, every module is in use, and nothing makes scripts of texts.
func TestModules(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{"main.js": true}
	var modules []string
	files(t, func(name, content string) {
		if path.Ext(name) != ".js" || strings.HasPrefix(name, "npm/") {
			return
		}
		modules = append(modules, name)
		if !strings.Contains(string(doc), name) {
			t.Errorf("doc.go does not name %s", name)
		}
		for _, m := range importForm.FindAllStringSubmatch(content, -1) {
			used[path.Join(path.Dir(name), m[1])] = true
		}
		if bad := regexp.MustCompile(`\beval\(|new Function|innerHTML =|insertAdjacentHTML|document\.write|unsafeHTML| style=`).FindString(content); bad != "" {
			t.Errorf("%s has %q", name, bad)
		}
		if strings.Contains(content, ".innerHTML=") && name != "markdown.js" {
			t.Errorf("%s makes HTML of a text", name)
		}
	})
	for _, name := range modules {
		if !used[name] {
			t.Errorf("no module imports %s", name)
		}
	}
}

// The files of others are those that SHA256SUMS names, unchanged, each package with its licence.
func TestFilesOfOthersAreUnchanged(t *testing.T) {
	sums, err := os.ReadFile("files/npm/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	var found strings.Builder
	licences := map[string]bool{}
	files(t, func(name, content string) {
		rest, ok := strings.CutPrefix(name, "npm/")
		if !ok || rest == "SHA256SUMS" {
			return
		}
		of, file, _ := strings.Cut(rest, "/")
		licences[of] = licences[of] || file == "LICENSE"
		sum := sha256.Sum256([]byte(content))
		fmt.Fprintf(&found, "%s  %s\n", hex.EncodeToString(sum[:]), rest)
	})
	if found.String() != string(sums) {
		t.Errorf("SHA256SUMS has\n%s\nthe files are\n%s", sums, found.String())
	}
	for of, has := range licences {
		if !has {
			t.Errorf("%s has no licence", of)
		}
	}
	if len(licences) != 3 {
		t.Errorf("packages %v", licences)
	}
}
