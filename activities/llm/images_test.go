package llm_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/workflows/contract"
)

// The first bytes are what tells an image.
var (
	png  = llm.Media{MIMEType: "image/png", Name: "chart.png", Data: []byte("\x89PNG\r\n\x1a\nchart")}
	jpeg = llm.Media{MIMEType: "image/jpeg", Data: []byte("\xff\xd8\xffphoto")}
	page = llm.Media{MIMEType: "text/html", Data: []byte("<html>")}
)

// illustrated is a conversation whose tools returned media, and the media.
func illustrated() ([]contract.Message, map[string][]llm.Media) {
	messages := []contract.Message{
		user("Draw both."),
		call("r1", "call_8f2", "charts.draw", `{"n":1}`),
		call("r1", "call_8f3", "ping", `{}`),
		call("r1", "call_8f4", "photos_take", `{}`),
		result("r1", "call_8f4", "photos_take", "two photos and a page"),
		result("r1", "call_8f3", "ping", "pong"),
		result("r1", "call_8f2", "charts.draw", "a chart"),
		say("r2", "Here they are."),
		user("Which is larger?"),
	}
	messages[4].ID, messages[5].ID, messages[6].ID = "m4", "m5", "m6"
	return messages, map[string][]llm.Media{"m4": {jpeg, page, png}, "m6": {png}}
}

func TestImagesOnTheWire(t *testing.T) {
	s, router := newServer(t)
	s.Reply(llmtest.Say("ok"))
	messages, media := illustrated()
	if _, err := router.Generate(t.Context(), llm.Request{Model: "openai:gpt-4o", Messages: messages, Media: media}); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, filepath.Join("testdata", "requests", "openai-images.json"), s.Requests()[0])
}

func TestModelsThatAreNotKnownToSeeAreShownNothing(t *testing.T) {
	for model, sees := range map[string]bool{
		"openai:gpt-4.1-mini": true, "anthropic:claude-sonnet-4-5": true,
		"openai:gpt-3.5-turbo": false, "mistral:mistral-large-latest": false, "ollama:llava": false, "openrouter:openai/gpt-4o": false,
	} {
		s, router := newServer(t)
		s.Always(llmtest.Say("ok"))
		messages, media := illustrated()
		for _, m := range []map[string][]llm.Media{media, nil} {
			if _, err := router.Generate(t.Context(), llm.Request{Model: model, Messages: messages, Media: m}); err != nil {
				t.Fatal(err)
			}
		}
		with, without := string(s.Requests()[0].Body), string(s.Requests()[1].Body)
		if strings.Contains(with, "iVBORw0KGgpjaGFydA==") != sees || (with == without) == sees {
			t.Errorf("%s: %s", model, with)
		}
	}
}

func TestOnlyImagesGoOnTheWire(t *testing.T) {
	s, router := newServer(t)
	s.Always(llmtest.Say("ok"))
	messages, _ := illustrated()
	lies := []llm.Media{{MIMEType: "image/png", Data: []byte("no image")}, {MIMEType: "image/svg+xml", Data: []byte("<svg/>")}, page, {MIMEType: "image/png"}}
	for _, media := range []map[string][]llm.Media{{"m4": lies}, nil} {
		if _, err := router.Generate(t.Context(), llm.Request{Model: "openai:gpt-4o", Messages: messages, Media: media}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(s.Requests()[1].Body), string(s.Requests()[0].Body)); diff != "" {
		t.Errorf("(-without +with):\n%s", diff)
	}
}

func TestAnImageGoesByWhatItIs(t *testing.T) {
	s, router := newServer(t)
	s.Reply(llmtest.Say("ok"))
	messages, _ := illustrated()
	media := map[string][]llm.Media{"m4": {{MIMEType: "image/jpg", Data: png.Data}}}
	if _, err := router.Generate(t.Context(), llm.Request{Model: "claude-opus-4-1", Messages: messages, Media: media}); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests()[0].Body); !strings.Contains(body, `"data":"iVBORw0KGgpjaGFydA==","media_type":"image/png"`) {
		t.Error(body)
	}
}

func TestMediaOfResultsThatPairWithNoCallAreLeftOut(t *testing.T) {
	s, router := newServer(t)
	s.Reply(llmtest.Say("ok"))
	orphan, nameless := result("", "a", "x", "A"), result("r1", "b", "x", "B")
	orphan.ID = "m1"
	messages := []contract.Message{user("go"), orphan, call("r1", "b", "x", `{}`), nameless}
	if _, err := router.Generate(t.Context(), llm.Request{Model: "openai:gpt-4o", Messages: messages, Media: map[string][]llm.Media{"m1": {png}}}); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests()[0].Body); strings.Contains(body, "image_url") {
		t.Error(body)
	}
}

func TestTheDemoModelIgnoresMedia(t *testing.T) {
	messages, media := illustrated()
	var replies []llm.Reply
	for _, m := range []map[string][]llm.Media{media, nil} {
		r, err := llm.NewRouter(llm.Options{}).Generate(t.Context(), llm.Request{Model: contract.DemoModel, Messages: messages[:7], Media: m})
		if err != nil {
			t.Fatal(err)
		}
		replies = append(replies, r)
	}
	if diff := cmp.Diff(replies[1], replies[0]); diff != "" {
		t.Errorf("(-without +with):\n%s", diff)
	}
}

func TestFactsTellWhoTakesImages(t *testing.T) {
	for _, model := range []string{
		"openai:gpt-4o", "gpt-4o", "openai-gpt-4o-mini", "openai:gpt-4o-2024-11-20", "openai:gpt-4.1", "openai:gpt-4.1-nano", "openai:gpt-5", "openai:gpt-5.1",
		"openai:gpt-5-mini", "openai:o1", "openai:o3", "openai:o4-mini", "openai:o3-pro",
		"google:gemini-1.5-pro", "google:gemini-2.5-flash", "gemini-2.0-flash-lite", "google:gemini-3-pro-preview", "google:models/gemini-2.5-pro", "google:gemini-flash-latest",
		"anthropic:claude-3-opus-20240229", "claude-3-5-haiku-latest", "claude-3.7-sonnet", "claude-sonnet-4-5", "anthropic:claude-opus-4-1", "claude-haiku-4-5", "claude-4-sonnet",
	} {
		if !llm.NewRouter(llm.Options{}).Facts(model).Images {
			t.Errorf("%s does not", model)
		}
	}
	for _, model := range []string{
		"openai:gpt-4", "openai:gpt-4-turbo", "openai:gpt-3.5-turbo", "openai:gpt-4o-audio-preview", "openai:gpt-4o-mini-tts", "openai:gpt-4o-search-preview",
		"openai:gpt-4o-transcribe", "openai:gpt-4o-realtime-preview", "openai:o1-mini", "openai:o1-preview", "openai:o3-mini", "openai:ft:gpt-4o:x", "openai:opus", "openai:gpt-50",
		"google:gemini-1.0-pro", "google:gemini-pro", "google:gemini-embedding-001", "google:gemini-2.5-flash-preview-tts", "google:gemma-3-27b-it", "google:gpt-4o", "gpt4o",
		"claude-2.1", "claude-instant-1.2", "anthropic:claude-v1", "mistral:pixtral-12b", "ollama:llava", "openrouter:anthropic/claude-3-opus",
		contract.DemoModel, "", "nobody:x", "openai:", "a b",
	} {
		if llm.NewRouter(llm.Options{}).Facts(model).Images {
			t.Errorf("%s does", model)
		}
	}
}

func TestImageType(t *testing.T) {
	for data, want := range map[string]string{
		string(png.Data): "image/png", string(jpeg.Data): "image/jpeg", "GIF89a…": "image/gif", "RIFF\x01\x02\x03\x04WEBPVP8 ": "image/webp",
		"": "", "<svg/>": "", "BM…": "", "<html>": "", "\x89PNG": "",
	} {
		if got := llm.ImageType([]byte(data)); got != want {
			t.Errorf("%q is %q, want %q", data, got, want)
		}
	}
}

// pictured is a conversation in which a user's message came with images.
func pictured(text string, media ...llm.Media) llm.Request {
	first := user("Look at this.")
	if first.Content.Inline = text; text == "" {
		first.Content = contract.Text{}
	}
	first.ID = "m1"
	return llm.Request{Messages: []contract.Message{first, say("r1", "Nice."), user("And?")}, Media: map[string][]llm.Media{"m1": media}}
}

func TestImagesOfAUserAreOnTheWire(t *testing.T) {
	const text, image, photo = "Look at this.", "iVBORw0KGgpjaGFydA==", "/9j/cGhvdG8="
	for model, want := range map[string]struct{ both, alone string }{
		"openai:gpt-4o": {
			`{"content":[{"text":"Look at this.","type":"text"},{"image_url":{"url":"data:image/png;base64,` + image + `"},"type":"image_url"},` +
				`{"image_url":{"url":"data:image/jpeg;base64,` + photo + `"},"type":"image_url"}],"role":"user"}`,
			`{"content":[{"image_url":{"url":"data:image/png;base64,` + image + `"},"type":"image_url"}],"role":"user"}`,
		},
		"claude-opus-4-1": {
			`{"text":"Look at this.","type":"text"},{"source":{"data":"` + image + `","media_type":"image/png","type":"base64"},"type":"image"},` +
				`{"source":{"data":"` + photo + `","media_type":"image/jpeg","type":"base64"},"type":"image"}`,
			`"content":[{"source":{"data":"` + image + `","media_type":"image/png","type":"base64"},"type":"image"}]`,
		},
		"google:gemini-2.5-flash": {
			`{"role":"user","parts":[{"text":"Look at this."},{"inlineData":{"data":"` + image + `","mimeType":"image/png"}},` +
				`{"inlineData":{"data":"` + photo + `","mimeType":"image/jpeg"}}]}`,
			`{"role":"user","parts":[{"inlineData":{"data":"` + image + `","mimeType":"image/png"}}]}`,
		},
	} {
		t.Run(model, func(t *testing.T) {
			s, router := newServer(t)
			s.Always(llmtest.Say("ok"))
			for _, r := range []llm.Request{pictured(text, png, jpeg), pictured("", png), pictured(text)} {
				r.Model = model
				if _, err := router.Generate(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			for i, want := range []string{want.both, want.alone} {
				if body := string(s.Requests()[i].Body); !strings.Contains(body, want) {
					t.Errorf("request %d lacks\n%s\n%s", i, want, body)
				}
			}
			if body := string(s.Requests()[2].Body); strings.Contains(body, "image") {
				t.Errorf("an image from nowhere: %s", body)
			}
		})
	}
}

func TestGeminiIsToldOfAnImageThatItDoesNotTake(t *testing.T) {
	s, router := newServer(t)
	s.Reply(llmtest.Say("ok"))
	r := pictured("", llm.Media{MIMEType: "image/gif", Data: []byte("GIF89a...")})
	r.Model = "google:gemini-2.5-flash"
	if _, err := router.Generate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests()[0].Body); !strings.Contains(body, "[file image/gif, 9 bytes: cannot be read by the model]") {
		t.Error(body)
	}
}

func TestImagesOfTwoMessagesInARowStayTogether(t *testing.T) {
	first, second := user("one"), user("two")
	first.ID, second.ID = "m1", "m2"
	s, router := newServer(t)
	s.Reply(llmtest.Say("ok"))
	r := llm.Request{Model: "openai:gpt-4o", Messages: []contract.Message{first, second}, Media: map[string][]llm.Media{"m1": {png}, "m2": {jpeg}}}
	if _, err := router.Generate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests()[0].Body); strings.Count(body, "image_url\":{") != 2 || !strings.Contains(body, `one\n\ntwo`) {
		t.Error(body)
	}
}
