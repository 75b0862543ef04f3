package hosting

import (
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"
)

// FlagUsage describes the flags of Bind, for the Flags section of a --help text. It does not
// include --port, whose default depends on the server.
const FlagUsage = `  --transport T   http: Streamable HTTP at /mcp, and SSE at /sse for older clients (default)
                  sse: only the latter; stdio: on stdin and stdout, ends when stdin does
  --stdio         the same as --transport stdio
  --host HOST     address to listen on; 0.0.0.0 for every network  (default 127.0.0.1)
  --auth-token-env NAME   callers must send "Authorization: Bearer …" with the value of
                  this environment variable
  --auth KIND     who may call: keys (--auth-keys-file), oidc (--auth-issuer, --auth-audience, --auth-scope),
                  none: everybody, also off loopback
  --auth-keys-file FILE   a name and the SHA-256 digest of a key on each line
  --auth-issuer URL       OpenID provider whose tokens for --auth-audience may call; --auth-scope is
                  one more scope that is needed; --auth-resource is the URL of this server for clients
  --allow-host NAME       one more name this server is called by; repeatable, * for any
  --allow-origin ORIGIN   one more web page that may call; repeatable, * for any
  --session-idle TIME     forget a client that was silent for so long, such as 30m or 2d  (default 1h)
`

// Bind adds the flags of Settings to set, with the current values as defaults. For flags that
// override a file, parse once to get the file's name, load the file, then call Bind and parse
// again. Values for lists are appended.
func (s *Settings) Bind(set *flag.FlagSet) {
	set.StringVar(&s.Transport, "transport", s.Transport, "")
	set.BoolFunc("stdio", "", func(text string) error {
		on, err := strconv.ParseBool(text)
		if on {
			s.Transport = TransportStdio
		}
		return err
	})
	set.StringVar(&s.Host, "host", s.Host, "")
	set.IntVar(&s.Port, "port", s.Port, "")
	set.StringVar(&s.AuthTokenEnv, "auth-token-env", s.AuthTokenEnv, "")
	set.StringVar(&s.Kind, "auth", s.Kind, "")
	set.StringVar(&s.KeysFile, "auth-keys-file", s.KeysFile, "")
	set.StringVar(&s.Issuer, "auth-issuer", s.Issuer, "")
	set.StringVar(&s.Audience, "auth-audience", s.Audience, "")
	set.StringVar(&s.Resource, "auth-resource", s.Resource, "")
	set.Func("auth-scope", "", addTo(&s.Scopes))
	set.Var(&s.SessionIdle, "session-idle", "")
	set.Func("allow-host", "", addTo(&s.AllowedHosts))
	set.Func("allow-origin", "", addTo(&s.AllowedOrigins))
}

func addTo(list *[]string) func(string) error {
	return func(text string) error {
		*list = append(*list, text)
		return nil
	}
}

// Span is a time.Duration that people write, in YAML and as a flag: as package time has it, with
// whole days (d, 24 hours) and weeks (w) in front if wanted, such as 30m, 1d12h or 2w.
type Span time.Duration

var longUnits = regexp.MustCompile(`^(?:(\d{1,4})w)?(?:(\d{1,5})d)?(.*)$`)

// Set implements flag.Value.
func (s *Span) Set(text string) error {
	m := longUnits.FindStringSubmatch(text)
	if m == nil { // it has a line break
		return fmt.Errorf("invalid duration %q", text)
	}
	weeks, _ := strconv.Atoi(m[1]) // "" is 0
	days, _ := strconv.Atoi(m[2])
	rest := time.Duration(0)
	if m[3] != "" || m[1] == "" && m[2] == "" {
		var err error
		if rest, err = time.ParseDuration(m[3]); err != nil || rest < 0 && weeks+days > 0 {
			return fmt.Errorf("invalid duration %q", text)
		}
	}
	*s = Span(time.Duration(7*weeks+days)*24*time.Hour + rest)
	return nil
}

// String implements flag.Value.
func (s *Span) String() string { return time.Duration(*s).String() }

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *Span) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode && node.Tag == "!!str" && s.Set(node.Value) == nil {
		return nil
	}
	var d time.Duration
	if err := node.Decode(&d); err != nil { // in the words of yaml, which ExplainYAML knows
		return err
	}
	*s = Span(d)
	return nil
}
