package llm_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/workflows/contract"
)

func TestOnlyImagesGoOnTheWire(t *testing.T) {
	s, router := sample.NewServer(t)
	s.Always(llmtest.Say("ok"))
	messages, _ := sample.Illustrated()
	lies := []llm.Media{{MIMEType: "image/png", Data: []byte("no image")}, {MIMEType: "image/svg+xml", Data: []byte("<svg/>")}, sample.Page, {MIMEType: "image/png"}}
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
	s, router := sample.NewServer(t)
	s.Reply(llmtest.Say("ok"))
	messages, _ := sample.Illustrated()
	media := map[string][]llm.Media{"m4": {{MIMEType: "image/jpg", Data: sample.PNG.Data}}}
	if _, err := router.Generate(t.Context(), llm.Request{Model: "claude-opus-4-1", Messages: messages, Media: media}); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests()[0].Body); !strings.Contains(body, `"data":"iVBORw0KGgpjaGFydA==","media_type":"image/png"`) {
		t.Error(body)
	}
}

func TestMediaOfResultsThatPairWithNoCallAreLeftOut(t *testing.T) {
	s, router := sample.NewServer(t)
	s.Reply(llmtest.Say("ok"))
	orphan, nameless := sample.Result("", "a", "x", "A"), sample.Result("r1", "b", "x", "B")
	orphan.ID = "m1"
	messages := []contract.Message{sample.User("go"), orphan, sample.Call("r1", "b", "x", `{}`), nameless}
	if _, err := router.Generate(t.Context(), llm.Request{Model: "openai:gpt-4o", Messages: messages, Media: map[string][]llm.Media{"m1": {sample.PNG}}}); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests()[0].Body); strings.Contains(body, "image_url") {
		t.Error(body)
	}
}

func TestImageType(t *testing.T) {
	for data, want := range map[string]string{
		string(sample.PNG.Data): "image/png", string(sample.JPEG.Data): "image/jpeg", "GIF89a…": "image/gif", "RIFF\x01\x02\x03\x04WEBPVP8 ": "image/webp",
		"": "", "<svg/>": "", "BM…": "", "<html>": "", "\x89PNG": "",
	} {
		if got := llm.ImageType([]byte(data)); got != want {
			t.Errorf("%q is %q, want %q", data, got, want)
		}
	}
}

// withImages returns a conversation with one user message that has images.
func withImages(text string, media ...llm.Media) llm.Request {
	first := sample.User("Look at this.")
	if first.Content.Inline = text; text == "" {
		first.Content = contract.Text{}
	}
	first.ID = "m1"
	return llm.Request{Messages: []contract.Message{first, sample.Say("r1", "Nice."), sample.User("And?")}, Media: map[string][]llm.Media{"m1": media}}
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
			s, router := sample.NewServer(t)
			s.Always(llmtest.Say("ok"))
			for _, r := range []llm.Request{withImages(text, sample.PNG, sample.JPEG), withImages("", sample.PNG), withImages(text)} {
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

func TestImagesOfTwoMessagesInARowStayTogether(t *testing.T) {
	first, second := sample.User("one"), sample.User("two")
	first.ID, second.ID = "m1", "m2"
	s, router := sample.NewServer(t)
	s.Reply(llmtest.Say("ok"))
	r := llm.Request{Model: "openai:gpt-4o", Messages: []contract.Message{first, second}, Media: map[string][]llm.Media{"m1": {sample.PNG}, "m2": {sample.JPEG}}}
	if _, err := router.Generate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests()[0].Body); strings.Count(body, "image_url\":{") != 2 || !strings.Contains(body, `one\n\ntwo`) {
		t.Error(body)
	}
}

func TestPDFsOfAUserAreOnTheWire(t *testing.T) {
	const pdf, image = "JVBERi0xLjcKcGxhbg==", "iVBORw0KGgpjaGFydA=="
	nameless := llm.Media{Data: sample.PDF.Data}
	for model, want := range map[string]struct{ both, nameless string }{
		"openai:gpt-4o": {
			`{"content":[{"file":{"file_data":"data:application/pdf;base64,` + pdf + `","filename":"plan.pdf"},"type":"file"},` +
				`{"text":"Look at this.","type":"text"},{"image_url":{"url":"data:image/png;base64,` + image + `"},"type":"image_url"}],"role":"user"}`,
			`{"content":[{"file":{"file_data":"data:application/pdf;base64,` + pdf + `","filename":"document.pdf"},"type":"file"}],"role":"user"}`,
		},
		"claude-opus-4-1": {
			`{"source":{"data":"` + pdf + `","media_type":"application/pdf","type":"base64"},"title":"plan.pdf","type":"document"},` +
				`{"text":"Look at this.","type":"text"},{"source":{"data":"` + image + `","media_type":"image/png","type":"base64"},"type":"image"}`,
			`"content":[{"source":{"data":"` + pdf + `","media_type":"application/pdf","type":"base64"},"type":"document"}]`,
		},
		"google:gemini-2.5-flash": {
			`{"role":"user","parts":[{"inlineData":{"data":"` + pdf + `","mimeType":"application/pdf"}},{"text":"Look at this."},` +
				`{"inlineData":{"data":"` + image + `","mimeType":"image/png"}}]}`,
			`{"role":"user","parts":[{"inlineData":{"data":"` + pdf + `","mimeType":"application/pdf"}}]}`,
		},
	} {
		t.Run(model, func(t *testing.T) {
			s, router := sample.NewServer(t)
			s.Always(llmtest.Say("ok"))
			long := llm.Media{Name: strings.Repeat("ü", 600), Data: sample.PDF.Data}
			for _, r := range []llm.Request{withImages("Look at this.", sample.PNG, sample.PDF), withImages("", nameless), withImages("", long)} {
				r.Model = model
				if _, err := router.Generate(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			for i, want := range []string{want.both, want.nameless} {
				if body := string(s.Requests()[i].Body); !strings.Contains(body, want) {
					t.Errorf("request %d lacks\n%s\n%s", i, want, body)
				}
			}
		})
	}
}

// What an entry declares goes before what is known of its model.
func TestAModelIsShownTheKindsOfFilesThatItTakes(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		entry      llm.Entry
		image, pdf bool
	}{
		"known":             {llm.Entry{Provider: contract.ProviderOpenAI, Model: "gpt-4o"}, true, true},
		"no PDF":            {llm.Entry{Provider: contract.ProviderOpenAI, Model: "gpt-4o", PDF: &no}, true, false},
		"nothing":           {llm.Entry{Provider: contract.ProviderOpenAI, Model: "gpt-4o", Images: &no, PDF: &no}, false, false},
		"old":               {llm.Entry{Provider: contract.ProviderAnthropic, Model: "claude-3-opus-20240229"}, true, false},
		"unknown":           {llm.Entry{Provider: contract.ProviderOllama, Model: "llava"}, false, false},
		"images, declared":  {llm.Entry{Provider: contract.ProviderOllama, Model: "llava", Images: &yes}, true, false},
		"PDFs, declared":    {llm.Entry{Provider: contract.ProviderOpenRouter, Model: "a/b", PDF: &yes}, false, true},
		"at another server": {llm.Entry{Provider: contract.ProviderCompatible, Model: "m", Images: &yes, PDF: &yes}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer()
			t.Cleanup(s.Close)
			s.Always(llmtest.Say("ok"))
			c.entry.Name, c.entry.BaseURL = "m", s.URL()
			router := router.New(router.Options{Getenv: sample.Keys, Models: []llm.Entry{c.entry}})
			if f := router.Facts("m").Takes; f.Images != c.image || f.PDF != c.pdf {
				t.Errorf("%+v", f)
			}
			r := withImages("Look.", sample.PNG, sample.PDF)
			r.Model = "m"
			if _, err := router.Generate(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			body := string(s.Requests()[0].Body)
			if image, pdf := strings.Contains(body, "image/png"), strings.Contains(body, "application/pdf"); image != c.image || pdf != c.pdf {
				t.Errorf("%s", body)
			}
		})
	}
}
