package request_test

import (
	"encoding/json"
	"testing"
	"time"

	"agent-stop-and-go/gateway/request"
)

func TestDecodeErrorText(t *testing.T) {
	var v struct {
		Message string   `json:"message"`
		Yes     *bool    `json:"yes"`
		List    []string `json:"list"`
		Inner   struct {
			N int `json:"n"`
		} `json:"inner"`
		X  float64   `json:"x"`
		At time.Time `json:"at"`
	}
	for text, want := range map[string]string{
		`[]`:                  "the whole: expected an object, not array",
		`{"message":1}`:       "message: expected a string, not number",
		`{"yes":"y"}`:         "yes: expected true or false, not string",
		`{"list":{}}`:         "list: expected a list, not object",
		`{"inner":[]}`:        "inner: expected an object, not array",
		`{"inner":{"n":""}}`:  "inner.n: expected a number, not string",
		`{"inner":{"n":1.0}}`: "inner.n: expected a whole number in range, not 1.0",
		`{"x":1e999}`:         "x: expected a number in range, not 1e999",
		`{"at":"noon"}`:       "expected a time such as 2026-03-01T12:00:00Z, not noon",
		`{`:                   "unexpected end of JSON input",
	} {
		err := json.Unmarshal([]byte(text), &v)
		if err == nil {
			t.Fatalf("%s was read", text)
		}
		if got := request.DecodeErrorText(err); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

type common struct {
	Stream *bool `json:"stream"`
}

// Callers know nothing of embedded structs.
func TestAnErrorNamesMembersAsCallersKnowThem(t *testing.T) {
	var v struct {
		common
		Parts []*struct {
			common
			Text string `json:"text"`
		} `json:"parts"`
	}
	for text, want := range map[string]string{
		`{"stream":1}`:                        "invalid request body: stream: expected true or false, not number",
		`{"parts":[{"text":"a"},{"text":1}]}`: "invalid request body: parts.text: expected a string, not number",
		`{"parts":[{"stream":"no"}]}`:         "invalid request body: parts.stream: expected true or false, not string",
		`[]`:                                  "invalid request body: the whole: expected an object, not array",
	} {
		if err := request.Decode([]byte(text), &v); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
