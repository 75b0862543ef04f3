package grant_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract/grant"
)

// Each was a way around an approval that people had given for good, in some product: what is
// granted, what is left open, and another call that it must not cover.
func TestWaysAroundAGrant(t *testing.T) {
	for name, c := range map[string]struct{ granted, open, call string }{
		"a literal * is a star":                {`{"path":"*"}`, "", `{"path":"/etc/passwd"}`},
		"a star at the end":                    {`{"cmd":"npm run *"}`, "", `{"cmd":"npm run x; rm -rf /"}`},
		"a question mark":                      {`{"path":"a?c"}`, "", `{"path":"abc"}`},
		"a regular expression":                 {`{"path":".*"}`, "", `{"path":"x"}`},
		"a percent sign, as in SQL":            {`{"table":"%"}`, "", `{"table":"users"}`},
		"a name that is a star":                {`{"*":1}`, "", `{"a":1}`},
		"a longer command":                     {`{"cmd":"git status"}`, "", `{"cmd":"git status; rm -rf /"}`},
		"a prefix":                             {`{"cmd":"git status"}`, "", `{"cmd":"git"}`},
		"a wrapper":                            {`{"cmd":"ls"}`, "", `{"cmd":"sh -c ls"}`},
		"a wrapper with env":                   {`{"cmd":"ls"}`, "", `{"cmd":"env X=1 ls"}`},
		"an absolute path":                     {`{"cmd":"ls"}`, "", `{"cmd":"/bin/ls"}`},
		"a relative path":                      {`{"path":"/srv/a"}`, "", `{"path":"/srv/b/../a"}`},
		"a slash at the end":                   {`{"path":"/srv/a"}`, "", `{"path":"/srv/a/"}`},
		"a line break":                         {`{"cmd":"ls"}`, "", `{"cmd":"ls\nrm -rf /"}`},
		"space around it":                      {`{"cmd":"ls"}`, "", `{"cmd":" ls"}`},
		"a zero byte":                          {`{"path":"a"}`, "", `{"path":"a\u0000.txt"}`},
		"case of a value":                      {`{"table":"orders"}`, "", `{"table":"Orders"}`},
		"case of a name":                       {`{"table":"orders"}`, "", `{"Table":"orders"}`},
		"another letter that looks the same":   {`{"host":"paypal.com"}`, "", `{"host":"p\u0430ypal.com"}`},
		"a composed letter":                    {`{"name":"caf\u00e9"}`, "", `{"name":"cafe\u0301"}`},
		"two letters as one":                   {`{"file":"fi"}`, "", `{"file":"\ufb01"}`},
		"a letter that is another in capitals": {`{"user":"admin"}`, "", `{"user":"adm\u0131n"}`},
		"a variable":                           {`{"path":"/home/a"}`, "", `{"path":"$HOME"}`},
		"a tilde":                              {`{"path":"/home/a"}`, "", `{"path":"~"}`},
		"an encoded path":                      {`{"path":"../a"}`, "", `{"path":"%2e%2e/a"}`},
		"a host with a dot at the end":         {`{"host":"a.com"}`, "", `{"host":"a.com."}`},
		"a host as a number":                   {`{"host":"127.0.0.1"}`, "", `{"host":"2130706433"}`},
		"two stars":                            {`{"path":"/srv/**"}`, "", `{"path":"/srv/a/b"}`},
		"a range of letters":                   {`{"path":"[a-z]"}`, "", `{"path":"b"}`},
		"a choice of words":                    {`{"path":"{a,b}"}`, "", `{"path":"a"}`},
		"a template":                           {`{"path":"${x}"}`, "", `{"path":"b"}`},
		"a wide letter":                        {`{"cmd":"ls"}`, "", `{"cmd":"\uff4cs"}`},
		"an invisible letter":                  {`{"host":"a.com"}`, "", `{"host":"a\u200b.com"}`},
		"text from right to left":              {`{"file":"a.txt"}`, "", `{"file":"\u202ea.txt"}`},
		"half a letter":                        {`{"x":"a"}`, "", `{"x":"a\ud800"}`},
		"a number as a text":                   {`{"amount":5}`, "", `{"amount":"5"}`},
		"a text as a number":                   {`{"id":"5"}`, "", `{"id":5}`},
		"a number in another form":             {`{"amount":5}`, "", `{"amount":5.0}`},
		"a power of ten":                       {`{"amount":100}`, "", `{"amount":1e2}`},
		"a number that floats cannot tell":     {`{"id":9007199254740992}`, "", `{"id":9007199254740993}`},
		"a power of zero":                      {`{"amount":1}`, "", `{"amount":1e0}`},
		"a power in capitals":                  {`{"amount":1e2}`, "", `{"amount":1E2}`},
		"a digit more":                         {`{"amount":0.1}`, "", `{"amount":0.10}`},
		"a number near a float":                {`{"amount":0.3}`, "", `{"amount":0.30000000000000004}`},
		"a number that is no float":            {`{"id":1e400}`, "", `{"id":1e401}`},
		"a number of more than 64 bits":        {`{"id":18446744073709551616}`, "", `{"id":0}`},
		"a number with its sign":               {`{"amount":5}`, "", `{"amount":-5}`},
		"a zero with a sign":                   {`{"amount":0}`, "", `{"amount":-0}`},
		"true as a text":                       {`{"force":true}`, "", `{"force":"true"}`},
		"true as a number":                     {`{"force":true}`, "", `{"force":1}`},
		"null that was not there":              {`{"a":1}`, "", `{"a":1,"limit":null}`},
		"null that is not there":               {`{"a":1,"limit":null}`, "", `{"a":1}`},
		"an argument that is empty":            {`{"a":1,"b":""}`, "", `{"a":1}`},
		"an argument more":                     {`{"path":"a"}`, "", `{"path":"a","recursive":true}`},
		"no arguments":                         {`{"path":"a"}`, "", `{}`},
		"a list for a value":                   {`{"to":"a"}`, "", `{"to":["a"]}`},
		"an item more":                         {`{"to":["a"]}`, "", `{"to":["a","b"]}`},
		"lists in one":                         {`{"rows":[[1],[2]]}`, "", `{"rows":[[1,2]]}`},
		"a list around it":                     {`{"to":["a"]}`, "", `{"to":[["a"]]}`},
		"another order of lists":               {`{"rows":[[1],[2]]}`, "", `{"rows":[[2],[1]]}`},
		"no items":                             {`{"to":[]}`, "", `{"to":null}`},
		"no members":                           {`{"to":{}}`, "", `{"to":[]}`},
		"null in a list":                       {`{"to":["a"]}`, "", `{"to":["a",null]}`},
		"false for nothing":                    {`{"a":1}`, "", `{"a":1,"force":false}`},
		"another order of items":               {`{"argv":["a","b"]}`, "", `{"argv":["b","a"]}`},
		"a value deeper":                       {`{"to":{"city":"Bern"}}`, "", `{"to":{"city":"Basel"}}`},
		"a member more, deeper":                {`{"to":{"city":"Bern"}}`, "", `{"to":{"city":"Bern","cc":"x"}}`},
		"an object for its text":               {`{"to":"{\"a\":1}"}`, "", `{"to":{"a":1}}`},
		"a name twice":                         {`{"amount":5}`, "", `{"amount":5000,"amount":5}`},
		"a name twice, the same first":         {`{"amount":5}`, "", `{"amount":5,"amount":5000}`},
		"a name twice in another case":         {`{"amount":5,"AMOUNT2":1}`, "", `{"amount":5,"Amount":5000}`},
		"a name twice, written differently":    {`{"amount":5}`, "", `{"amount":5,"\u0061mount":5000}`},
		"a name twice, deeper":                 {`{"to":{"a":1}}`, "", `{"to":{"a":2,"a":1}}`},
		"a second value":                       {`{"a":1}`, "", `{"a":1}{"a":2}`},
		"a list":                               {`{}`, "", `[]`},
		"null":                                 {`{}`, "", `null`},
		"no JSON":                              {`{"a":1}`, "", `{"a":1`},

		"what is open is missing":                   {`{"a":1,"note":"x"}`, "note", `{"a":1}`},
		"what is open has another kind":             {`{"a":1,"note":"x"}`, "note", `{"a":1,"note":["x"]}`},
		"what is open is null":                      {`{"a":1,"note":"x"}`, "note", `{"a":1,"note":null}`},
		"what is open is in another case":           {`{"a":1,"note":"x"}`, "note", `{"a":1,"Note":"x"}`},
		"what is open is there twice":               {`{"a":1,"note":"x"}`, "note", `{"a":1,"note":"x","note":"y"}`},
		"another than what is open":                 {`{"a":1,"note":"x"}`, "note", `{"a":2,"note":"x"}`},
		"one more than what is open":                {`{"a":1,"note":"x"}`, "note", `{"a":1,"note":"x","b":1}`},
		"a path for a name with a dot":              {`{"to.city":"x","to":{}}`, "to.city", `{"to":{"city":"x"}}`},
		"a name for a path":                         {`{"to":{"city":"x"}}`, "/to/city", `{"to":{},"/to/city":"x"}`},
		"what is open, and its neighbour in a list": {`{"a":[1,2],"note":"x"}`, "note", `{"a":[1,3],"note":"x"}`},
		"an item of what is open":                   {`{"note":["x"],"a":["x"]}`, "note", `{"note":["y"],"a":["y"]}`},
		"a name twice in what is open":              {`{"to":{"a":1}}`, "to", `{"to":{"a":2,"a":3}}`},
		"half a letter in what is open":             {`{"note":"x"}`, "note", `{"note":"\ud800"}`},
		"the name of what is open, deeper":          {`{"note":"x","to":{"note":"x"}}`, "note", `{"note":"y","to":{"note":"y"}}`},
		"what is open, too long":                    {`{"note":"x"}`, "note", `{"note":"` + strings.Repeat("x", grant.MaxArguments) + `"}`},
		"beside what is open, deeper":               {`{"to":{"city":"x","cc":"a"}}`, "/to/city", `{"to":{"city":"y","cc":"b"}}`},
		"an object for what is in it":               {`{"to":{"city":"x"}}`, "/to/city", `{"to":"x"}`},
		"a name with a slash for a path":            {`{"a/b":"x","a":{}}`, "/a~1b", `{"a":{"b":"x"}}`},
		"an open name that is a star":               {`{"*":"x"}`, "*", `{"y":"x"}`},
		"the object around what is opened":          {`{"to":{"city":"x"}}`, "/to/city", `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			var open []string
			if c.open != "" {
				open = []string{c.open}
			}
			a, err := grant.Of([]byte(c.granted), open)
			if err != nil {
				t.Fatal(err)
			}
			if !a.Cover([]byte(c.granted)) {
				t.Error("it does not cover the call itself")
			}
			if a.Cover([]byte(c.call)) {
				t.Errorf("%s covers %s", c.granted, c.call)
			}
		})
	}
}

func TestTheSameCallWrittenDifferently(t *testing.T) {
	for name, c := range map[string]struct{ granted, open, call string }{
		"space and order":        {`{"a":1,"b":[1,{"c":"<&>"}]}`, "", ` { "b" : [1, {"c":"\u003c&>"}] , "a":1 }`},
		"an open argument":       {`{"a":1,"note":"x"}`, "note", `{"a":1,"note":"anything"}`},
		"an open argument, deep": {`{"to":{"city":"x","n":null}}`, "/to/city", `{"to":{"n":null,"city":"y"}}`},
		"a name with a dot":      {`{"a.b":1,"a":{"b":2}}`, "a.b", `{"a.b":7,"a":{"b":2}}`},
		"no arguments":           {`{}`, "", ` {} `},
	} {
		var open []string
		if c.open != "" {
			open = []string{c.open}
		}
		if a, err := grant.Of([]byte(c.granted), open); err != nil || !a.Cover([]byte(c.call)) {
			t.Errorf("%s: %+v %v", name, a, err)
		}
	}
}

func TestArgumentsThatCannotBeGranted(t *testing.T) {
	for args, want := range map[string]string{
		`{"a":1,"A":2}`:      "twice",
		`{"s":1,"\u017f":2}`: "twice", // which many programs read as one
		`{"k":1,"\u212a":2}`: "twice",
		`{"a":"\ud800"}`:     "not Unicode",
		"{\"a\":\"\xff\"}":   "not Unicode",
		`{"\ufffd":1}`:       "not Unicode",
		`[1]`:                "no object",
		`{"a":1} {}`:         "no object",
		`{"a":`:              "not JSON",
		`{"a":"` + strings.Repeat("x", grant.MaxArguments) + `"}`: "more than",
	} {
		if a, err := grant.Of([]byte(args), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %+v %v", args, a, err)
		}
	}
	if _, err := grant.Of([]byte(`{"a":1}`), []string{"b"}); err == nil || !strings.Contains(err.Error(), `no argument "b"`) {
		t.Errorf("%v", err)
	}
	if (grant.Arguments{}).Cover(json.RawMessage(`{}`)) {
		t.Error("nothing covers something")
	}
}

func TestOnlyWhatIsOffered(t *testing.T) {
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	o := &grant.Offer{Scopes: []grant.Scope{grant.Turn, grant.Conversation}, AtMost: time.Hour, Uses: 5, Open: []string{"note"}}
	good := grant.Choice{Scope: grant.Turn, Until: now.Add(time.Hour), Uses: 5, Open: []string{"note"}}
	if err := o.Check(good, now); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*grant.Choice){
		`one of turn, conversation`:  func(c *grant.Choice) { c.Scope = grant.Agent },
		`over already`:               func(c *grant.Choice) { c.Until = now },
		`1h0m0s at most`:             func(c *grant.Choice) { c.Until = now.Add(time.Hour + time.Second) },
		`uses is 6`:                  func(c *grant.Choice) { c.Uses = 6 },
		`uses is 0`:                  func(c *grant.Choice) { c.Uses = 0 },
		`what may be is note`:        func(c *grant.Choice) { c.Open = []string{"amount"} },
		`has "note" twice`:           func(c *grant.Choice) { c.Open = []string{"note", "note"} },
		`scope is "": must be one o`: func(c *grant.Choice) { c.Scope = "" },
	} {
		c := good
		change(&c)
		if err := o.Check(c, now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := (*grant.Offer)(nil).Check(good, now); err == nil {
		t.Error("nothing is offered")
	}
	if got := o.And(&grant.Offer{Scopes: []grant.Scope{grant.Turn, grant.Agent}, AtMost: time.Minute, Uses: 9}); len(got.Scopes) != 1 || got.AtMost != time.Minute || got.Uses != 5 || len(got.Open) != 0 {
		t.Errorf("%+v", got)
	}
	if o.And(&grant.Offer{Scopes: []grant.Scope{grant.Agent}}) != nil || o.And(nil) != nil || o.For("", "", "") == nil || (grant.Offer{Scopes: []grant.Scope{grant.Caller}}).For("n", "", "t") != nil {
		t.Error("more is offered than both offer")
	}
}
