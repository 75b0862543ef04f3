package answer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/answer"
)

const booking = `{"type":"object","required":["seats","class","note"],"properties":{
	"seats":{"type":"integer","title":"Seats","description":"How many","minimum":1,"maximum":9,"default":2},
	"class":{"type":"string","enum":["eco","biz"],"enumNames":["Economy","Business"]},
	"note":{"type":"string"},
	"window":{"type":"boolean"},
	"extras":{"type":"array","minItems":1,"items":{"oneOf":[{"const":"meal","title":"A meal"},{"const":"bag","title":"A bag"}]}},
	"code":{"type":"string","maxLength":3},
	"when":{"type":"string","format":"date"}}}`

func TestFieldsOfAQuestion(t *testing.T) {
	var got []string
	for _, f := range answer.Fields(json.RawMessage(booking)) {
		got = append(got, fmt.Sprintf("%s %s required=%v many=%v long=%v default=%q %v", f.Name, f.Type, f.Required, f.Many, f.Long, f.Default, f.Choices))
	}
	want := []string{
		`seats integer required=true many=false long=false default="2" []`,
		`class string required=true many=false long=true default="" [{Economy eco} {Business biz}]`,
		`note string required=true many=false long=true default="" []`,
		`window boolean required=false many=false long=false default="" [{Yes yes} {No no}]`,
		`extras array required=false many=true long=false default="" [{A meal meal} {A bag bag}]`,
		`code string required=false many=false long=false default="" []`,
		`when string required=false many=false long=false default="" []`,
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if got := answer.Fields(json.RawMessage(`"no schema"`)); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsTypedIntoAField(t *testing.T) {
	fields := map[string]answer.Field{}
	for _, f := range answer.Fields(json.RawMessage(booking)) {
		fields[f.Name] = f
	}
	for _, tc := range []struct {
		field string
		texts []string
		want  string // a value, or what an error says
	}{
		{"seats", []string{"3"}, "3"},
		{"seats", []string{"0"}, "must be at least 1"},
		{"seats", []string{"1.5"}, "must be a whole number"},
		{"seats", []string{"three"}, "must be a number"},
		{"seats", []string{""}, "an answer is required"},
		{"class", []string{"eco"}, `"eco"`},
		{"class", []string{"first"}, "must be one of"},
		{"class", []string{""}, "an answer is required"},
		{"note", []string{""}, `""`},
		{"note", []string{`a "b"`}, `"a \"b\""`},
		{"window", []string{"no"}, "false"},
		{"window", []string{"perhaps"}, "must be yes or no"},
		{"window", []string{""}, ""},
		{"extras", []string{"meal", "bag"}, `["meal","bag"]`},
		{"extras", nil, ""},
		{"extras", []string{"wine"}, "must be one of"},
		{"code", []string{"abcd"}, "at most 3 characters"},
	} {
		value, err := fields[tc.field].Read(tc.texts...)
		if got := string(value); err == nil && got != tc.want || err != nil && (tc.want == "" || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s %q: got %s, %v, want %s", tc.field, tc.texts, got, err, tc.want)
		}
	}
}

func TestAFilledFormIsTheContentOfAnAnswer(t *testing.T) {
	values := map[string]json.RawMessage{"seats": json.RawMessage("3"), "class": json.RawMessage(`"eco"`), "note": json.RawMessage(`""`), "window": nil}
	content, err := answer.Filled(json.RawMessage(booking), values)
	if err != nil || string(content) != `{"seats":3,"class":"eco","note":""}` {
		t.Errorf("%s, %v", content, err)
	}
	delete(values, "class")
	if _, err := answer.Filled(json.RawMessage(booking), values); err == nil || !strings.Contains(err.Error(), `"class" is missing`) {
		t.Error(err)
	}
}
