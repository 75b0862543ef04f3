package answer_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
)

func TestAnswersThatAreTaken(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"approved":true}`: true, `{"approved":false}`: false,
		`{"approved":"yes"}`: true, `{"approved":"NO "}`: false,
		`{"action":"approve"}`: true, `{"action":"reject"}`: false,
		`{"answer":"yes"}`: true, `{"answer":"  Y\n"}`: true, `{"answer":"deny"}`: false,
		`{"answer":true}`: true, `{"action":false}`: false,
		`"yes"`: true, `"no"`: false, `" OK "`: true, `true`: true, `false`: false, " true \n": true,
		`{"answer":"","action":"approve"}`:                  true,
		`{"answer":null,"approved":false}`:                  false,
		`{"answer":"yes","approved":true,"x":[1,{"y":2}]}`:  true,
		`{"Approved":true}`:                                 true,
		`{"approved":true,"approved":true}`:                 true,
		`{"answer":"no","action":"cancel","approved":null}`: false,
	} {
		got, err := answer.Parse(json.RawMessage(raw))
		if err != nil || got.Approved != want {
			t.Errorf("Parse(%s) = %v, %v; expected %v", raw, got.Approved, err, want)
		}
	}
}

func TestAnswersThatAreNeitherYesNorNo(t *testing.T) {
	for _, raw := range []string{
		``, ` `, `{}`, `null`, `[]`, `["yes"]`, `1`, `0`, `1.5`, `"maybe"`, `""`, `"  "`, `yes`, `{"yes":true}`,
		`{"answer":"maybe"}`, `{"answer":""}`, `{"approved":null}`, `{"approved":1}`, `{"approved":{}}`, `{"answer":["yes"]}`,
		`{"approved":true,"answer":"no"}`, `{"approved":false,"answer":"yes"}`, `{"approved":true,"approved":false}`,
		`{"Approved":true,"approved":false}`, `{"approved":true,"answer":"maybe"}`, `{"approved":true,"by":5}`,
		`{"approved":true}{"approved":true}`, `{"approved":true} x`, `{"approved":true`, `{"approved":tru}`, "\x00", `"yes" "no"`,
		`"yes please"`, `"yesno"`,
	} {
		got, err := answer.Parse(json.RawMessage(raw))
		if err == nil {
			t.Errorf("Parse(%s) = %+v; expected an error", raw, got)
			continue
		}
		if !strings.Contains(err.Error(), answer.Accepted) {
			t.Errorf("Parse(%s): %v; it must say what is accepted", raw, err)
		}
	}
}

func TestEveryWordInAnyCase(t *testing.T) {
	_, words, _ := strings.Cut(answer.Accepted, "words for yes: ")
	yes, no, _ := strings.Cut(words, "; words for no: ")
	for approved, list := range map[bool]string{true: yes, false: no} {
		for _, w := range strings.Fields(list) {
			for _, form := range []string{w, strings.ToUpper(w), " " + w + "\t"} {
				if got, ok := answer.Word(form); !ok || got != approved {
					t.Errorf("Word(%q) = %v, %v; expected %v", form, got, ok, approved)
				}
			}
		}
	}
	if n := len(strings.Fields(yes)) + len(strings.Fields(no)); n != 17 {
		t.Errorf("Accepted names %d words; expected 17", n)
	}
}

func TestWhatTheGatewaySendsIsReadBack(t *testing.T) {
	raw, err := json.Marshal(contract.DecideSignal{
		RequestID: "r", Approved: true, By: "ops", Reason: "looked fine", Via: "rest", Credential: "v1.k.x",
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := answer.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	want := answer.Answer{Approved: true, By: "ops", Reason: "looked fine", RequestID: "r", Via: "rest", Credential: "v1.k.x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"approved":true}`, `"yes"`, `{"answer":"no","by":"x"}`, `{}`, `[`, `{"approved":true,"answer":"no"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		first, err := answer.Parse(raw)
		if err != nil {
			if (!reflect.DeepEqual(first, answer.Answer{})) || !strings.HasSuffix(err.Error(), answer.Accepted) {
				t.Fatalf("%q: %+v with error %v", raw, first, err)
			}
			return
		}
		if !json.Valid(raw) {
			t.Fatalf("%q is not JSON and was taken as %+v", raw, first)
		}
		if again, err := answer.Parse(raw); err != nil || !reflect.DeepEqual(again, first) {
			t.Fatalf("%q: %+v, then %+v, %v", raw, first, again, err)
		}
	})
}
