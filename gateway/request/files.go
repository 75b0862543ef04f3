package request

import (
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract/modality"
)

// ImageTypes are the types of the images that models are shown.
var ImageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// textTypes are the types besides text/… whose content is text.
var textTypes = []string{
	"application/json", "application/xml", "application/yaml", "application/x-yaml", "application/javascript",
	"application/toml", "application/sql", "application/x-sh", "application/x-ndjson",
}

// unspecific are types with which programs declare any file.
var unspecific = []string{"application/octet-stream", "binary/octet-stream", "application/x-pdf"}

// MediaType returns the type of a file: the declared one, or what its content looks like.
func MediaType(declared string, data []byte) string {
	if kind, _, err := mime.ParseMediaType(declared); err == nil && !slices.Contains(unspecific, kind) {
		return kind
	}
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	return kind
}

// Attachment returns the text with which a file comes in a message, and whether models are shown the
// file itself, which comes with the message, too: an image, or a PDF. The text of a text file has its
// content. Other files are refused, because the agent cannot read them.
func Attachment(f service.File) (text string, shown bool, err error) {
	switch name := service.Printable(f.Name); {
	case slices.Contains(ImageTypes, f.MediaType):
		return "[image " + name + "]", true, nil
	case f.MediaType == modality.PDF && !modality.IsPDF(f.Data):
		return "", false, service.Errorf(KindUnsupported, "the file %s is no PDF: it does not begin with %%PDF-", name)
	case f.MediaType == modality.PDF:
		return "[PDF " + name + "]", true, nil
	case !strings.HasPrefix(f.MediaType, "text/") && !slices.Contains(textTypes, f.MediaType):
		return "", false, service.Errorf(KindUnsupported, "a file of type %s is not supported here; texts, images and PDFs are", service.Printable(f.MediaType))
	case !utf8.Valid(f.Data):
		return "", false, service.Errorf(KindUnsupported, "a file of type %s is not in UTF-8", service.Printable(f.MediaType))
	default:
		return "[file " + name + "]\n" + string(f.Data), false, nil
	}
}
