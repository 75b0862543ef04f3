package api

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// body is the body of requests.
type body struct {
	kind     string // media type
	required bool
	schema   *openapi3.SchemaRef
	encoding openapi3.Encodings
}

const (
	formType      = "application/x-www-form-urlencoded"
	multipartType = "multipart/form-data"
)

func isJSON(kind string) bool {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}

// preference orders media types: the smaller, the better. 9 is one that cannot be written.
func preference(kind string) int {
	switch name, _, _ := strings.Cut(strings.ToLower(kind), ";"); {
	case name == "application/json":
		return 0
	case isJSON(kind):
		return 1
	case name == formType:
		return 2
	case name == multipartType:
		return 3
	case strings.HasPrefix(name, "text/") && !strings.Contains(name, "*"):
		return 4
	case name == "application/xml", strings.HasSuffix(name, "+xml"):
		return 5
	case name == "*/*", name == "application/*":
		return 6
	case !strings.Contains(name, "*"):
		return 7 // bytes
	}
	return 9
}

func newBody(r *openapi3.RequestBody) (*body, error) {
	best := ""
	for _, kind := range slices.Sorted(maps.Keys(r.Content)) {
		if preference(kind) < 9 && (best == "" || preference(kind) < preference(best)) {
			best = kind
		}
	}
	if best == "" {
		if len(r.Content) == 0 {
			return nil, nil
		}
		return nil, errors.New("none of the media types of its body can be written")
	}
	b := &body{kind: best, required: r.Required}
	if media := r.Content[best]; media != nil {
		b.schema, b.encoding = media.Schema, media.Encoding
	}
	if preference(best) == 6 {
		b.kind = "application/json"
	}
	return b, nil
}

// input returns the schema of the property body.
func (b *body) input(c *converter) (any, error) {
	switch preference(b.kind) {
	case 4, 5:
		return map[string]any{"type": "string", "description": "Text of the type " + b.kind}, nil
	case 7:
		return fileSchema("Content of the type " + b.kind), nil
	}
	return c.schema(b.schema, b.kind == multipartType || strings.HasPrefix(b.kind, multipartType+";"))
}

// encode writes a body, and returns its Content-Type.
func (b *body) encode(v any) ([]byte, string, error) {
	switch preference(b.kind) {
	case 2:
		text, err := b.form(v)
		return []byte(text), formType, err
	case 3:
		return b.multipart(v)
	case 4, 5:
		text, err := scalar(v)
		return []byte(text), b.kind, err
	case 7:
		data, _, err := fileContent(v)
		return data, b.kind, err
	}
	text, err := jsonText(v)
	return []byte(text), b.kind, err
}

func (b *body) form(v any) (string, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return "", errors.New("the body of a form must be an object")
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		p := parameter{name: name, in: "query", style: "form", explode: true}
		if e := b.encoding[name]; e != nil {
			p.reserved = e.AllowReserved
			if e.Style != "" {
				p.style, p.explode = e.Style, e.Style == "form"
			}
			if e.Explode != nil {
				p.explode = *e.Explode
			}
		}
		value := object[name]
		if nested, ok := value.(map[string]any); ok && (b.encoding[name] == nil || b.encoding[name].Style == "") {
			text, err := jsonText(nested) // the default contentType of an object
			if err != nil {
				return "", err
			}
			value = text
		}
		pairs, err := p.pairs(value, "%2C", url.QueryEscape)
		if err != nil {
			return "", fmt.Errorf("body.%s: %w", name, err)
		}
		for _, one := range pairs {
			parts = append(parts, one.name+"="+one.value)
		}
	}
	return strings.Join(parts, "&"), nil
}

func (b *body) multipart(v any) ([]byte, string, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return nil, "", errors.New("the body of a form must be an object")
	}
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		values := []any{object[name]}
		if list, ok := object[name].([]any); ok {
			values = list
		}
		for _, value := range values {
			if err := b.part(w, name, value); err != nil {
				return nil, "", fmt.Errorf("body.%s: %w", name, err)
			}
		}
	}
	err := w.Close()
	return out.Bytes(), w.FormDataContentType(), err
}

func (b *body) part(w *multipart.Writer, name string, value any) error {
	kind := ""
	if e := b.encoding[name]; e != nil {
		kind, _, _ = strings.Cut(e.ContentType, ",")
	}
	disposition := map[string]string{"name": name}
	var data []byte
	if b.isFile(name) {
		content, filename, err := fileContent(value)
		if err != nil {
			return err
		}
		data, disposition["filename"] = content, filename
		kind = cmp.Or(kind, "application/octet-stream")
	} else if _, ok := value.(map[string]any); ok || isJSON(kind) {
		text, err := jsonText(value)
		if err != nil {
			return err
		}
		data, kind = []byte(text), cmp.Or(kind, "application/json")
	} else {
		text, err := scalar(value)
		if err != nil {
			return err
		}
		data = []byte(text)
	}
	header := textproto.MIMEHeader{"Content-Disposition": {multipartDisposition(disposition)}}
	if kind = strings.TrimSpace(kind); kind != "" && !strings.Contains(kind, "*") {
		header.Set("Content-Type", kind)
	}
	part, err := w.CreatePart(header)
	if err != nil {
		return err
	}
	_, err = part.Write(data)
	return err
}

// isFile reports whether a property, or an element of it, is the content of a file.
func (b *body) isFile(name string) bool {
	if b.schema == nil || b.schema.Value == nil {
		return false
	}
	ref := b.schema.Value.Properties[name]
	if ref == nil || ref.Value == nil {
		return false
	}
	return isBinary(ref.Value) || ref.Value.Items != nil && ref.Value.Items.Value != nil && isBinary(ref.Value.Items.Value)
}

// fileContent reads {"filename", "text"} or {"filename", "base64"}.
func fileContent(v any) ([]byte, string, error) {
	object, _ := v.(map[string]any)
	filename, _ := object["filename"].(string)
	filename = cmp.Or(filename, "file")
	if text, ok := object["text"].(string); ok {
		return []byte(text), filename, nil
	}
	encoded, ok := object["base64"].(string)
	if !ok {
		return nil, "", errors.New("the content must be in text or base64")
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, "", errors.New("base64 is malformed")
	}
	return data, filename, nil
}

var quoted = strings.NewReplacer("\\", "\\\\", `"`, "%22", "\r", "%0D", "\n", "%0A")

func multipartDisposition(values map[string]string) string {
	out := `form-data; name="` + quoted.Replace(values["name"]) + `"`
	if filename, ok := values["filename"]; ok {
		out += `; filename="` + quoted.Replace(filename) + `"`
	}
	return out
}
