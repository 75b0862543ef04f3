package gemini_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/genai"

	"agent-stop-and-go/activities/llm/llmtest/sample"
)

// geminiSDK returns the first piece of an answer as Google's own client decodes it.
func geminiSDK(t *testing.T, answer http.HandlerFunc) (*genai.GenerateContentResponse, error) {
	t.Helper()
	s := httptest.NewServer(answer)
	defer s.Close()
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: sample.Canary, Backend: genai.BackendGeminiAPI, HTTPClient: s.Client(), HTTPOptions: genai.HTTPOptions{BaseURL: s.URL},
	})
	if err != nil {
		t.Fatal(err)
	}
	for piece, err := range client.Models.GenerateContentStream(t.Context(), "gemini-3-pro-preview", genai.Text("hi"), nil) {
		return piece, err
	}
	return nil, io.EOF
}

// These are the reasons for not using the SDK's requests and replies. If this test fails,
// its client may be good enough.
func TestGooglesClientLosesPartsOfReplies(t *testing.T) {
	const said = `{"functionCall":{"name":"x","args":{"id":9007199254740993}},"thoughtSignature":"AAAA","mood":"fine"},{"text":"","thoughtSignature":"BBBB"}`
	got, err := geminiSDK(t, http.HandlerFunc(geminiEvents(geminiPiece(said, "STOP"))))
	if err != nil {
		t.Fatal(err)
	}
	back, err := json.Marshal(got.Candidates[0].Content.Parts)
	if err != nil {
		t.Fatal(err)
	}
	for _, lost := range []string{"9007199254740993", `"text":""`, "mood"} {
		if strings.Contains(string(back), lost) {
			t.Errorf("%s is kept: %s", lost, back)
		}
	}
	if got, err := geminiSDK(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, geminiPiece(`{"text":"whole"}`, "STOP"))
	}); err == nil {
		t.Errorf("an answer that is no stream is read: %+v", got)
	}
	var schema genai.Schema
	if err := json.Unmarshal([]byte(`{"type":"integer","maximum":9007199254740993}`), &schema); err != nil {
		t.Fatal(err)
	}
	if back, _ := json.Marshal(schema); strings.Contains(string(back), "9007199254740993") {
		t.Errorf("schemas keep their numbers: %s", back)
	}
}
