package demo_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/demo"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/workflows/contract"
)

var exit = sample.Tool(contract.ToolExitLoop, "Exit the loop", `{"type":"object","properties":{}}`, false)

func peer(name, about string) contract.Tool {
	p := contract.Peer{Name: name}
	return sample.Tool(p.Tool(), "Delegate task to A2A agent '"+name+"'. "+about,
		`{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`, false)
}

var peers = []contract.Tool{peer("reviewer", "Reviews texts."), peer("web-search", "Finds pages."), peer("web", "Reads pages.")}

func offer(tools ...[]contract.Tool) []contract.Tool {
	var out []contract.Tool
	for _, t := range tools {
		out = append(out, t...)
	}
	return out
}

var inLoop = offer(sample.Resources, []contract.Tool{exit})

// askWithPrompt returns the reply to messages with a system prompt.
func askWithPrompt(t *testing.T, system string, tools []contract.Tool, messages ...contract.Message) llm.Reply {
	t.Helper()
	r, err := demo.Model{}.Generate(t.Context(), llm.Request{Model: contract.DemoModel, System: system, Messages: messages, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDirectiveIsDoneInPlaceOfTheMessage(t *testing.T) {
	for name, tt := range map[string]struct {
		system   string
		messages []contract.Message
		want     []string
	}{
		"a request":                             {"You list.\ndemo: list the resources", nil, []string{`resources_list {}`}},
		"a request with arguments":              {"demo: add a resource named report with value 42", nil, []string{`resources_add {"name":"report","value":42}`}},
		"several requests":                      {"demo: list resources, then add a resource named a with value 1", nil, []string{`resources_list {}`, `resources_add {"name":"a","value":1}`}},
		"any case, blanks before":               {"You list.\n\t  DeMo:  list the resources", nil, []string{`resources_list {}`}},
		"no blank after":                        {"demo:list the resources", nil, []string{`resources_list {}`}},
		"Windows line ends":                     {"You list.\r\ndemo: list the resources\r\nBe brief.\r\n", nil, []string{`resources_list {}`}},
		"lines after it are not meant":          {"demo: list the resources\nThen add a resource named x with value 1.", nil, []string{`resources_list {}`}},
		"the last one counts":                   {"demo: add a resource named a with value 1\ndemo: list the resources", nil, []string{`resources_list {}`}},
		"an empty one does not count":           {"demo: list the resources\ndemo:\n", nil, []string{`resources_list {}`}},
		"one within a line is none":             {"This is a demo: list the resources.", nil, nil},
		"what the model says of itself is none": {"Found:\n" + demo.Note + "\n\nlist resources", nil, nil},
		"it stands after such a text":           {"Found:\n" + demo.Note + "\ndemo: list resources", nil, []string{`resources_list {}`}},
		"the message filled in": {"demo: add a resource named drop with value 7", []contract.Message{sample.User("drop")},
			[]string{`resources_add {"name":"drop","value":7}`}},
		"a message of several lines filled in": {"demo: list the resources, then add a resource\nnamed a with value 1\nBe brief and delete x.", []contract.Message{sample.User("add a resource\nnamed a with value 1")},
			[]string{`resources_list {}`, `resources_add {"name":"a","value":1}`}},
		"what was said before is no reason not to": {"demo: list the resources",
			[]contract.Message{sample.User("go"), sample.Say("r1", "[first] Done.")}, []string{`resources_list {}`}},
		"a call in an earlier turn is no reason not to": {"demo: list the resources",
			[]contract.Message{sample.User("go"), sample.Call("r1", "a", "resources_list", "{}"), sample.Result("r1", "a", "resources_list", "[]"), sample.User("again")},
			[]string{`resources_list {}`}},
		"the exit from a loop before is no result": {"demo: list the resources",
			[]contract.Message{sample.User("go"), sample.Call("r1", "a", contract.ToolExitLoop, "{}")}, []string{`resources_list {}`}},
	} {
		t.Run(name, func(t *testing.T) {
			messages := tt.messages
			if messages == nil {
				messages = []contract.Message{sample.User("!!!")}
			}
			r := askWithPrompt(t, tt.system, sample.Resources, messages...)
			if diff := cmp.Diff(tt.want, callLines(r)); diff != "" {
				t.Errorf("calls differ (-want +got):\n%s\ntext: %s", diff, r.Text)
			}
		})
	}
}

func TestDirectiveSaysATextAsItIs(t *testing.T) {
	ran := []contract.Message{sample.User("go"), sample.Call("r1", "a", "resources_list", "{}"), sample.Result("r1", "a", "resources_list", "[1]")}
	for name, tt := range map[string]struct {
		system   string
		messages []contract.Message
		want     string
	}{
		"a text":                         {"demo: say Found: 3 things.", nil, "Found: 3 things."},
		"all lines to the prompt's end":  {"You tell.\ndemo: Say Found:\n  alpha\n\nbeta \n", nil, "Found:\n  alpha\n\nbeta"},
		"a text that begins a line":      {"demo: say\nalpha\nbeta", nil, "alpha\nbeta"},
		"a text that looks like a call":  {`demo: say "list resources" and exit the loop`, nil, `"list resources" and exit the loop`},
		"a text of the model":            {"demo: say Found:\n" + demo.Note, nil, "Found:\n" + demo.Note},
		"a placeholder without a value":  {"demo: say Found: {found}", nil, "Found: {found}"},
		"nothing":                        {"demo: say", nil, "There is nothing to say."},
		"after what another node called": {"demo: say Done.", ran, "Done."},
		"without any message":            {"demo: say Done.", []contract.Message{}, "Done."},
	} {
		t.Run(name, func(t *testing.T) {
			messages := tt.messages
			if messages == nil {
				messages = []contract.Message{sample.User("list resources")}
			}
			r := askWithPrompt(t, tt.system, inLoop, messages...)
			if r.Text != tt.want || len(r.Calls) > 0 || r.Finish != llm.FinishStop || r.Model != contract.DemoModel {
				t.Errorf("reply = %+v, want the text %q", r, tt.want)
			}
		})
	}
}

func TestDirectiveExitsTheLoop(t *testing.T) {
	const exits = contract.ToolExitLoop + " {}"
	ran := func(result string) []contract.Message {
		return []contract.Message{sample.User("go"), sample.Call("r1", "a", "files_list", `{"q":"ready"}`), resultOf(result), sample.Say("r2", "Well."), sample.User("next")}
	}
	lastCall := []contract.Message{sample.User("go"), sample.Call("r1", "a", "resources_list", "{}"), sample.Result("r1", "a", "resources_list", "ready")}
	const orList = `demo: exit the loop if "ready" was found, else list the resources`
	for name, tt := range map[string]struct {
		system   string
		messages []contract.Message
		want     string // the call, or the text
	}{
		"always":                                    {"demo: exit the loop", nil, exits},
		"in other words":                            {"Stop.\nDEMO: Exit loop.", nil, exits},
		"found in the prompt":                       {"State: all READY.\n" + orList, nil, exits},
		"found in a result":                         {orList, ran("is Ready"), exits},
		"found in a text":                           {orList, []contract.Message{sample.User("go"), sample.Say("r1", "It is ready now.")}, exits},
		"found in the user's message":               {orList, []contract.Message{sample.User("Are you ready?")}, exits},
		"not found":                                 {"State: busy.\n" + orList, nil, "resources_list {}"},
		"arguments are not looked at":               {orList, ran("busy"), "resources_list {}"},
		"names without a value neither":             {"State: {ready}\n" + orList, nil, "resources_list {}"},
		"nor what follows it":                       {orList + "\nYou are ready.", nil, "resources_list {}"},
		"results are reported first":                {orList, lastCall, "The tool resources_list answered: ready"},
		"another node's results are looked through": {`demo: exit the loop if "ready" was found, else say Not yet.`, lastCall, exits},
		"without quotes, when":                      {"all is ready\ndemo: exit the loop when is ready was found; otherwise, list the resources", nil, exits},
		"a text with blanks":                        {"all is\nnot  ready\ndemo: exit the loop if 'not ready' was found, else list the resources", nil, "resources_list {}"},
		"else nothing":                              {`demo: exit the loop if "ready" was found.`, nil, `"ready" was not found.`},
		"else nothing, more prompt":                 {"demo: exit the loop if \"ready\" was found\nlist the resources", nil, `"ready" was not found.`},
		"else a text of several lines":              {"demo: exit the loop if \"ready\" was found, else say Not yet:\nbusy", nil, "Not yet:\nbusy"},
		"else the exit":                             {`demo: exit the loop if "ready" was found, else exit the loop`, nil, exits},
		"else another condition":                    {`demo: exit the loop if "ready" was found, else exit the loop if "!" was found, else list the resources`, nil, exits},
	} {
		t.Run(name, func(t *testing.T) {
			messages := tt.messages
			if messages == nil {
				messages = []contract.Message{sample.User("!!!")}
			}
			r := askWithPrompt(t, tt.system, inLoop, messages...)
			if got := r.Text + strings.Join(callLines(r), ", "); got != tt.want {
				t.Errorf("reply = %q, want %q", got, tt.want)
			}
		})
	}
}

func resultOf(text string) contract.Message { return sample.Result("r1", "a", "files_list", text) }

func TestOutsideALoopThereIsNoneToExit(t *testing.T) {
	for _, system := range []string{"demo: exit the loop", "ready\ndemo: exit the loop if ready was found, else list resources"} {
		r := askWithPrompt(t, system, sample.Resources, sample.User("go"))
		if len(r.Calls) > 0 || r.Text != "I am not in a loop, so there is none to exit." {
			t.Errorf("%q: reply = %+v", system, r)
		}
	}
}

func TestWordsAloneDoNotExitTheLoop(t *testing.T) {
	for text, want := range map[string][]string{
		"exit":                                 nil,
		"exit the loop":                        nil,
		"Exit loop!":                           nil,
		"exit_loop":                            nil,
		"run exit_loop":                        nil,
		"do not call exit_loop":                nil,
		"call exit_loop when all is done":      nil,
		`call "exit_loop"`:                     nil,
		"show the loop":                        nil,
		"list resources":                       {`resources_list {}`},
		"add a resource exit with value 3":     {`resources_add {"name":"exit","value":3}`},
		"call exit_loop":                       {`exit_loop {}`},
		"Please call exit_loop now.":           {`exit_loop {}`},
		"list resources, then call exit_loop.": {`resources_list {}`, `exit_loop {}`},
	} {
		t.Run(text, func(t *testing.T) {
			for _, tools := range [][]contract.Tool{inLoop, offer([]contract.Tool{exit}, sample.Resources)} {
				r := ask(t, tools, sample.User(text))
				if diff := cmp.Diff(want, callLines(r)); diff != "" {
					t.Errorf("calls differ (-want +got):\n%s\ntext: %s", diff, strings.TrimPrefix(r.Text, demo.Note))
				}
			}
		})
	}
}

func TestRequestsGoToOtherAgents(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"ask reviewer to check the report", []string{`a2a_reviewer {"message":"check the report"}`}},
		{"ask reviewer to check it", []string{`a2a_reviewer {"message":"check it"}`}},
		{"Please ask the Reviewer agent: is it good?", []string{`a2a_reviewer {"message":"is it good?"}`}},
		{"ask a2a_reviewer about x=1, y=2 and z", []string{`a2a_reviewer {"message":"about x=1, y=2 and z"}`}},
		{"could you ask reviewer what can you do", []string{`a2a_reviewer {"message":"what can you do"}`}},
		{"ask reviewer to list resources,\nthen add a=1", []string{`a2a_reviewer {"message":"list resources,\nthen add a=1"}`}},
		{"ask web-search to find Go", []string{`a2a_web-search {"message":"find Go"}`}},
		{"ask web to search for Go", []string{`a2a_web {"message":"search for Go"}`}},
		{"ask reviewer to ask web to stop", []string{`a2a_reviewer {"message":"ask web to stop"}`}},
		{"delegate to the reviewer: check it", []string{`a2a_reviewer {"message":"check it"}`}},
		{"list resources, then ask reviewer to check them", []string{`resources_list {}`, `a2a_reviewer {"message":"check them"}`}},
		{`call a2a_reviewer message="list the resources, and more"`, []string{`a2a_reviewer {"message":"list the resources, and more"}`}},
		{"list resources", []string{`resources_list {}`}},
		{"show the web", nil},
		{"send it to the reviewer", nil},
		{"delegate to web-master: stop", nil},
		{"ask reviewer", nil},
	} {
		t.Run(tt.text, func(t *testing.T) {
			r := ask(t, offer(peers, inLoop), sample.User(tt.text))
			if diff := cmp.Diff(tt.want, callLines(r)); diff != "" {
				t.Errorf("calls differ (-want +got):\n%s\ntext: %s", diff, strings.TrimPrefix(r.Text, demo.Note))
			}
			r = askWithPrompt(t, "demo: "+tt.text, offer(peers, inLoop), sample.User(tt.text))
			if diff := cmp.Diff(tt.want, callLines(r)); diff != "" {
				t.Errorf("as a directive, calls differ (-want +got):\n%s\ntext: %s", diff, r.Text)
			}
		})
	}
}

func TestDemoAsksWhatToAskAnotherAgent(t *testing.T) {
	question := ask(t, peers, sample.User("ask reviewer")).Text
	if !strings.Contains(question, "I need more to run a2a_reviewer: message (string)") {
		t.Errorf("question = %q", question)
	}
}

func TestDemoUnderstandsItsOwnExamplesInATree(t *testing.T) {
	tools := offer(peers, inLoop)
	for i, line := range strings.Split(ask(t, tools, sample.User("help")).Text, "(try: ")[1:] {
		example, _, _ := strings.Cut(line, ")")
		if r := ask(t, tools, sample.User(example)); len(r.Calls) != 1 || r.Calls[0].Name != tools[i].Name {
			t.Errorf("%q led to %v: %s", example, callLines(r), r.Text)
		}
	}
}

func TestDirectiveLeavesOutTheNote(t *testing.T) {
	for _, system := range []string{"demo: list resources", "demo: say hello", "demo: hello", "demo: sing", "demo: exit the loop"} {
		if r := askWithPrompt(t, system, sample.Resources, sample.User("go")); strings.Contains(r.Text, demo.Note) {
			t.Errorf("%q: reply = %q", system, r.Text)
		}
	}
	if r := askWithPrompt(t, "You help.", sample.Resources, sample.User("list resources")); !strings.HasPrefix(r.Text, demo.Note) {
		t.Errorf("without a directive: reply = %q", r.Text)
	}
}

func TestDirectiveReportsResultsOfItsCalls(t *testing.T) {
	first := askWithPrompt(t, "demo: list resources, then list resources", sample.Resources, sample.User("go"))
	if diff := cmp.Diff([]string{`resources_list {}`, `resources_list {}`}, callLines(first)); diff != "" {
		t.Fatal(diff)
	}
	if first.Finish != llm.FinishToolCalls || first.Calls[0].ID == first.Calls[1].ID {
		t.Errorf("first reply = %+v", first)
	}
	messages := []contract.Message{sample.User("go")}
	for _, c := range first.Calls {
		messages = append(messages, sample.Call("r1", c.ID, c.Name, "{}"), sample.Result("r1", c.ID, c.Name, "["+c.ID+"]"))
	}
	// The tools may have been removed meanwhile.
	second := askWithPrompt(t, "demo: list resources, then list resources", nil, messages...)
	want := "The tool resources_list answered: [call00001]\n\nThe tool resources_list answered: [call00002]"
	if second.Text != want || len(second.Calls) > 0 || second.Finish != llm.FinishStop {
		t.Errorf("second reply = %+v, want the text %q", second, want)
	}
	rejected := askWithPrompt(t, "demo: add a resource named a with value 1", sample.Resources, sample.User("go"), sample.Call("r1", "a", "resources_add", "{}"), sample.Decision(contract.Rejected))
	if want := "Understood: resources_add was not run, because the call was rejected."; rejected.Text != want {
		t.Errorf("reply to a rejection = %q, want %q", rejected.Text, want)
	}
}

func TestDirectiveIsDeterministicAndSurvivesAnything(t *testing.T) {
	tools := offer(peers, inLoop, []contract.Tool{peer("", ""), peer("--", ""), peer("\xff", ""), peer("tasks", "")})
	for _, text := range []string{"say", "say\n", "exit the loop if", "exit the loop if was found", `exit the loop if "" was found`, "exit the loop if a was found, else",
		"exit the loop if a was found, else say", "ask", "ask web:", "delegate", "delegate to", "delegate to to web", "ask taſks to x", "ask web-", "\x00\xff", "{user_message}",
		strings.Repeat("ask web to x, ", 500), strings.Repeat("exit the loop if a was found, else ", 500), strings.Repeat("demo: \n", 500)} {
		first := askWithPrompt(t, "demo: "+text, tools, sample.User(text))
		for range 5 {
			if diff := cmp.Diff(first, askWithPrompt(t, "demo: "+text, tools, sample.User(text))); diff != "" {
				t.Errorf("%q: replies differ:\n%s", text, diff)
			}
		}
		if first.Text == "" && len(first.Calls) == 0 || len(first.Calls) > 10 {
			t.Errorf("%q: %d calls, text %q", text, len(first.Calls), first.Text)
		}
	}
}

func FuzzDirective(f *testing.F) {
	f.Add("above", "exit the loop if \"x\" was found, else ask web to y", "x")
	f.Add("", "say {user_message}\nmore", "list\nresources")
	f.Fuzz(func(t *testing.T, above, text, message string) {
		system := above + "\ndemo: " + strings.ReplaceAll(text, "{user_message}", message)
		if r := askWithPrompt(t, system, offer(peers, inLoop), sample.User(message)); r.Text == "" && len(r.Calls) == 0 {
			t.Errorf("%q: nothing in the reply", system)
		}
	})
}
