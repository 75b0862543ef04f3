package drivetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// query is what a page token stands for.
type query struct {
	q    string
	from int
}

var term = regexp.MustCompile(`^(?:'((?:[^'\\]|\\.)*)' in parents|trashed = (true|false)|name (=|contains) '((?:[^'\\]|\\.)*)'|appProperties has \{ key='((?:[^'\\]|\\.)*)' and value='((?:[^'\\]|\\.)*)' \})(?: and |$)`)

var escaped = regexp.MustCompile(`\\(.)`)

// matcher reads a query, of the terms that are used.
func matcher(q string) (func(*File) bool, bool) {
	var all []func(*File) bool
	for q != "" {
		m := term.FindStringSubmatch(q)
		if m == nil {
			return nil, false
		}
		q = q[len(m[0]):]
		for i := range m {
			m[i] = escaped.ReplaceAllString(m[i], "$1")
		}
		all = append(all, func(f *File) bool {
			switch {
			case m[1] != "":
				return slices.Contains(f.Parents, m[1])
			case m[2] != "":
				return strconv.FormatBool(f.Trashed) == m[2]
			case m[3] == "=":
				return strings.EqualFold(f.Name, m[4])
			case m[3] == "contains": // the beginning of a word
				return strings.Contains(" "+strings.ToLower(strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(f.Name)), " "+strings.ToLower(m[4]))
			}
			return f.AppProperties[m[5]] == m[6] && m[6] != ""
		})
	}
	return func(f *File) bool {
		return !slices.ContainsFunc(all, func(one func(*File) bool) bool { return !one(f) })
	}, true
}

func (s *Server) list(r *http.Request) func(http.ResponseWriter) {
	q := r.URL.Query()
	matches, ok := matcher(q.Get("q"))
	if !ok {
		return failing(http.StatusBadRequest, "invalid", "Invalid Value")
	}
	at := query{q: q.Get("q")}
	if token := q.Get("pageToken"); token != "" {
		if at, ok = s.pages[token]; !ok || at.q != q.Get("q") {
			return failing(http.StatusBadRequest, "invalid", "Invalid Value")
		}
	}
	var found []*File
	for _, f := range s.files {
		if matches(f) && !f.Hidden && f.ID != Root && (f.DriveID == "" || q.Get("includeItemsFromAllDrives") == "true" && q.Get("driveId") == f.DriveID && q.Get("corpora") == "drive") {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b *File) int {
		if q.Get("orderBy") == "folder,name_natural" && (a.Type == TypeFolder) != (b.Type == TypeFolder) {
			if a.Type == TypeFolder {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name+a.ID, b.Name+b.ID)
	})
	size, err := strconv.Atoi(q.Get("pageSize"))
	if err != nil || size < 1 || size > 1000 {
		return failing(http.StatusBadRequest, "invalidParameter", "Invalid value for pageSize")
	}
	out := map[string]any{"kind": "drive#fileList", "incompleteSearch": false}
	rest := found[min(at.from, len(found)):]
	if len(rest) > size {
		token := fmt.Sprintf("~!!~page%d", len(s.pages))
		s.pages[token] = query{at.q, at.from + size}
		out["nextPageToken"], rest = token, rest[:size]
	}
	list := []map[string]any{}
	for _, f := range rest {
		list = append(list, describe(f))
	}
	out["files"] = list
	return answering(r, out)
}

// metadata is what a request says of a file. A property that is null is removed.
type metadata struct {
	ID            string             `json:"id"`
	Name          string             `json:"name"`
	MimeType      string             `json:"mimeType"`
	Parents       []string           `json:"parents"`
	Trashed       *bool              `json:"trashed"`
	AppProperties map[string]*string `json:"appProperties"`
}

// body reads the metadata of a request, and its content if it is an upload (multipart/related).
func body(r *http.Request) (m metadata, content []byte, kind string, err error) {
	if !strings.HasPrefix(r.URL.Path, "/upload/") {
		return m, nil, "", json.NewDecoder(r.Body).Decode(&m)
	}
	name, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || name != "multipart/related" || r.URL.Query().Get("uploadType") != "multipart" {
		return m, nil, "", fmt.Errorf("not an upload of many parts: %s", r.Header.Get("Content-Type"))
	}
	parts := multipart.NewReader(r.Body, params["boundary"])
	first, err := parts.NextPart()
	if err != nil || !strings.HasPrefix(first.Header.Get("Content-Type"), "application/json") {
		return m, nil, "", fmt.Errorf("no metadata: %w", err)
	}
	if err := json.NewDecoder(first).Decode(&m); err != nil {
		return m, nil, "", err
	}
	second, err := parts.NextPart()
	if err != nil {
		return m, nil, "", err
	}
	content, err = io.ReadAll(second)
	return m, content, second.Header.Get("Content-Type"), err
}

// apply changes a file. It returns what is wrong.
func (m metadata) apply(f *File) (reason string) {
	if m.Trashed != nil {
		f.Trashed = *m.Trashed
	}
	for key, value := range m.AppProperties {
		if value == nil {
			delete(f.AppProperties, key)
			continue
		}
		if len(key)+len(*value) > 124 {
			return "propertyTooLong"
		}
		if f.AppProperties == nil {
			f.AppProperties = map[string]string{}
		}
		f.AppProperties[key] = *value
	}
	if len(f.AppProperties) > 30 {
		return "appPropertiesLimitExceeded"
	}
	f.Version++
	return ""
}

func (s *Server) create(r *http.Request) func(http.ResponseWriter) {
	m, content, kind, err := body(r)
	if err != nil {
		return failing(http.StatusBadRequest, "badRequest", err.Error())
	}
	if s.files[m.ID] != nil {
		return failing(http.StatusConflict, "fileIdInUse", "A file already exists with the provided ID.")
	}
	if m.ID == "" {
		m.ID = s.id()
	}
	if m.MimeType == "" {
		m.MimeType = kind
	}
	name, _, _ := mime.ParseMediaType(m.MimeType)
	f := &File{ID: m.ID, Name: m.Name, Type: name, Parents: m.Parents, Content: content, Modified: time.Now().UTC()}
	if len(f.Parents) == 0 {
		f.Parents = []string{Root}
	}
	for _, parent := range f.Parents {
		if s.files[parent] == nil || s.files[parent].Hidden {
			return failing(http.StatusNotFound, "notFound", "File not found: "+parent+".")
		}
		f.DriveID = s.files[parent].DriveID
	}
	if reason := m.apply(f); reason != "" {
		return failing(http.StatusForbidden, reason, reason)
	}
	if !strings.HasPrefix(f.Type, "application/vnd.google-apps.") {
		f.revise()
	}
	s.files[f.ID] = f
	return answering(r, describe(f))
}

func (s *Server) update(f *File, r *http.Request) func(http.ResponseWriter) {
	m, content, kind, err := body(r)
	if err != nil {
		return failing(http.StatusBadRequest, "badRequest", err.Error())
	}
	if reason := m.apply(f); reason != "" {
		return failing(http.StatusForbidden, reason, reason)
	}
	if kind != "" {
		f.Content, f.Modified = content, time.Now().UTC()
		f.revise()
	}
	return answering(r, describe(f))
}

func media(f *File, r *http.Request) func(http.ResponseWriter) {
	if len(f.Revisions) == 0 {
		return failing(http.StatusForbidden, "fileNotDownloadable", "Only files with binary content can be downloaded. Use Export with Docs Editors files.")
	}
	content, kind, modified := bytes.Clone(f.Content), f.Type, f.Modified
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", kind)
		http.ServeContent(w, r, "", modified, bytes.NewReader(content))
	}
}

func export(f *File, r *http.Request) func(http.ResponseWriter) {
	if len(f.Revisions) > 0 {
		return failing(http.StatusForbidden, "fileNotExportable", "Export only supports Docs Editors files.")
	}
	kind := r.URL.Query().Get("mimeType")
	if f.Type == TypeDocument && kind != "text/plain" {
		return failing(http.StatusBadRequest, "badRequest", "The requested conversion is not supported.")
	}
	content := bytes.Clone(f.Content)
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(content)
	}
}
