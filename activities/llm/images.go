package llm

import (
	"net/http"
	"regexp"
)

func (p provider) takesImages(model string) bool { return p.images != nil && p.images(model) }

// shown is what of the media a model takes.
func (p provider) shown(model string, media map[string][]Media) map[string][]Media {
	if p.takesImages(model) {
		return media
	}
	return nil
}

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

var (
	openAISees = regexp.MustCompile(`^(gpt-4o|gpt-4\.1|gpt-5|o[1-9])([-.]|$)`)
	geminiSees = regexp.MustCompile(`^(models/)?gemini-(1\.5|[2-9]|[1-9][0-9]|flash|pro-latest)`)
	claudeSees = regexp.MustCompile(`^claude-([3-9]|[1-9][0-9]|opus|sonnet|haiku)([-.]|$)`)

	// blind are the ones among these that are for something else.
	blind = regexp.MustCompile(`^o1-(mini|preview)|^o3-mini|audio|realtime|transcribe|tts|-search-|embedding|-live`)
)

func openAIImages(model string) bool {
	return openAISees.MatchString(model) && !blind.MatchString(model)
}

func geminiImages(model string) bool {
	return geminiSees.MatchString(model) && !blind.MatchString(model)
}

func claudeImages(model string) bool { return claudeSees.MatchString(model) }
