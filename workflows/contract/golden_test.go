package contract_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestWireFormatIsTheGoldenOne(t *testing.T) {
	for name, value := range samples() {
		t.Run(name, func(t *testing.T) {
			got := encode(t, value)
			path := filepath.Join("testdata", name+".json")
			if *update {
				write(t, path, got)
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("no golden file; run go test ./workflows/contract -update: %v", err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("the wire format of %s changed. If nothing but optional fields was added: go test ./workflows/contract -update. "+
					"Everything else breaks conversations that wait right now (-golden +got):\n%s", name, diff)
			}
		})
	}
}

func TestGoldenFilesDecodeToTheSameValues(t *testing.T) {
	for name, want := range samples() {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			got := reflect.New(reflect.TypeOf(want))
			dec := json.NewDecoder(bytes.NewReader(data))
			dec.DisallowUnknownFields()
			if err := dec.Decode(got.Interface()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Elem().Interface(), sameJSON); diff != "" {
				t.Errorf("decoded value (-want +got):\n%s", diff)
			}
		})
	}
}

// The JSON of a value is indented in the golden files.
var sameJSON = cmp.Comparer(func(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
})

// A field of a type that many others contain is reported once, with the shortest path.
func TestSamplesSetEveryField(t *testing.T) {
	paths := map[string]string{}
	for name, value := range samples() {
		if isVariant(name) {
			continue
		}
		for _, u := range unset(reflect.ValueOf(value), reflect.TypeOf(value).Name(), nil) {
			if known := paths[u.field]; known == "" || len(u.path) < len(known) {
				paths[u.field] = u.path
			}
		}
	}
	for field, path := range paths {
		t.Errorf("%s is zero at %s, so its key is in no golden file: set it where a *samples_test.go makes that value, "+
			"then go test ./workflows/contract -update", field, path)
	}
}

// zero is a field and its type, and the path where it is zero.
type zero struct{ field, path string }

// unset lists the fields that are zero. A Text or a JSON has one of two values and hides its
// fields from the wire. A value inside another of its own type need not have all fields: around
// lists the types of the enclosing values.
func unset(v reflect.Value, path string, around []reflect.Type) []zero {
	switch v.Kind() {
	case reflect.Pointer:
		return unset(v.Elem(), path, around)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		var out []zero
		for i := range v.Len() {
			if i == 0 { // further elements show variants
				out = append(out, unset(v.Index(i), path+"[]", around)...)
			}
		}
		return out
	case reflect.Struct:
		return unsetFields(v, path, around)
	}
	return nil
}

func unsetFields(v reflect.Value, path string, around []reflect.Type) []zero {
	var out []zero
	typ := v.Type()
	if typ.PkgPath() != "agent-stop-and-go/workflows/contract" || isValue(typ) || slices.Contains(around, typ) {
		return nil
	}
	around = append(slices.Clone(around), typ)
	for i := range v.NumField() {
		name := "." + typ.Field(i).Name
		if v.Field(i).IsZero() && typ.Field(i).Tag.Get("json") != "-" {
			out = append(out, zero{typ.Name() + name, path + name})
			continue
		}
		out = append(out, unset(v.Field(i), path+name, around)...)
	}
	return out
}

func isVariant(name string) bool { return strings.Contains(name, "-") }

func isValue(t reflect.Type) bool { return t.Name() == "Text" || t.Name() == "JSON" }

func TestNoTypeIsWithoutAGoldenFile(t *testing.T) {
	sampled := map[string]bool{}
	for name := range samples() {
		if !isVariant(name) {
			sampled[name] = true
		}
	}
	for _, typ := range exportedStructs(t) {
		if !sampled[typ] {
			t.Errorf("%s has no sample: add one to samples and run with -update", typ)
		}
	}
}

func TestNoGoldenFileIsWithoutAType(t *testing.T) {
	known := slices.Collect(maps.Keys(samples()))
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".json"); !slices.Contains(known, name) {
			t.Errorf("%s belongs to no sample", f)
		}
	}
}

// exportedStructs lists the struct types of the package, except generic ones, which are
// references and not payloads.
func exportedStructs(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if _, ok := spec.Type.(*ast.StructType); ok && spec.Name.IsExported() && spec.TypeParams == nil {
				out = append(out, spec.Name.Name)
			}
			return true
		})
	}
	if len(out) < 30 {
		t.Fatalf("found only %d types", len(out))
	}
	return out
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

func decodeInto(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
