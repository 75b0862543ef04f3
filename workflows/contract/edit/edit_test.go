package edit_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract/edit"
)

const call = `{"amount":700,"big":12345678901234567890,"to":{"city":"Bern","x.y":1},"a.b":1,"html":"<&>"}`

var allowed = []string{"amount", "to.city", "a.b", "note", "big", "new.city"}

func TestOnlyWhatIsAllowedChanges(t *testing.T) {
	for changes, want := range map[string]string{
		`{"amount":400}`:                         `{"a.b":1,"amount":400,"big":12345678901234567890,"html":"<&>","to":{"city":"Bern","x.y":1}}`,
		`{"to.city":"Basel","a.b":2}`:            `{"a.b":2,"amount":700,"big":12345678901234567890,"html":"<&>","to":{"city":"Basel","x.y":1}}`,
		`{"note":"new","amount":7e2}`:            `{"a.b":1,"amount":7e2,"big":12345678901234567890,"html":"<&>","note":"new","to":{"city":"Bern","x.y":1}}`,
		`{"amount":null,"big":{"deep":[1,"2"]}}`: `{"a.b":1,"amount":null,"big":{"deep":[1,"2"]},"html":"<&>","to":{"city":"Bern","x.y":1}}`,
	} {
		if got, err := edit.Apply([]byte(call), []byte(changes), allowed); err != nil || string(got) != want {
			t.Errorf("%s: %s %v", changes, got, err)
		}
	}
}

func TestChangesThatAreRefused(t *testing.T) {
	for changes, want := range map[string]string{
		`{"to":{"city":"Basel"}}`:    `"to" may not be changed; what may be changed is amount, to.city`,
		`{"Amount":1}`:               `"Amount" may not be changed`,
		`{"amount ":1}`:              `may not be changed`,
		`{"*":1}`:                    `"*" may not be changed`,
		`{"amount":1,"amount":2}`:    `"amount" is there twice`,
		`{"amount":1,"AMOUNT":2}`:    `"AMOUNT" is there twice`,
		`{"big":{"a":1,"A":2}}`:      `"A" is there twice`,
		`{"big":{"s":1,"\u017f":2}}`: `"ſ" is there twice`, // which many programs read as one
		`{"new.city":1}`:             `no object new to change city in`,
		`{}`:                         `nothing is changed`,
		`null`:                       `nothing is changed`,
		`[]`:                         `must be an object`,
		`"amount"`:                   `must be an object`,
		`{"amount":1} {"amount":2}`:  `more than one value`,
		`{"amount"`:                  `is not JSON`,
		strings.Repeat(" ", 1<<15+1): `nothing is changed`,
		`{"amount":"` + strings.Repeat("x", 1<<15) + `"}`: `more than 32768`,
	} {
		if got, err := edit.Apply([]byte(call), []byte(changes), allowed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %.200s %v", changes, got, err)
		}
	}
	if _, err := edit.Apply([]byte(`{"AMOUNT":1}`), []byte(`{"amount":2}`), allowed); err == nil || !strings.Contains(err.Error(), `the call has "AMOUNT"`) {
		t.Errorf("a name in another case: %v", err)
	}
	if err := edit.Check([]byte(`{"amount":1}`), nil); err == nil || !strings.Contains(err.Error(), "no argument of this call may be changed") {
		t.Errorf("nothing is allowed: %v", err)
	}
}

func TestWhatChangedIsListed(t *testing.T) {
	got, err := edit.Between([]byte(call), []byte(`{"amount":400,"big":12345678901234567890,"to":{"city":"Bern","x.y":1},"a.b":1,"html":"<&>","note":null}`), []byte(`{"amount":"400","note":null,"big":12345678901234567890}`))
	if err != nil || len(got) != 2 || got[0] != (edit.Change{Name: "amount", Before: "700", After: "400"}) || got[1] != (edit.Change{Name: "note", After: "null"}) {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := edit.Between([]byte(call), []byte(call), []byte(`{"amount":700}`)); err == nil || !strings.Contains(err.Error(), "nothing is changed") {
		t.Errorf("the same: %v", err)
	}
	if _, err := edit.Between([]byte(`{"amount":1,"to":2}`), []byte(`{"amount":2,"to":"2"}`), []byte(`{"amount":2}`)); err == nil || !strings.Contains(err.Error(), "other arguments") {
		t.Errorf("something else changed: %v", err)
	}
}
