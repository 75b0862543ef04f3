package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	mdCode    = regexp.MustCompile("(?s)```.*?```")
)

// documents are the Markdown files of the project, from its folder.
func documents(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(file string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git"):
			return filepath.SkipDir
		case filepath.Ext(file) == ".md":
			files = append(files, strings.TrimPrefix(file, "../"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(files, "README.md") {
		t.Fatalf("no README.md among %v", files)
	}
	return files
}

// prose is a document without its code.
func prose(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", file))
	if err != nil {
		t.Fatal(err)
	}
	return mdCode.ReplaceAllString(string(data), "")
}

// Links within the project lead to files, and to headings where they name one.
func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	for _, file := range documents(t) {
		for _, link := range mdLink.FindAllStringSubmatch(prose(t, file), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			target, fragment, _ := strings.Cut(link[1], "#")
			place := file
			if target != "" {
				place = filepath.Join(filepath.Dir(file), target)
			}
			if _, err := os.Stat(filepath.Join("..", place)); err != nil {
				t.Errorf("%s: %s: %v", file, link[1], err)
				continue
			}
			if fragment != "" && !slices.Contains(anchors(prose(t, place)), fragment) {
				t.Errorf("%s: %s: there is no such heading", file, link[1])
			}
		}
	}
}

const maxPicture = 150_000 // bytes

// A document shows every picture, and pictures are small.
func TestPicturesAreShown(t *testing.T) {
	var all strings.Builder
	for _, file := range documents(t) {
		all.WriteString(prose(t, file))
	}
	pictures := glob(t, "docs", "*.png")
	if len(pictures) < 3 {
		t.Errorf("only %d pictures", len(pictures))
	}
	for _, file := range pictures {
		if !strings.Contains(all.String(), "("+"deploy/"+file+")") {
			t.Errorf("no document shows deploy/%s", file)
		}
		if info, err := os.Stat(file); err != nil || info.Size() > maxPicture {
			t.Errorf("deploy/%s: more than %d bytes (%v)", file, maxPicture, err)
		}
	}
}

var mdPunctuation = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchors are the fragments of the headings of a document, as code hosts make them.
func anchors(text string) (out []string) {
	for _, m := range mdHeading.FindAllStringSubmatch(text, -1) {
		name := mdPunctuation.ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(name, " ", "-"))
	}
	return out
}

var goFiles = regexp.MustCompile(`[\w./*-]*[\w*]\.go\b`)

// A doc.go names files that are there, from its folder or from that of the project; a name may
// have a *. One that says where to look leaves out no file of its package.
func TestFilesThatPackagesNameAreThere(t *testing.T) {
	for _, p := range list(t) {
		own := filepath.Join("..", strings.TrimPrefix(p.ImportPath, module))
		data, err := os.ReadFile(filepath.Join(own, "doc.go"))
		if err != nil {
			continue // its comment is in another file
		}
		named := []string{filepath.Join(own, "doc.go")}
		for _, pattern := range goFiles.FindAllString(string(data), -1) {
			files := append(glob(t, own, pattern), glob(t, "..", pattern)...)
			if len(files) == 0 {
				t.Errorf("%s/doc.go names %s, which is not there", p.ImportPath, pattern)
			}
			named = append(named, files...)
		}
		for _, name := range p.GoFiles {
			if strings.Contains(string(data), "# Where to look") && !slices.Contains(named, filepath.Join(own, name)) {
				t.Errorf(`%s/doc.go does not name %s under "Where to look"`, p.ImportPath, name)
			}
		}
	}
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var apiPath = regexp.MustCompile(`(?m)^  (/\S*):$`)

// The document of the API names every path that there is.
func TestEveryPathOfTheAPIIsDocumented(t *testing.T) {
	file, err := os.ReadFile("../gateway/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	paths := apiPath.FindAllStringSubmatch(string(file), -1)
	if len(paths) < 20 {
		t.Fatalf("only %d paths", len(paths))
	}
	text := prose(t, "gateway/README.md")
	for _, m := range paths {
		path := regexp.MustCompile(`{(\w+)}`).ReplaceAllString(m[1], ":$1")
		if !strings.Contains(text, path+"`") {
			t.Errorf("gateway/README.md does not name %s", path)
		}
	}
}

var approvalReasons = regexp.MustCompile(`enum: \[(destructive, [a-z_, ]+)\]`)

// The document of the API says what every kind of approval accepts.
func TestEveryReasonOfApprovalsIsDocumented(t *testing.T) {
	file, err := os.ReadFile("../gateway/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	reasons := approvalReasons.FindSubmatch(file)
	if reasons == nil {
		t.Fatal("openapi.yaml lists no reasons")
	}
	text := prose(t, "gateway/README.md")
	for reason := range strings.SplitSeq(string(reasons[1]), ", ") {
		if !strings.Contains(text, "`"+reason+"`") {
			t.Errorf("gateway/README.md does not name the reason %s", reason)
		}
	}
}
