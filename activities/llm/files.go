package llm

import (
	"net/http"

	"agent-stop-and-go/workflows/contract/modality"
)

// ImageType returns the MIME type of an image that all models with vision accept, or "". It is
// read from the first bytes, because providers reject a wrong type.
func ImageType(data []byte) string {
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	return ""
}

// FileType returns the MIME type of a file that models may take, by its first bytes, or "".
func FileType(data []byte) string {
	if modality.IsPDF(data) {
		return modality.PDF
	}
	return ImageType(data)
}

// In reports whether a file is one of those that a model takes.
func (m Media) In(takes modality.Set) bool {
	switch FileType(m.Data) {
	case "":
		return false
	case modality.PDF:
		return takes.PDF
	}
	return takes.Images
}

// PDFs returns the PDFs of media.
func PDFs(media []Media) (out []Media) {
	for _, m := range media {
		if modality.IsPDF(m.Data) {
			out = append(out, m)
		}
	}
	return out
}

// Taken returns the media of a request that a model takes.
func Taken(media map[string][]Media, takes modality.Set) map[string][]Media {
	out := map[string][]Media{}
	for message, list := range media {
		for _, m := range list {
			if m.In(takes) {
				out[message] = append(out[message], m)
			}
		}
	}
	return out
}
