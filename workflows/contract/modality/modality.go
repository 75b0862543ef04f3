package modality

import (
	"bytes"
	"regexp"

	"agent-stop-and-go/workflows/contract"
)

// PDF is the media type of a document in PDF.
const PDF = "application/pdf"

// IsPDF reports whether data begins as a PDF does (ISO 32000-2, 7.5.2). Providers refuse what
// does not.
func IsPDF(data []byte) bool { return bytes.HasPrefix(data, []byte("%PDF-")) }

// Set has what a model takes besides text.
type Set struct{ Images, PDF bool }

// With returns a set in which what is declared replaces what is known. Nil declares nothing.
func (s Set) With(images, pdf *bool) Set {
	if images != nil {
		s.Images = *images
	}
	if pdf != nil {
		s.PDF = *pdf
	}
	return s
}

func (s Set) union(other Set) Set { return Set{s.Images || other.Images, s.PDF || other.PDF} }

// family describes the models of a provider: those that match images and not none take images, and
// those of them that match pdf take documents.
type family struct{ images, pdf, none *regexp.Regexp }

var (
	all     = regexp.MustCompile(``)
	nothing = regexp.MustCompile(`$.`)
	// other are models for speech, search and the like.
	other = `audio|realtime|transcribe|tts|-search-|embedding|-live`
)

// known has the providers whose models take files, by the providers' own pages:
// developers.openai.com/api/docs/guides/pdf-files (models with vision take PDFs),
// platform.claude.com/docs/en/build-with-claude/pdf-support,
// ai.google.dev/gemini-api/docs/document-processing.
var known = map[contract.Provider]family{
	contract.ProviderOpenAI: {
		images: regexp.MustCompile(`^(gpt-4o|gpt-4\.1|gpt-5|o[1-9])([-.]|$)`), pdf: all,
		none: regexp.MustCompile(`^o1-(mini|preview)|^o3-mini|` + other),
	},
	contract.ProviderAnthropic: {
		images: regexp.MustCompile(`^claude-([3-9]|[1-9][0-9]|opus|sonnet|haiku)([-.]|$)`),
		pdf:    regexp.MustCompile(`^claude-(3[-.][5-9]|[4-9]|[1-9][0-9]|opus|sonnet|haiku)([-.]|$)`), none: nothing,
	},
	contract.ProviderGoogle: {
		images: regexp.MustCompile(`^(models/)?gemini-(1\.5|[2-9]|[1-9][0-9]|flash|pro-latest)`), pdf: all,
		none: regexp.MustCompile(other),
	},
}

// Of returns what a model is known to take, by the provider's own name.
func Of(p contract.Provider, model string) Set {
	f, ok := known[p]
	if !ok || !f.images.MatchString(model) || f.none.MatchString(model) {
		return Set{}
	}
	return Set{Images: true, PDF: f.pdf.MatchString(model)}
}

// CanSendPDF reports whether the API of a provider has a place for a PDF in base64.
func CanSendPDF(p contract.Provider) bool {
	switch p {
	case contract.ProviderOpenAI, contract.ProviderAnthropic, contract.ProviderGoogle, contract.ProviderOpenRouter, contract.ProviderCompatible:
		return true
	}
	return false
}
