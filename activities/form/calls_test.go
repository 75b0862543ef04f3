package form_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/form"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract/toolchoice"
)

func TestOnlyToolsThatAreOfferedAsTheSendersAreDemanded(t *testing.T) {
	var r llm.Request
	form.Demand(&r, toolchoice.Choice{Call: []string{"pick", "list", "pick", "gone"}, Single: true}, func(name string) bool { return name == "pick" })
	if diff := cmp.Diff(toolchoice.Choice{Call: []string{"pick"}, Single: true}, r.Choice); diff != "" {
		t.Error(diff)
	}
}

func TestASingleCallIsLeft(t *testing.T) {
	reply := llm.Reply{Text: "I look.", Calls: []llm.Call{{Name: "a"}, {Name: "b"}}, Native: &llm.Native{}}
	if got := form.Single(reply, toolchoice.Choice{Call: []string{"b"}}); len(got.Calls) != 2 || got.Native == nil {
		t.Errorf("nothing was said of the number of calls: %+v", got)
	}
	got := form.Single(reply, toolchoice.Choice{Single: true})
	if len(got.Calls) != 1 || got.Calls[0].Name != "a" || got.Native != nil || got.Text != "I look." {
		t.Errorf("%+v", got)
	}
	reply.Calls = reply.Calls[:1]
	if got := form.Single(reply, toolchoice.Choice{Single: true}); len(got.Calls) != 1 || got.Native == nil {
		t.Errorf("a reply with one call is complete: %+v", got)
	}
}
