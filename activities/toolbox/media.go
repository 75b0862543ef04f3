package toolbox

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"strings"
	"unicode/utf8"

	"agent-stop-and-go/activities/mask"
	"agent-stop-and-go/workflows/contract"
)

// Limits of the media in one result.
const (
	MaxMedia      = 10 << 20 // bytes of each
	MaxMediaCount = 16
)

// Media is an image, a sound or a file in a result. Its type and name are claims of the server;
// only their form is checked.
type Media struct {
	MIMEType string // AnyMIMEType if the server's is missing or malformed
	Name     string // a name or a URI of at most 256 bytes; may be empty
	Data     []byte // never empty
}

// AnyMIMEType is the type of media of an unknown type.
const AnyMIMEType = "application/octet-stream"

const (
	maxMIMEType  = 127
	maxMediaName = 256
	maxLink      = 2000
)

// keep decodes the data of a description and sets its size, or a note if the data is not kept.
func (c *content) keep(data string, d *description) {
	d.Size = decodedSize(data)
	switch {
	case data == "":
		return
	case d.Size > MaxMedia:
		d.Note = fmt.Sprintf("not kept: it has more than %d bytes", MaxMedia)
		return
	case len(c.media) == MaxMediaCount:
		d.Note = fmt.Sprintf("not kept: it comes after %d others", MaxMediaCount)
		return
	}
	raw, err := decodeBase64(data)
	if err != nil || len(raw) == 0 {
		d.Note = "not kept: it is not base64"
		return
	}
	d.Size = int64(len(raw))
	c.media = append(c.media, Media{MIMEType: mimeType(d.MIMEType), Name: shortName(cmp.Or(d.Name, d.URI)), Data: raw})
}

// link keeps a link with a valid URI. The line that describes it is kept in any case.
func (c *content) link(d description) {
	u, err := url.Parse(d.URI)
	if err != nil || u.Scheme == "" || len(d.URI) > maxLink || !utf8.ValidString(d.URI) || len(c.links) == MaxMediaCount {
		return
	}
	l := contract.Link{URI: d.URI, Name: shortName(d.Name)}
	if d.MIMEType != "" {
		l.MIMEType = mimeType(d.MIMEType)
	}
	c.links = append(c.links, l)
}

// decodeBase64 accepts missing padding, which some servers omit.
func decodeBase64(data string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "=\r\n"))
}

func mimeType(said string) string {
	kind, _, err := mime.ParseMediaType(said)
	if err != nil || !strings.Contains(kind, "/") || len(said) > maxMIMEType {
		return AnyMIMEType
	}
	return strings.TrimSpace(said)
}

func shortName(name string) string {
	name = strings.ToValidUTF8(name, "")
	if len(name) <= maxMediaName {
		return name
	}
	end := maxMediaName
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}

func (m Media) without(s *mask.Mask) Media {
	return Media{MIMEType: s.Text(m.MIMEType), Name: s.Text(m.Name), Data: s.Bytes(m.Data)}
}
