package page_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

var update = flag.Bool("update", false, "rewrite the scripts")

// scripts are the generated files, each made of a module with all that it imports.
var scripts = map[string]string{"bundle.js": "files/main.js", "blocks.js": "files/blocks.js"}

// banner says where a script comes from. What follows it names those whose code is in it, too.
const banner = "// Code generated from files/; DO NOT EDIT. Licences: files/npm/. "

var owners = map[string]string{
	"bundle.js": "lit-html © Google LLC, BSD-3-Clause",
	"blocks.js": "marked © MarkedJS, Christopher Jeffrey, MIT; DOMPurify © Cure53, Apache-2.0 or MPL-2.0",
}

// bundle makes one file of a module and all that it imports, except what it loads later.
func bundle(t *testing.T, name, module string) []byte {
	t.Helper()
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{module}, External: []string{"./blocks.js"}, Bundle: true, Format: api.FormatESModule,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Target: api.ES2022, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone, Drop: api.DropConsole,
		MangleProps: "^(" + ownMembers + "|" + expressionsOfMarked(t) + ")$", Banner: map[string]string{"js": banner + owners[name]}, Plugins: []api.Plugin{{Name: "indentation", Setup: removeIndentation}, {Name: "unused", Setup: removeUnused}},
	})
	for _, e := range append(result.Errors, result.Warnings...) {
		t.Errorf("%+v: %s", e.Location, e.Text)
	}
	if len(result.OutputFiles) != 1 {
		t.Fatalf("%d files", len(result.OutputFiles))
	}
	return result.OutputFiles[0].Contents
}

// ownMembers matches members of the page's own objects, which no browser and no answer of the agent
// has. In the script they have short names.
const ownMembers = "announce|cardOf|chooseLater|choosing|deferredUntil|firstWords|giveBack|goOn|inCard|initialDraft|lookAgain|pasted|refreshed|rejecting|shownApprovals|titleOf|" +
	"transient|unfolded|unsent|wasNeeded|wasOpen|withPutOff"

// expressionsOfMarked matches the names of the members in which marked keeps its regular
// expressions, such as numericCharacterReferenceOrAmpersand. They are half a kilobyte of the
// script, and nothing but marked knows them.
func expressionsOfMarked(t *testing.T) string {
	t.Helper()
	const file = "files/npm/marked-18.2.1/marked.esm.js"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`[{,]([a-z]\w{7,}):(?:/|\w\(|\w=>)`).FindAllSubmatch(data, -1) {
		if name := string(m[1]); !bytes.Contains(data, []byte(`"`+name+`"`)) { // none that is also read by its text
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Errorf("%s names no regular expressions", file)
	}
	return strings.Join(names, "|")
}

var indentation = regexp.MustCompile(`\n\s+`)

// removeIndentation also removes the indentation in templates, which the bundler keeps.
func removeIndentation(b api.PluginBuild) {
	b.OnLoad(api.OnLoadOptions{Filter: `/files/\w+\.js$`}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		data, err := os.ReadFile(args.Path)
		short := string(indentation.ReplaceAll(data, []byte("\n")))
		return api.OnLoadResult{Contents: &short, Loader: api.LoaderJS}, err
	})
}

// unused are the parts of DOMPurify that nothing in the script uses, and what stands in their place:
// a helper of its compiler, and the lists of what it lets through if it is not told. blocks.js tells
// it; were that lost, nothing would be let through.
var unused = map[*regexp.Regexp]string{
	regexp.MustCompile(`(?s)\nfunction _OverloadYield\(e, d\) \{.*?\n\}`):                             "",
	regexp.MustCompile(`(?s)\nfunction AsyncGenerator\(e\) \{.*?(\nconst entries = Object\.entries)`): "$1",
	regexp.MustCompile(`(?s)\nconst html\$1 = freeze\(\[.*?\]\);`):                                    "\nconst html$$1 = freeze([]);",
	regexp.MustCompile(`(?s)\nconst html = freeze\(\[.*?\]\);`):                                       "\nconst html = freeze([]);",
	regexp.MustCompile(`(?s)\nconst svg = freeze\(\[.*?\]\);`):                                        "\nconst svg = freeze([]);",
	regexp.MustCompile(`(?s)\nconst mathMl = freeze\(\[.*?\]\);`):                                     "\nconst mathMl = freeze([]);",
}

func removeUnused(b api.PluginBuild) {
	b.OnLoad(api.OnLoadOptions{Filter: `/purify\.es\.mjs$`}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		data, err := os.ReadFile(args.Path)
		for part, with := range unused {
			if n := len(part.FindAllIndex(data, -1)); n != 1 {
				return api.OnLoadResult{}, fmt.Errorf("%s is there %d times", part, n)
			}
			data = part.ReplaceAll(data, []byte(with))
		}
		rest := string(data)
		for _, name := range []string{"AsyncGenerator", "_OverloadYield"} {
			if strings.Contains(rest, name) {
				return api.OnLoadResult{}, fmt.Errorf("%s is used", name)
			}
		}
		return api.OnLoadResult{Contents: &rest, Loader: api.LoaderJS}, err
	})
}

// The scripts are made apart: what one has of the other keeps its name.
func TestWhatTheScriptsShareKeepsItsName(t *testing.T) {
	data, err := os.ReadFile(scripts["blocks.js"])
	if err != nil {
		t.Fatal(err)
	}
	shared := regexp.MustCompile(`(?m)^export (?:const|function|let) (\w+)`).FindAllSubmatch(data, -1)
	if len(shared) == 0 {
		t.Error("blocks.js exports nothing")
	}
	short := regexp.MustCompile("^(" + ownMembers + ")$")
	for _, m := range shared {
		if short.Match(m[1]) {
			t.Errorf("%s gets a short name in one of the scripts", m[1])
		}
	}
}

func TestTheScriptsAreUpToDate(t *testing.T) {
	for name, module := range scripts {
		want := bundle(t, name, module)
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not made of the files as they are now (%v); run go generate ./gateway/page", name, err)
		}
	}
}
