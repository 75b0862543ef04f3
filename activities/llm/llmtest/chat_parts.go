package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract/modality"
)

var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

var dataURI = regexp.MustCompile(`^data:([a-z]+/[a-z0-9.+-]+);base64,(.*)$`)

// part checks one part of a message's content.
func (m wireMessage) part(p map[string]json.RawMessage, field string) *apiError {
	var kind string
	if json.Unmarshal(p["type"], &kind) != nil {
		return invalid(field, "Missing required parameter: '%s.type'.", field)
	}
	switch {
	case kind == "text":
		return textPart(p["text"], field+".text")
	case kind == "refusal" && m.Role == "assistant":
		return textPart(p["refusal"], field+".refusal")
	case kind == "image_url" && m.Role != "user":
		return invalid(field, "Image URLs are only allowed for messages with role 'user', but this message with role '%s' contains an image URL.", m.Role)
	case kind == "image_url":
		return imagePart(p["image_url"], field+".image_url")
	case kind == "file" && m.Role == "user":
		return filePart(p["file"], field+".file")
	case kind == "input_audio" && m.Role == "user":
		return nil
	}
	return invalid(field, "Invalid value: '%s'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', and 'file'.", kind)
}

func textPart(raw json.RawMessage, field string) *apiError {
	var text string
	switch {
	case len(raw) == 0:
		return invalid(field, "Missing required parameter: '%s'.", field)
	case json.Unmarshal(raw, &text) != nil || string(raw) == "null":
		return invalid(field, "Invalid type for '%s': expected a string.", field)
	}
	return nil
}

func imagePart(raw json.RawMessage, field string) *apiError {
	var image struct {
		URL    string `json:"url"`
		Detail string `json:"detail"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &image) != nil {
		return invalid(field, "Invalid type for '%s': expected an object.", field)
	}
	switch {
	case image.URL == "":
		return invalid(field+".url", "Missing required parameter: '%s.url'.", field)
	case !slices.Contains([]string{"", "auto", "low", "high", "original"}, image.Detail):
		return invalid(field+".detail", "Invalid value: '%s'. Supported values are: 'auto', 'low', 'high', and 'original'.", image.Detail)
	case !strings.HasPrefix(image.URL, "data:"):
		return imageAddress(image.URL, field)
	}
	return imageData(image.URL, field)
}

func imageAddress(address, field string) *apiError {
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return invalid(field+".url", "Invalid '%s.url'. Expected a valid URL, but got a value with an invalid format.", field)
	}
	return nil
}

// imageData checks that the data is an image of the stated type.
func imageData(uri, field string) *apiError {
	found := dataURI.FindStringSubmatch(uri)
	if found == nil {
		return invalid(field+".url", "Invalid '%s.url'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got a value with an invalid format.", field)
	}
	kind, encoded := found[1], found[2]
	if !slices.Contains(imageTypes, kind) {
		return unsupportedImage(field)
	}
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	switch {
	case err != nil || len(data) == 0:
		return invalid(field+".url", "Invalid base64 image_url.")
	case http.DetectContentType(data) != kind:
		return unsupportedImage(field)
	}
	return nil
}

// filePart checks that a file is a PDF with a name, as a data URL or uploaded before.
func filePart(raw json.RawMessage, field string) *apiError {
	var file struct {
		Data string `json:"file_data"`
		ID   string `json:"file_id"`
		Name string `json:"filename"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &file) != nil {
		return invalid(field, "Invalid type for '%s': expected an object.", field)
	}
	found := dataURI.FindStringSubmatch(file.Data)
	switch {
	case file.ID != "" && file.Data == "":
		return nil
	case file.Name == "":
		return invalid(field+".filename", "Missing required parameter: '%s.filename'.", field)
	case found == nil:
		return invalid(field+".file_data", "Invalid '%s.file_data'. Expected a base64-encoded data URL with an application/pdf MIME type (e.g. 'data:application/pdf;base64,aW1nIGJ5dGVzIGhlcmU='), but got a value with an invalid format.", field)
	case found[1] != modality.PDF:
		return invalid(field+".file_data", "Invalid file data: '%s.file_data'. Expected a file with an application/pdf MIME type, but got unsupported MIME type '%s'.", field, found[1])
	case !isPDF(found[2]):
		return invalid("", "Failed to parse the file. Please ensure it is a valid PDF.")
	}
	return nil
}

func isPDF(encoded string) bool {
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	return err == nil && modality.IsPDF(data)
}

func unsupportedImage(field string) *apiError {
	return invalid(field+".url", "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].")
}
