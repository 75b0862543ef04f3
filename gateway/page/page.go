package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// Agent is what the document says without JavaScript.
type Agent struct {
	Name, Description, Version string
	Links                      []Link
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
	if err := documentTemplate.Execute(&document, a); err != nil { // it has no more members than a has
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
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; " +
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

// serve replies with the file. Browsers keep it and ask whether it has changed.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	header, data, tag := w.Header(), f.plain, f.tag
	header.Add("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		data, tag = f.zipped, f.tag+"-gzip"
	}
	header.Set("Content-Type", f.contentType)
	header.Set("Cache-Control", "no-cache")
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

var (
	//go:embed files
	embedded embed.FS

	documentTemplate = template.Must(template.ParseFS(embedded, "files/index.html"))
	staticFiles      = readFiles()
)

// types are the files that are served, by the end of their names.
var types = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

func readFiles() map[string]file {
	files := map[string]file{}
	err := fs.WalkDir(embedded, "files", func(name string, entry fs.DirEntry, err error) error {
		contentType := types[path.Ext(name)]
		if err != nil || entry.IsDir() || contentType == "" {
			return err
		}
		data, err := embedded.ReadFile(name)
		files[strings.TrimPrefix(name, "files/")] = newFile(contentType, data)
		return err
	})
	if err != nil { // the files are in the binary
		panic(err)
	}
	return files
}
