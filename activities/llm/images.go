package llm

import "net/http"

// ImageType is the type of an image that all models with vision accept, by its first bytes,
// because providers reject a wrong type. It is empty for all other data.
func ImageType(data []byte) string {
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	return ""
}
