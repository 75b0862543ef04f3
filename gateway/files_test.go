package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modality"
)

// paper is a small PDF.
const paper = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj<</Type/Catalog>>endobj\n%%EOF\n"

// takingPDFs gives the agent a model that takes PDFs.
func takingPDFs(d *gateway.Deps) {
	d.Takes = func(model string) modality.Set { return modality.Set{PDF: model == contract.DemoModel} }
}

// sendings are a file in a message to each front end that takes files. A text has DATA for the
// base64 of the file and KIND for its declared media type.
var sendings = map[string]struct{ path, body, name string }{
	"REST": {"/conversations", `{"message":"Read it.","files":[{"name":"plan.pdf","media_type":"KIND","data":"DATA"}]}`, "plan.pdf"},
	"chat completions": {
		"/v1/chat/completions",
		`{"model":"helper","messages":[{"role":"user","content":[{"type":"text","text":"Read it."},{"type":"file","file":{"filename":"plan.pdf","file_data":"data:KIND;base64,DATA"}}]}]}`, "plan.pdf",
	},
	"responses": {
		"/v1/responses",
		`{"model":"helper","input":[{"role":"user","content":[{"type":"input_text","text":"Read it."},{"type":"input_file","filename":"plan.pdf","file_data":"data:KIND;base64,DATA"}]}]}`, "plan.pdf",
	},
	"responses, an address": {
		"/v1/responses",
		`{"model":"helper","input":[{"role":"user","content":[{"type":"input_file","file_url":"data:KIND;base64,DATA"}]}]}`, "file 1",
	},
	"A2A": {
		"/a2a",
		`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m-1","role":"user","parts":[{"kind":"text","text":"Read it."},{"kind":"file","file":{"name":"plan.pdf","mimeType":"KIND","bytes":"DATA"}}]}}}`, "plan.pdf",
	},
	"Ollama": {"/api/chat", `{"model":"helper","stream":false,"messages":[{"role":"user","content":"Read it.","images":["DATA"]}]}`, "image 1"},
}

// send sends a file to a front end of a new agent, and returns the reply, the messages that came to
// conversations, and the blobs.
func send(t *testing.T, path, body, kind, data string, change ...func(*gateway.Deps)) (r reply, sent []contract.MessageSignal, blobs *memory) {
	t.Helper()
	m := newMany(t)
	c := chatting(t, m, change...)
	r = post(c, path, strings.NewReplacer("KIND", kind, "DATA", base64.StdEncoding.EncodeToString([]byte(data))).Replace(body))
	for _, s := range m.scripts {
		sent = append(sent, s.sent...)
	}
	return r, sent, c.blobs
}

// post sends a request to the port of the API, or to that of Ollama.
func post(c *completions, path, body string) reply {
	if !strings.HasPrefix(path, "/api/") {
		return c.do("POST", path, body)
	}
	w := httptest.NewRecorder()
	c.Ollama().ServeHTTP(w, newRequest("POST", path, body))
	return reply{status: w.Code, header: w.Header(), raw: w.Body.String()}
}

func TestAPDFComesWithAMessageOfEveryFrontEnd(t *testing.T) {
	for front, s := range sendings {
		kinds := []string{"application/pdf"}
		if front == "REST" {
			kinds = append(kinds, "application/octet-stream", "application/x-pdf")
		}
		for _, kind := range kinds {
			t.Run(front+" "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r, sent, blobs := send(t, s.path, s.body, kind, paper, takingPDFs)
					if r.status >= 300 || len(sent) != 1 || len(sent[0].Media) != 1 {
						t.Fatalf("%d messages: %d %s", len(sent), r.status, r.raw)
					}
					m := sent[0].Media[0]
					if m.MIMEType != "application/pdf" || m.Name != s.name || m.SHA256 != contract.Hash([]byte(paper)) || m.Size != int64(len(paper)) || m.Preview != "" {
						t.Errorf("%+v", m)
					}
					if !strings.HasSuffix(sent[0].Text.Inline, "[PDF "+s.name+"]") {
						t.Errorf("text %q", sent[0].Text.Inline)
					}
					if data, err := blobs.Get(t.Context(), m.Blob); err != nil || string(data) != paper {
						t.Errorf("%q %v", data, err)
					}
					if raw, err := json.Marshal(sent[0]); err != nil || strings.Contains(string(raw), "Catalog") || strings.Contains(string(raw), "JVBERi") {
						t.Errorf("the bytes are in the signal: %s %v", raw, err)
					}
				})
			})
		}
	}
}

// A refused file leaves nothing behind: no conversation, and no blob.
func TestAPDFIsRefusedBeforeAnythingIsStored(t *testing.T) {
	const notPDF = "is no PDF: it does not begin with %PDF-"
	blind := func(d *gateway.Deps) { d.Takes = func(string) modality.Set { return modality.Set{Images: true} } }
	for front, s := range sendings {
		for name, c := range map[string]struct {
			kind, data string
			change     func(*gateway.Deps)
			want       string
			restOnly   bool // the others do the same
		}{
			"no model takes it":     {"application/pdf", paper, blind, "no model of this agent takes PDFs", false},
			"nothing is known":      {"application/pdf", paper, func(*gateway.Deps) {}, "no model of this agent takes PDFs", true},
			"what is no PDF":        {"application/pdf", "PK\x03\x04 a document of another kind", takingPDFs, notPDF, false},
			"the header comes late": {"application/pdf", "\n%PDF-1.7", takingPDFs, notPDF, true},
			"another kind of file":  {"application/zip", paper, takingPDFs, "a file of type application/zip is not supported here; texts, images and PDFs are", true},
		} {
			if front == "Ollama" && c.want == notPDF {
				c.want = "a file of type application/zip is not supported here" // its images have no type
			}
			if c.restOnly && front != "REST" {
				continue
			}
			t.Run(front+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r, sent, blobs := send(t, s.path, s.body, c.kind, c.data, c.change)
					switch status, code := r.status, r.at("error", "code"); {
					case front == "A2A" && code != -32005.0:
						t.Errorf("%d %s", status, r.raw)
					case front != "A2A" && status != 415:
						t.Errorf("%d %s", status, r.raw)
					}
					if !strings.Contains(r.raw, c.want) {
						t.Errorf("%s lacks %q", r.raw, c.want)
					}
					if len(sent) != 0 || blobs.count() != 0 {
						t.Errorf("%d messages, %d blobs", len(sent), blobs.count())
					}
				})
			})
		}
	}
}

// A message to a conversation is refused like the first one.
func TestAPDFToAConversationIsRefusedUnlessItsModelIsNamed(t *testing.T) {
	var m mailbox
	a := newAPI(t, &fakeBackend{SignalFn: m.signal, AwaitFn: answering("ok")}, func(d *gateway.Deps) {
		d.Agent.Choices = []string{"reader", "plain"}
		d.Takes = func(model string) modality.Set { return modality.Set{PDF: model == "reader"} }
	})
	body := func(more string) string {
		return `{"files":[{"name":"plan.pdf","data":"` + base64.StdEncoding.EncodeToString([]byte(paper)) + `"}]` + more + `}`
	}
	a.wantError(415, `the model "plain" takes no PDFs; those of OpenAI, Anthropic and Google do, and others whose entry in models says pdf: true`, a.do("POST", messages, body(`,"model":"plain"`)))
	if len(m.sent) != 0 || a.blobs.count() != 0 {
		t.Fatalf("%d messages, %d blobs", len(m.sent), a.blobs.count())
	}
	a.want(200, a.do("POST", messages, body(`,"model":"reader"`)))
	a.want(200, a.do("POST", messages, body(``))) // one that is chosen for the conversation may take it
	if len(m.sent) != 2 {
		t.Errorf("%d messages", len(m.sent))
	}
}

func TestBrokenBase64IsRefused(t *testing.T) {
	for front, s := range sendings {
		m := newMany(t)
		r := post(chatting(t, m, takingPDFs), s.path, strings.NewReplacer("KIND", "application/pdf", "DATA", "JVBERi0xLjc%").Replace(s.body))
		if len(m.scripts) != 0 || r.status != 400 && (r.status != 200 || r.at("error", "code") == nil) {
			t.Errorf("%s: %d %s", front, r.status, r.raw)
		}
	}
}

func TestACardOffersPDFsIfAModelTakesThem(t *testing.T) {
	for _, takes := range []bool{false, true} {
		change := func(*gateway.Deps) {}
		if takes {
			change = takingPDFs
		}
		a := newAPI(t, &fakeBackend{}, change)
		if card := a.want(200, a.do("GET", "/.well-known/agent-card.json", "")); strings.Contains(card.raw, modality.PDF) != takes {
			t.Error(card.raw)
		}
	}
}
