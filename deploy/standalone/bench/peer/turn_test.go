package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

func TestAStepPollsUntilTheResponseSaysWhatIsExpected(t *testing.T) {
	polls := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == "POST":
			body, _ := io.ReadAll(r.Body)
			if string(body) != `{"id":"a \"b\"","n":1}` {
				t.Errorf("the body is %s", body)
			}
			fmt.Fprint(w, `{"run":{"id":7}}`)
		case r.URL.Path == "/runs/7":
			polls++
			fmt.Fprintf(w, `{"state":%q,"open":[{"uuid":"u-1"}]}`, []string{"running", "running", "waiting"}[polls-1])
		}
	})
	vars, err := s.do(t.Context(), "approval", Step{
		Request: Request{URL: "${URL}/runs", Body: map[string]any{"id": "${ID}", "n": 1}},
		Until:   map[string]string{"state": "waiting"},
		Keep:    map[string]string{"RUN": "run.id", "APPROVAL": "open.0.uuid"},
		Poll:    &Request{URL: "${URL}/runs/${RUN}"},
	}, s.vars.with(variables{"ID": `a "b"`}))
	if err != nil {
		t.Fatal(err)
	}
	if polls != 3 || vars["RUN"] != "7" || vars["APPROVAL"] != "u-1" {
		t.Errorf("%d polls, %v", polls, vars)
	}
}

func TestAStepFails(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusTeapot)
		}
		fmt.Fprint(w, `{"state":"failed"}`)
	})
	until := map[string]string{"state": "done"}
	for name, test := range map[string]struct {
		step Step
		want string
	}{
		"another value":       {Step{Request: Request{URL: "${URL}"}, Until: until}, `state is "failed", expected "done"`},
		"a status":            {Step{Request: Request{URL: "${URL}/broken"}, Until: until}, "418"},
		"an unknown variable": {Step{Request: Request{URL: "${URL}/${RUN}"}, Until: until}, "no variable ${RUN}; there are URL"},
		"polling in vain":     {Step{Request: Request{URL: "${URL}"}, Until: until, Poll: &Request{URL: "${URL}"}}, "deadline"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if _, err := s.do(ctx, "list", test.step, s.vars); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, expected %q", name, err, test.want)
		}
		cancel()
	}
}

func serve(t *testing.T, handle http.HandlerFunc) *Server {
	far := httptest.NewServer(handle)
	t.Cleanup(far.Close)
	return &Server{peer: Peer{Name: "x"}, vars: variables{"URL": far.URL}, http: far.Client()}
}

func TestQuotedTextsAreValidJSON(t *testing.T) {
	for _, text := range []string{"", `"`, "a\nb", `\`, "<é>"} {
		var back string
		if err := json.Unmarshal([]byte(`"`+quoted(text)+`"`), &back); err != nil || back != text {
			t.Errorf("%q became %q, %v", text, back, err)
		}
	}
}

func TestTheKernelsDescriptionOfAProcessIsRead(t *testing.T) {
	const text = "42 (a) b) c) S 1 40 40 0 -1 4194304 2 0 0 0 11 22 3 4 20 0 9 0 12345 1000000 256 18446744073709551615"
	p, err := parseStat(text)
	if err != nil || p.group != 40 || p.CPU != 400*time.Millisecond || p.Resident != 256*int64(os.Getpagesize()) {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := parseStat("42 (a) S 1"); err == nil {
		t.Error("a part was read")
	}
}
