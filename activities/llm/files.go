package llm

import "net/http"

// ImageType returns the MIME type of an image that all models with vision accept, or "". It is
// read from the first bytes, because providers reject a wrong type.
func ImageType(data []byte) string {
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	return ""
}
