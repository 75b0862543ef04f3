// Package drivetest is a server that speaks what package google uses of version 3 of the API of Google Drive, on
// the wire: queries, partial fields, multipart uploads, ranges, exports, revisions, and errors in the form of
// Google. Tests and conformance runs use it instead of Google.
//
//	d := drivetest.New()
//	folder := d.Folder("Reports", drivetest.Root)
//	s := httptest.NewServer(d)
package drivetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Root is the ID of My Drive.
const Root = "0AMyDriveRootOfTests"

// File is a file. Content is that of the last revision.
type File struct {
	ID, Name, Type string
	Parents        []string
	Content        []byte
	Trashed        bool
	Target         string // of a shortcut
	Hidden         bool   // not shared with the account
	DriveID        string // of a shared drive
	AppProperties  map[string]string
	Revisions      []string
	Version        int
	Modified       time.Time
}

// Server is a drive. It is safe for concurrent use.
type Server struct {
	// Before may answer a request itself, and then returns true. It is called without the lock.
	Before func(w http.ResponseWriter, r *http.Request) bool
	// After is called when a request was carried out, before it is answered. If it returns true there is no
	// answer: the connection breaks.
	After func(r *http.Request) bool

	mu    sync.Mutex
	files map[string]*File
	pages map[string]query
	n     int
	// tokens by value
	tokens map[string]Token
}

// Token is what Google says of a token.
type Token struct{ Audience, Subject, Scope string }

// New returns a drive with nothing but Root.
func New() *Server {
	s := &Server{files: map[string]*File{}, pages: map[string]query{}, tokens: map[string]Token{}}
	s.files[Root] = &File{ID: Root, Name: "My Drive", Type: TypeFolder, Version: 1}
	return s
}

// Types of Google.
const (
	TypeFolder   = "application/vnd.google-apps.folder"
	TypeShortcut = "application/vnd.google-apps.shortcut"
	TypeDocument = "application/vnd.google-apps.document"
)

func (s *Server) id() string {
	s.n++
	return fmt.Sprintf("1test_file_id-%06d", s.n)
}

func (f *File) revise() {
	f.Version++
	f.Revisions = append(f.Revisions, fmt.Sprintf("0B-rev-%s-%d", f.ID, len(f.Revisions)+1))
}

// Put adds a file, or replaces one with the same ID, and returns its ID.
func (s *Server) Put(f File) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.ID == "" {
		f.ID = s.id()
	}
	if !strings.HasPrefix(f.Type, "application/vnd.google-apps.") {
		f.revise()
	}
	f.Modified = time.Date(2026, 3, 1, 12, 0, s.n, 0, time.UTC)
	s.files[f.ID] = &f
	return f.ID
}

// Folder adds a folder.
func (s *Server) Folder(name, parent string) string {
	return s.Put(File{Name: name, Type: TypeFolder, Parents: []string{parent}})
}

// Text adds a text file.
func (s *Server) Text(name, parent, content string) string {
	return s.Put(File{Name: name, Type: "text/plain", Parents: []string{parent}, Content: []byte(content)})
}

// Get returns a copy of a file.
func (s *Server) Get(id string) File {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[id]; f != nil {
		return *f
	}
	return File{}
}

// Change changes a file as somebody else does; content tells whether a revision is made.
func (s *Server) Change(id string, content bool, change func(*File)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.files[id])
	if content {
		s.files[id].revise()
	}
}

// Named returns the files with a name, by ID.
func (s *Server) Named(name string) (list []File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f.Name == name {
			list = append(list, *f)
		}
	}
	slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// Issue makes a token valid.
func (s *Server) Issue(value string, t Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[value] = t
}

// Revoke makes a token invalid.
func (s *Server) Revoke(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tokens, value)
}

// Fail answers with an error in the form of Google.
func Fail(w http.ResponseWriter, status int, reason, message string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"code": status, "message": message, "errors": []map[string]string{{"message": message, "domain": "global", "reason": reason}},
	}})
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Before != nil && s.Before(w, r) {
		return
	}
	switch {
	case r.URL.Path == "/token":
		s.token(w, r)
		return
	case r.URL.Path == "/tokeninfo":
		s.tokenInfo(w, r)
		return
	}
	s.mu.Lock()
	_, ok := s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	s.mu.Unlock()
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer realm="https://accounts.google.com/", error="invalid_token"`)
		Fail(w, http.StatusUnauthorized, "authError", "Request had invalid authentication credentials.")
		return
	}
	answer := s.carryOut(r)
	if s.After != nil && s.After(r) {
		panic(http.ErrAbortHandler)
	}
	answer(w)
}

// carryOut carries a request out, and returns what answers it.
func (s *Server) carryOut(r *http.Request) func(http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/upload")
	rest, ok := strings.CutPrefix(path, "/drive/v3/files")
	if !ok {
		return failing(http.StatusNotFound, "notFound", "Not Found")
	}
	id, more, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	switch {
	case id == "" && r.Method == http.MethodGet:
		return s.list(r)
	case id == "" && r.Method == http.MethodPost:
		return s.create(r)
	case id == "generateIds":
		return answering(r, map[string]any{"kind": "drive#generatedIds", "space": "drive", "ids": []string{s.id()}})
	}
	if id == "root" {
		id = Root
	}
	f := s.files[id]
	if f == nil || f.Hidden || f.DriveID != "" && r.URL.Query().Get("supportsAllDrives") != "true" {
		return failing(http.StatusNotFound, "notFound", "File not found: "+id+".")
	}
	switch {
	case more == "export":
		return export(f, r)
	case more == "revisions":
		list := []map[string]any{}
		for _, revision := range f.Revisions {
			list = append(list, map[string]any{"id": revision, "mimeType": f.Type})
		}
		return answering(r, map[string]any{"kind": "drive#revisionList", "revisions": list})
	case r.Method == http.MethodGet && r.URL.Query().Get("alt") == "media":
		return media(f, r)
	case r.Method == http.MethodGet:
		return answering(r, describe(f))
	case r.Method == http.MethodPatch:
		return s.update(f, r)
	case r.Method == http.MethodDelete:
		delete(s.files, id)
		return func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) }
	}
	return failing(http.StatusMethodNotAllowed, "badRequest", "Method not allowed")
}

func failing(status int, reason, message string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { Fail(w, status, reason, message) }
}

// answering answers with the fields that the request asks for.
func answering(r *http.Request, value map[string]any) func(http.ResponseWriter) {
	text, err := json.Marshal(project(value, cmp.Or(r.URL.Query().Get("fields"), "kind,id,name,mimeType,files(kind,id,name,mimeType),nextPageToken,incompleteSearch,ids,revisions(id)")))
	if err != nil {
		return failing(http.StatusInternalServerError, "internalError", err.Error())
	}
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		_, _ = w.Write(text)
	}
}

// describe is a file on the wire. int64 are strings there.
func describe(f *File) map[string]any {
	out := map[string]any{
		"kind": "drive#file", "id": f.ID, "name": f.Name, "mimeType": f.Type, "trashed": f.Trashed, "version": strconv.Itoa(f.Version),
		"modifiedTime": f.Modified.Format("2006-01-02T15:04:05.000Z"),
	}
	if len(f.Parents) > 0 {
		out["parents"] = f.Parents
	}
	if len(f.AppProperties) > 0 {
		out["appProperties"] = f.AppProperties
	}
	if n := len(f.Revisions); n > 0 {
		out["headRevisionId"], out["size"] = f.Revisions[n-1], strconv.Itoa(len(f.Content))
	}
	if f.Target != "" {
		out["shortcutDetails"] = map[string]any{"targetId": f.Target, "targetMimeType": "text/plain"}
	}
	if f.DriveID != "" {
		out["driveId"] = f.DriveID
	}
	return out
}

// project keeps the fields of a mask such as a,b(c,d).
func project(value map[string]any, mask string) map[string]any {
	out := map[string]any{}
	for mask != "" {
		end := strings.IndexAny(mask, ",(")
		if end < 0 {
			end = len(mask)
		}
		name, inner, nested := mask[:end], "", false
		mask = mask[end:]
		if strings.HasPrefix(mask, "(") {
			depth, i := 0, 0
			for i = range mask {
				if mask[i] == '(' {
					depth++
				} else if mask[i] == ')' {
					if depth--; depth == 0 {
						break
					}
				}
			}
			inner, mask, nested = mask[1:i], mask[i+1:], true
		}
		mask = strings.TrimPrefix(mask, ",")
		v, ok := value[name]
		if !ok {
			continue
		}
		if !nested {
			out[name] = v
			continue
		}
		switch v := v.(type) {
		case map[string]any:
			out[name] = project(v, inner)
		case []map[string]any:
			list := []map[string]any{}
			for _, one := range v {
				list = append(list, project(one, inner))
			}
			out[name] = list
		}
	}
	return out
}
