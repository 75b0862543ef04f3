package request_test

import (
	"encoding/json"
	"testing"

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
	}
	for text, want := range map[string]string{
		`[]`:                 "the whole: expected an object, not array",
		`{"message":1}`:      "message: expected a string, not number",
		`{"yes":"y"}`:        "yes: expected true or false, not string",
		`{"list":{}}`:        "list: expected a list, not object",
		`{"inner":[]}`:       "inner: expected an object, not array",
		`{"inner":{"n":""}}`: "inner.n: expected a number, not string",
		`{`:                  "unexpected end of JSON input",
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
