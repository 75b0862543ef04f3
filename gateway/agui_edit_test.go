package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

func editable() contract.PendingApproval {
	p := destructive(someUUID)
	p.ToolArgs = contract.JSON{Raw: json.RawMessage(`{"name":"disk","value":42,"to":{"city":"Rome","zip":7}}`)}
	p.Edit = []string{"value", "to.city"}
	return p
}

// The members of editedArgs that differ are the changes. Nothing else may differ, and a run that is posted
// again changes nothing.
func TestAnInterruptIsApprovedWithEditedArguments(t *testing.T) {
	for edited, want := range map[string]string{
		`{"name":"disk","value":7,"to":{"city":"Rome","zip":7}}`:  `{"value":7}`,
		`{"name":"disk","value":42,"to":{"zip":7,"city":"Oslo"}}`: `{"to.city":"Oslo"}`,
		`{"value":7,"to":{"city":"Oslo"}}`:                        `{"to.city":"Oslo","value":7}`,
		`{"value":9007199254740993}`:                              `{"value":9007199254740993}`,
		`{"to":{"zip":7},"value":42}`:                             "",
		`null`:                                                    "",
	} {
		synctest.Test(t, func(t *testing.T) {
			s, a := asking(t, editable())
			defer a.Close()
			answer := resumeOf(resolved(someUUID, `{"approved":true,"editedArgs":`+edited+`}`))
			if e := a.run(answer); ended(e) != "success" || !s.decided[someUUID].Approved || string(s.decided[someUUID].Edit) != want {
				t.Errorf("%s: %s, decided %+v", edited, kinds(e), s.decided[someUUID])
			}
			if e := a.run(answer); ended(e) != "success" {
				t.Errorf("%s again: %s %s", edited, kinds(e), ended(e))
			}
		})
	}
}

func TestEditedArgumentsThatAreRefusedDecideNothing(t *testing.T) {
	for payload, says := range map[string]string{
		`{"approved":true,"editedArgs":{"name":"x"}}`:             `"name" may not be changed; what may be changed is value, to.city`,
		`{"approved":true,"editedArgs":{"value":7,"new":1}}`:      `"new" may not be changed`,
		`{"approved":true,"editedArgs":{"to":{"zip":8}}}`:         `"to.zip" may not be changed`,
		`{"approved":true,"editedArgs":{"to":"Oslo"}}`:            `"to" may not be changed`,
		`{"approved":true,"editedArgs":{"value":7,"value":8}}`:    "value",
		`{"approved":true,"editedArgs":[7]}`:                      "must be an object",
		`{"approved":false,"editedArgs":{"value":7}}`:             "come with a yes",
		`{"approved":true,"args":{"name":"disk","value":7}}`:      "changes are editedArgs",
		`{"approved":true,"editedArgs":{"value":1000}}`:           "edit: the rule never refuses the changed call. No.",
		`{"approved":true,"editedArgs":{"value":"many"}}`:         "edit: value is no number",
		`{"approved":true,"editedArgs":{"value":7},"content":{}}`: "expected a payload",
		`{"approved":true,"editedArgs":{"VALUE":7}}`:              `"VALUE" may not be changed`,
	} {
		synctest.Test(t, func(t *testing.T) {
			s, a := asking(t, editable())
			defer a.Close()
			s.refuse = func(in contract.DecideSignal) error {
				switch {
				case strings.Contains(string(in.Edit), "1000"):
					return service.Errorf(contract.KindForbidden, "edit: the rule never refuses the changed call. No.")
				case strings.Contains(string(in.Edit), "many"):
					return service.Errorf(contract.KindInvalid, "edit: value is no number")
				}
				return nil
			}
			e := a.run(resumeOf(resolved(someUUID, payload)))
			if kinds(e) != "RUN_ERROR" || ended(e) != "resume_invalid" || !strings.Contains(e[len(e)-1].text("message"), says) || len(s.decided) != 0 {
				t.Errorf("%s: %s %q, decided %v", payload, ended(e), e[len(e)-1].text("message"), s.decided)
			}
		})
	}
}
