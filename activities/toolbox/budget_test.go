package toolbox_test

import (
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/activities/toolbox"
)

// links returns definitions that each refer twice to the next one.
func links(one string) string {
	var all []string
	for i := range 40 {
		all = append(all, fmt.Sprintf(`"a%d":`, i)+strings.NewReplacer("THIS", fmt.Sprint(i), "NEXT", fmt.Sprint(i+1)).Replace(one))
	}
	return strings.Join(all, ",") + `,"a40":{"$anchor":"a40","type":"string"}`
}

func TestEveryCheckEnds(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	for name, tt := range map[string]struct{ schema, args string }{
		"deep arguments": {`{"type":"object","anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["b"]},{"properties":{"a":{"$ref":"#"}},"required":["c"]}]}`, deep},
		"anchors":        {`{"type":"object","$ref":"#a0","$defs":{` + links(`{"$anchor":"aTHIS","anyOf":[{"$ref":"#aNEXT"},{"$ref":"#aNEXT"}]}`) + `}}`, `{}`},
		"names": {`{"type":"object","$ref":"http://x/a0","$defs":{` + links(`{"$id":"http://x/aTHIS","anyOf":[{"$ref":"http://x/aNEXT"},{"$ref":"http://x/aNEXT"}]}`) +
			`,"z":{"$id":"http://x/a40"}}}`, `{}`},
		"escapes": {`{"type":"object","$ref":"#/$defs/a0","$defs":{` + links(`{"anyOf":[{"$ref":"#/$defs/%61NEXT"},{"$ref":"#/$defs/%61NEXT"}]}`) + `}}`, `{}`},
		"dependent": {`{"type":"object","$ref":"#/$defs/a0","$defs":{` +
			links(`{"dependentSchemas":{"k":{"$ref":"#/$defs/aNEXT"},"l":{"$ref":"#/$defs/aNEXT"}}}`) + `}}`, `{"k":1,"l":2}`},
		"denied": {`{"type":"object","$schema":"http://json-schema.org/draft-07/schema#","not":{"$ref":"#/definitions/a0"},"definitions":{` +
			links(`{"dependencies":{"k":{"$ref":"#/definitions/aNEXT"},"l":{"$ref":"#/definitions/aNEXT"}}}`) + `}}`, `{"k":1,"l":2}`},
		"a fraction too small": {`{"type":"object","properties":{"a":{"multipleOf":1e-999999}}}`, `{"a":3}`},
	} {
		t.Run(name, func(t *testing.T) {
			box := schemaBox(t, map[string]string{"tool": tt.schema}, toolbox.Options{})
			done := make(chan string, 1)
			go func() {
				_, problem := box.Check(t.Context(), "tool", []byte(tt.args))
				done <- problem
			}()
			if problem := within(t, "the check ends", done); problem != "" {
				t.Errorf("got %q", problem)
			}
		})
	}
}

func TestAbsurdNumbersAreRefused(t *testing.T) {
	box := schemaBox(t, map[string]string{"tool": `{"type":"object","properties":{"a":{"minimum":1},"b":{"uniqueItems":true}}}`}, toolbox.Options{})
	many := strings.TrimSuffix(strings.Repeat("1e99999999,", 30), ",")
	for args, want := range map[string]bool{
		`{"a":1e99999999}`: false, `{"b":[` + many + `]}`: false, `{"a":1` + strings.Repeat("0", 500) + `}`: false,
		`{"a":1e308,"b":[1e-300,12345678901234567890]}`: true,
	} {
		if _, problem := box.Check(t.Context(), "tool", []byte(args)); (problem == "") != want {
			t.Errorf("%.40s: got %q", args, problem)
		}
	}
}

func TestHugeSchemaIsNotCompiled(t *testing.T) {
	var properties []string
	for i := range 100_000 {
		properties = append(properties, fmt.Sprintf(`"p%d":{}`, i))
	}
	log := &logBuffer{}
	box := schemaBox(t, map[string]string{"tool": `{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`}, toolbox.Options{Logger: log.logger()})
	done := make(chan string, 1)
	go func() {
		_, problem := box.Check(t.Context(), "tool", []byte(`{}`))
		done <- problem
	}()
	within(t, "the check ends", done)
	if !strings.Contains(log.String(), "it has more than 20000 values") {
		t.Errorf("logged %s", log)
	}
}
