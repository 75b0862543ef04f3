package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"strings"
)

// Agent is what the document says without JavaScript.
type Agent struct {
	Name, Description, Version string
	Links                      []Link
	// ToolLogin is the host at which people log in for the tools, "" where the page does not offer that.
	ToolLogin string
}

// Link leads to a part of the API.
type Link struct{ Href, Label, About string }

// Page serves the document and its files. It is safe for concurrent use.
type Page struct {
	document file
	files    map[string]file
}

// New makes the page of an agent.
func New(a Agent) *Page {
	var document bytes.Buffer
	if err := documentTemplate.Execute(&document, struct {
		Agent
		Style, Script string
	}{a, address("style.css"), address("bundle.js")}); err != nil { // it has no more members than these
		panic(err)
	}
	return &Page{document: newFile("text/html; charset=utf-8", document.Bytes()), files: staticFiles}
}

// Document serves the document.
func (p *Page) Document(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", Policy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	p.document.serve(w, r)
}

// File serves a file below /page/. It reports whether there is one of that name.
func (p *Page) File(w http.ResponseWriter, r *http.Request, name string) bool {
	f, ok := p.files[name]
	if ok {
		f.serve(w, r)
	}
	return ok
}

// Policy is the Content-Security-Policy of the document: nothing but its own files, and no way
// to make a script of a text.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types lit-html dompurify"

// file is a file in both forms in which it is sent.
type file struct {
	contentType   string
	plain, zipped []byte
	tag           string // without quotation marks
}

func newFile(contentType string, data []byte) file {
	sum := sha256.Sum256(data)
	return file{contentType, data, zip(data), hex.EncodeToString(sum[:16])}
}

// version is the query of an address at which the file never changes.
func (f file) version() string { return f.tag[:16] }

// address returns the address of a file below the document.
func address(name string) string { return "page/" + name + "?v=" + staticFiles[name].version() }

// serve replies with the file. Browsers keep it and ask whether it has changed; at the address of
// its version they need not ask, and may keep the compiled script, too.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	header, data, tag := w.Header(), f.plain, f.tag
	header.Add("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		data, tag = f.zipped, f.tag+"-gzip"
	}
	header.Set("Content-Type", f.contentType)
	header.Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == f.version() {
		header.Set("Cache-Control", "max-age=31536000, immutable")
	}
	header.Set("ETag", `"`+tag+`"`)
	if matches(r.Header.Get("If-None-Match"), tag) {
		header.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // the client may have left
	}
}

// matches reports whether a list of entity tags contains a tag.
func matches(list, tag string) bool {
	for t := range strings.SplitSeq(list, ",") {
		if t = strings.Trim(strings.TrimPrefix(strings.TrimSpace(t), "W/"), `"`); t == tag {
			return true
		}
	}
	return false
}

func zip(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil { // a buffer takes everything
		panic(err)
	}
	return b.Bytes()
}

//go:generate go test -run ^TestTheScriptsAreUpToDate$ -update

var (
	//go:embed bundle.js
	script []byte
	//go:embed blocks.js
	blocks []byte
	//go:embed files/style.css
	style []byte
	//go:embed files/icon.svg
	icon []byte
	//go:embed files/index.html
	document string

	documentTemplate = template.Must(template.New("index.html").Parse(document))
	staticFiles      = map[string]file{
		"bundle.js": newFile("text/javascript; charset=utf-8", script),
		"blocks.js": newFile("text/javascript; charset=utf-8", blocks),
		"style.css": newFile("text/css; charset=utf-8", style),
		"icon.svg":  newFile("image/svg+xml", icon),
	}
)
