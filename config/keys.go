package config

import (
	"reflect"
	"slices"
	"strings"

	"agent-stop-and-go/config/secrets"
	"agent-stop-and-go/config/spelling"
)

// unknownKey reports an unknown key and suggests a similar one. It never shows the key's
// value.
func (d decoder) unknownKey(line int, path, key string, t reflect.Type) {
	plural := func(known string) bool { return spelling.Plain(known) == spelling.Plain(key)+"s" } // max_token
	if secrets.InName(key) && !slices.ContainsFunc(keysOf(t), plural) {
		d.atLine(line, path, "secrets do not belong in this file; set an environment variable instead, "+
			"for a model its provider's key, such as GEMINI_API_KEY")
		return
	}
	hint := ""
	if similar := spelling.Similar(key, keysOf(t)); similar != "" {
		hint = "did you mean " + similar + "? "
	}
	d.atLine(line, path, "unknown key; %sallowed here: %s", hint, strings.Join(keysOf(t), ", "))
}
