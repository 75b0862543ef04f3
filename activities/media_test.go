package activities_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

const pngHead = "\x89PNG\r\n\x1a\n"

// facts returns the facts about models that are not configured.
var facts = router.New(router.Options{}).Facts

// imageOf returns an image of n bytes with a content that depends on its name.
func imageOf(n int, name string) string {
	return (pngHead + name + strings.Repeat("x", n))[:n]
}

func mediaIn(t *testing.T, store *memory, mimeType, data string) contract.Media {
	t.Helper()
	b, err := store.Put(t.Context(), []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	b.Preview = ""
	return contract.Media{Blob: b, MIMEType: mimeType}
}

func TestMediaOfAResultLivesInTheStore(t *testing.T) {
	a := tools(t, answering(toolbox.Result{Text: "two", Media: []toolbox.Media{
		{MIMEType: "image/png", Name: "chart.png", Data: []byte(pngHead)}, {MIMEType: "text/plain", Data: []byte("hello")},
	}}, nil))
	got, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, false))
	if err != nil {
		t.Fatal(err)
	}
	want := contract.CallToolResult{Text: contract.Inline("two"), Media: []contract.Media{
		{Blob: contract.Blob{SHA256: contract.Hash([]byte(pngHead)), Size: 8}, MIMEType: "image/png", Name: "chart.png"},
		{Blob: contract.Blob{SHA256: contract.Hash([]byte("hello")), Size: 5}, MIMEType: "text/plain"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	for _, m := range got.Media {
		if _, err := a.Blobs.Get(t.Context(), m.Blob); err != nil {
			t.Error(err)
		}
	}
}

func TestMediaThatIsNotStoredIsAnOutcomeNobodyKnows(t *testing.T) {
	for destructive, kind := range map[bool]contract.Kind{true: contract.KindOutcomeUnknown, false: contract.KindBlob} {
		a := tools(t, answering(toolbox.Result{Media: []toolbox.Media{{MIMEType: "image/png", Data: []byte(pngHead)}}}, nil))
		a.Blobs.(*memory).putErr = errStore
		_, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, destructive))
		failedAs(t, err, kind, !destructive)
	}
}

// shownImages asks a model about results with media, one list for each result, and returns the
// media that it was shown as "message: data, data".
func shownImages(t *testing.T, store *memory, model string, results ...[]contract.Media) ([]string, error) {
	t.Helper()
	in := question("hi")
	in.Model = model
	for i, media := range results {
		id := fmt.Sprintf("c%d", i)
		in.Transcript.Tail = append(in.Transcript.Tail,
			contract.Message{ID: "a" + id, Role: contract.RoleAssistant, Reply: id, ToolCall: &contract.ToolCall{ID: id, Name: "draw", Arguments: raw(`{}`)}},
			contract.Message{ID: id, Role: contract.RoleTool, Reply: id, ToolCall: &contract.ToolCall{ID: id, Name: "draw", Media: media}})
	}
	var seen []string
	m := &activities.Models{Blobs: store, Facts: facts, Offer: fakeOffer{}, Model: fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
		for _, message := range r.Messages {
			if shown := r.Media[message.ID]; shown != nil {
				names := []string{}
				for _, media := range shown {
					names = append(names, strings.Trim(strings.TrimPrefix(string(media.Data), pngHead), "x"))
					if media.MIMEType != "image/png" {
						t.Errorf("shown as %s", media.MIMEType)
					}
				}
				seen = append(seen, message.ID+": "+strings.Join(names, ", "))
			}
		}
		return llm.Reply{Text: "ok"}, nil
	}}}
	_, err := run(t, t.Context(), m.Generate, in)
	return seen, err
}

func TestAModelIsShownTheImagesOfResults(t *testing.T) {
	const openai = "openai:gpt-4o"
	store := newMemory()
	png := func(n int, name string) contract.Media { return mediaIn(t, store, "image/png", imageOf(n, name)) }
	small := func(n int) []contract.Media {
		var out []contract.Media
		for i := range n {
			out = append(out, png(20, fmt.Sprint(i)))
		}
		return out
	}
	const largest = 15 << 18
	tests := map[string]struct {
		model   string
		results [][]contract.Media
		want    []string
	}{
		"none":              {openai, [][]contract.Media{nil}, nil},
		"in their order":    {openai, [][]contract.Media{{png(20, "a"), png(20, "b")}, nil, {png(20, "c")}}, []string{"c0: a, b", "c2: c"}},
		"the same twice":    {openai, [][]contract.Media{{png(20, "a")}, {png(20, "a")}}, []string{"c0: a", "c1: a"}},
		"only images":       {openai, [][]contract.Media{{mediaIn(t, store, "text/plain", "hi"), png(20, "a"), mediaIn(t, store, "image/svg+xml", "<svg/>")}}, []string{"c0: a"}},
		"what is no image":  {openai, [][]contract.Media{{mediaIn(t, store, "image/png", "no image")}}, nil},
		"by what it is":     {openai, [][]contract.Media{{mediaIn(t, store, "image/jpg", imageOf(20, "a"))}}, []string{"c0: a"}},
		"no PDF of a tool":  {openai, [][]contract.Media{{mediaIn(t, store, "application/pdf", "%PDF-1.7"), png(20, "a")}}, []string{"c0: a"}},
		"not the large one": {openai, [][]contract.Media{{png(20, "a"), png(largest+1, "b")}, {png(largest, "c")}}, []string{"c0: a", "c1: c"}},
		"the newest while there is room": {
			openai, [][]contract.Media{{png(20, "a")}, {png(largest, "b"), png(largest, "c")}, {png(largest, "d")}, {png(largest, "e")}},
			[]string{"c1: c", "c2: d", "c3: e"},
		},
		"the newest twenty":        {openai, [][]contract.Media{small(2), small(19)}, []string{"c0: 1", "c1: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18"}},
		"a model that reads only":  {"openai:gpt-3.5-turbo", [][]contract.Media{{png(20, "a")}}, nil},
		"the model that is a demo": {contract.DemoModel, [][]contract.Media{{png(20, "a")}}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := shownImages(t, store, tt.model, tt.results...)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestOnlyMediaThatIsNeededIsRead(t *testing.T) {
	lost := contract.Media{Blob: contract.Blob{SHA256: contract.Hash([]byte("lost")), Size: 4}, MIMEType: "audio/wav"}
	if _, err := shownImages(t, newMemory(), "openai:gpt-4o", []contract.Media{lost}); err != nil {
		t.Error(err)
	}
	lost.MIMEType = "application/pdf"
	if _, err := shownImages(t, newMemory(), "openai:gpt-4o", []contract.Media{lost}); err != nil {
		t.Error(err)
	}
	lost.MIMEType = "image/png"
	if _, err := shownImages(t, newMemory(), "ollama:llava", []contract.Media{lost}); err != nil {
		t.Error(err)
	}
	_, err := shownImages(t, newMemory(), "openai:gpt-4o", []contract.Media{lost})
	failedAs(t, err, contract.KindBlob, true)
}

func TestARequestWithImagesThatIsRefusedGoesOutWithoutThem(t *testing.T) {
	tests := map[contract.Kind]struct {
		images bool
		asked  int
	}{
		contract.KindModelRequest:     {true, 2},
		contract.KindModelContext:     {true, 2},
		contract.KindModelUnavailable: {true, 1},
		contract.KindModelAuth:        {true, 1},
		contract.KindModelGarbage:     {false, 1},
	}
	for kind, tt := range tests {
		store, asked := newMemory(), 0
		in := question("hi")
		in.Model = "openai:gpt-4o"
		if tt.images {
			in.Transcript.Tail = append(in.Transcript.Tail, contract.Message{ID: "m2", Role: contract.RoleTool, ToolCall: &contract.ToolCall{
				ID: "c", Name: "draw", Media: []contract.Media{mediaIn(t, store, "image/png", pngHead)},
			}})
		}
		m := &activities.Models{Blobs: store, Facts: facts, Offer: fakeOffer{}, Model: fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
			if asked++; len(r.Media) == 0 && tt.images {
				return llm.Reply{Text: "blind"}, nil
			}
			return llm.Reply{}, &llm.Error{Kind: kind, Message: "no"}
		}}}
		got, err := run(t, t.Context(), m.Generate, in)
		if asked != tt.asked {
			t.Errorf("%s: asked %d times, want %d", kind, asked, tt.asked)
		}
		if tt.asked == 2 {
			if err != nil || got.Text.Inline != "blind" {
				t.Errorf("%s: %+v, %v", kind, got, err)
			}
			continue
		}
		failedAs(t, err, kind, !kind.Permanent())
	}
}

func TestAnImageReachesTheProviderOnceItIsRecorded(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	s.Reply(llmtest.Say("I see."), llmtest.Fail(400, "Unsupported image."), llmtest.Say("I read."))
	a := tools(t, answering(toolbox.Result{Text: "a chart", Media: []toolbox.Media{{MIMEType: "image/png", Data: []byte(pngHead)}}}, nil))
	result, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, false))
	if err != nil {
		t.Fatal(err)
	}
	in := question("draw")
	in.Model = "openai:gpt-4o"
	in.Transcript.Tail = append(in.Transcript.Tail,
		contract.Message{ID: "m2", Role: contract.RoleAssistant, Reply: "r", ToolCall: &contract.ToolCall{ID: "c", Name: "draw", Arguments: raw(`{}`)}},
		contract.Message{ID: "m3", Role: contract.RoleTool, Reply: "r", ToolCall: &contract.ToolCall{ID: "c", Name: "draw", Result: result.Text, Media: result.Media}})
	model := router.New(router.Options{BaseURL: s.URL(), Getenv: func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "any"}[name]
	}})
	m := &activities.Models{Blobs: a.Blobs, Facts: facts, Offer: fakeOffer{}, Model: model}
	for _, want := range []string{"I see.", "I read."} {
		if got, err := run(t, t.Context(), m.Generate, in); err != nil || got.Text.Inline != want {
			t.Errorf("got %+v, %v; want %s", got, err, want)
		}
	}
	var shown []bool
	for _, r := range s.Requests() {
		shown = append(shown, strings.Contains(string(r.Body), `"data:image/png;base64,iVBORw0KGgo="`))
	}
	if diff := cmp.Diff([]bool{true, true, false}, shown); diff != "" || len(s.Refused()) != 0 {
		t.Errorf("refused %q, shown (-want +got):\n%s", s.Refused(), diff)
	}
}

// shownMessage asks a model about a message with media, and returns the text and the number of
// images in the request.
func shownMessage(t *testing.T, store *memory, model string, answer func(llm.Request) error, media ...contract.Media) (text string, images int) {
	t.Helper()
	in := question("Look.")
	in.Model = model
	last := &in.Transcript.Tail[len(in.Transcript.Tail)-1]
	last.ID, last.Media = "m1", media
	m := &activities.Models{Blobs: store, Facts: facts, Offer: fakeOffer{}, Model: fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
		if err := answer(r); err != nil {
			return llm.Reply{}, err
		}
		text, images = r.Messages[len(r.Messages)-1].Content.Inline, len(r.Media["m1"])
		return llm.Reply{Text: "ok"}, nil
	}}}
	if _, err := run(t, t.Context(), m.Generate, in); err != nil {
		t.Fatal(err)
	}
	return text, images
}

func TestAModelSeesAUsersFilesAndIsToldOfOthers(t *testing.T) {
	store := newMemory()
	image := mediaIn(t, store, "image/png", imageOf(20, "a"))
	image.Name = "a.png"
	paper := mediaIn(t, store, "application/pdf", "%PDF-1.7")
	paper.Name = "a\n[file]\nb.pdf"
	nameless, lie := mediaIn(t, store, "", "???"), mediaIn(t, store, "application/pdf", "PK")
	huge := mediaIn(t, store, "image/png", imageOf(15<<18+1, "h"))
	always := func(llm.Request) error { return nil }
	refused := func(r llm.Request) error {
		if len(r.Media) > 0 {
			return &llm.Error{Kind: contract.KindModelRequest, Message: "no images please"}
		}
		return nil
	}
	const pdf, zip, unnamed = "[file a [file] b.pdf, application/pdf, 8 bytes: cannot be read by the model]", "[file application/pdf, 2 bytes: cannot be read by the model]", "[file of no known type, 3 bytes: cannot be read by the model]"
	for name, tt := range map[string]struct {
		model  string
		answer func(llm.Request) error
		media  []contract.Media
		text   string
		images int
	}{
		"an image":                  {"openai:gpt-4o", always, []contract.Media{image}, "Look.", 1},
		"a PDF":                     {"openai:gpt-4o", always, []contract.Media{paper}, "Look.", 1},
		"what is no PDF":            {"openai:gpt-4o", always, []contract.Media{lie, paper}, "Look.\n\n" + zip, 1},
		"images and other files":    {"claude-3-opus-20240229", always, []contract.Media{image, paper, nameless}, "Look.\n\n" + pdf + "\n\n" + unnamed, 1},
		"a model that does not see": {"openai:gpt-3.5-turbo", always, []contract.Media{image}, "Look.\n\n[file a.png, image/png, 20 bytes: cannot be read by the model]", 0},
		"an image too large":        {"openai:gpt-4o", always, []contract.Media{huge}, "Look.\n\n[file image/png, 3932161 bytes: cannot be read by the model]", 0},
		"files that are refused":    {"openai:gpt-4o", refused, []contract.Media{image, paper}, "Look.\n\n[file a.png, image/png, 20 bytes: cannot be read by the model]\n\n" + pdf, 0},
	} {
		t.Run(name, func(t *testing.T) {
			text, images := shownMessage(t, store, tt.model, tt.answer, tt.media...)
			if text != tt.text || images != tt.images {
				t.Errorf("%d images with\n%s\nexpected %d with\n%s", images, text, tt.images, tt.text)
			}
		})
	}
}
