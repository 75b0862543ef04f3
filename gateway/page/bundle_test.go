package page_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

var update = flag.Bool("update", false, "rewrite bundle.js")

// banner says where bundle.js comes from. The licences of the packages stay in it, too.
const banner = "// Code generated from files/ by go generate ./gateway/page; DO NOT EDIT.\n" +
	"// Contains lit-html, marked and DOMPurify, whose licences are in files/npm/."

// bundle makes one file of the modules.
func bundle(t *testing.T) []byte {
	t.Helper()
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{"files/main.js"}, Bundle: true, Format: api.FormatESModule,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Target: api.ES2022, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsEndOfFile,
		Banner: map[string]string{"js": banner},
	})
	for _, e := range append(result.Errors, result.Warnings...) {
		t.Errorf("%+v: %s", e.Location, e.Text)
	}
	if len(result.OutputFiles) != 1 {
		t.Fatalf("%d files", len(result.OutputFiles))
	}
	return result.OutputFiles[0].Contents
}

func TestTheBundleIsUpToDate(t *testing.T) {
	want := bundle(t)
	if *update {
		if err := os.WriteFile("bundle.js", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile("bundle.js"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("bundle.js is not made of the files as they are now (%v); run go generate ./gateway/page", err)
	}
}
