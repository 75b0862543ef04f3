package peer

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
)

// Limits of files: bytes of one, bytes of all, and their number.
const (
	maxFile     = 4 << 20
	maxFiles    = 8 << 20
	maxCount    = 16
	maxFileName = 200
	maxFileURL  = 2000
)

func (p part) isText() bool {
	return p.Text != "" || len(p.Data) == 0 && p.Raw == "" && p.URL == "" && p.File == nil
}

func (p part) isNull() bool { return len(p.Data) == 0 || string(p.Data) == "null" }

// file returns the file of a part. An invalid one has neither data nor URL.
func (p part) file() (File, bool) {
	f := File{Name: p.Filename, MIMEType: p.MediaType, URL: p.URL}
	raw := p.Raw
	if p.File != nil {
		f.Name, f.MIMEType, f.URL = cmp.Or(p.File.Name, f.Name), cmp.Or(p.File.MIMEType, f.MIMEType), p.File.URI
		raw = p.File.Bytes
	}
	if raw == "" && f.URL == "" {
		return f, false
	}
	f.Name, f.MIMEType = clip(line(f.Name), maxFileName), clip(line(f.MIMEType), maxFileName)
	if f.URL = link(f.URL); raw != "" {
		f.Data, f.URL = decode(raw), ""
	}
	return f, true
}

// link returns a URL if it may be shown to people, else "".
func link(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(raw) > maxFileURL {
		return ""
	}
	return strings.ToValidUTF8(raw, "")
}

// decode decodes base64 in any alphabet, with or without padding.
func decode(raw string) []byte {
	raw = strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "").Replace(strings.TrimRight(raw, "=\r\n"))
	data, err := base64.RawStdEncoding.DecodeString(raw)
	if err != nil {
		return nil
	}
	return data
}

// limitFiles removes files that are too many or too large, and adds a note to the text.
func limitFiles(files []File, text string) ([]File, string) {
	var out []File
	var notes []string
	size := 0
	for i, f := range files {
		name := cmp.Or(f.Name, f.MIMEType, "without a name")
		switch {
		case len(out) == maxCount:
			notes = append(notes, fmt.Sprintf("(%d more files were left out.)", len(files)-i))
		case f.URL == "" && len(f.Data) == 0:
			notes = append(notes, fmt.Sprintf("(The file %s could not be read.)", name))
		case len(f.Data) > maxFile || size+len(f.Data) > maxFiles:
			notes = append(notes, fmt.Sprintf("(The file %s was left out: it has %d bytes.)", name, len(f.Data)))
		default:
			size += len(f.Data)
			out = append(out, f)
			continue
		}
		if len(out) == maxCount || len(notes) == maxCount {
			break
		}
	}
	if len(notes) == 0 {
		return out, text
	}
	return out, strings.TrimSpace(text + "\n\n" + strings.Join(notes, "\n"))
}
