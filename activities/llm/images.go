package llm

import "net/http"

// ImageType is the type of an image that every model takes which takes images,
// by its first bytes: providers refuse those whose name says something else. It
// is empty for all other data.
func ImageType(data []byte) string {
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	return ""
}
