package contract_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
)

const address = `{"blob":"5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e","size":3}`

func TestTextComesBackAsItWas(t *testing.T) {
	texts := map[string]contract.Text{
		"empty":                {},
		"plain":                contract.Inline("Hello"),
		"not ascii":            contract.Inline("Grüße 👋\x00\u2028<b>&"),
		"text like an address": contract.Inline(address),
		"text like null":       contract.Inline("null"),
		"elsewhere":            blobText(),
	}
	for name, want := range texts {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			got := contract.Inline("left over")
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("round trip (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTextRefusesWhatIsNeitherStringNorAddress(t *testing.T) {
	for _, in := range []string{`{}`, `{"blob":"short","size":1}`, `[]`, `7`, `true`, `{"blob":7}`} {
		var got contract.Text
		if err := json.Unmarshal([]byte(in), &got); err == nil {
			t.Errorf("%s was read as %+v", in, got)
		}
	}
}

func TestTextReadsNullAsEmpty(t *testing.T) {
	got := contract.Inline("left over")
	if err := json.Unmarshal([]byte("null"), &got); err != nil || !got.IsZero() {
		t.Errorf("got %+v, %v; expected the empty text", got, err)
	}
}

func TestJSONComesBackAsItWas(t *testing.T) {
	values := map[string]contract.JSON{
		"absent":                    {},
		"object":                    {Raw: json.RawMessage(`{"b":1,"a":[true,null]}`)},
		"list":                      {Raw: json.RawMessage(`[1,2]`)},
		"string":                    {Raw: json.RawMessage(`"null"`)},
		"big number":                {Raw: json.RawMessage(`12345678901234567890.10`)},
		"like an address, but more": {Raw: json.RawMessage(address[:len(address)-1] + `,"more":1}`)},
		"like an address, bad sum":  {Raw: json.RawMessage(`{"blob":"5E","size":3}`)},
		"elsewhere":                 blobJSON(),
	}
	for name, want := range values {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(struct{ V contract.JSON }{want})
			if err != nil {
				t.Fatal(err)
			}
			got := struct{ V contract.JSON }{contract.JSON{Raw: json.RawMessage(`"left over"`)}}
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.V); diff != "" {
				t.Errorf("round trip (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJSONKeepsNoHoldOfTheDecodersBuffer(t *testing.T) {
	data := []byte(`{"a":1}`)
	var got contract.JSON
	if err := got.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	data[2] = 'X'
	if string(got.Raw) != `{"a":1}` {
		t.Errorf("the value changed with the buffer: %s", got.Raw)
	}
}

func TestLooksLikeBlobAgreesWithDecoding(t *testing.T) {
	tests := map[string]bool{
		address:              true,
		" " + address + "\n": true,
		strings.ToUpper(address[:7]) + address[7:]: true, // encoding/json ignores the case of keys
		address[:len(address)-1] + `,"more":1}`:    false,
		strings.Replace(address, "3", "-3", 1):     false,
		`{}`:                                       false,
		`[]`:                                       false,
		`"` + strings.Repeat("5e", 32) + `"`:       false,
		``:                                         false,
		`null`:                                     false,
	}
	for in, want := range tests {
		if got := contract.LooksLikeBlob([]byte(in)); got != want {
			t.Errorf("LooksLikeBlob(%s) = %t, expected %t", in, got, want)
		}
		var decoded contract.JSON
		if json.Unmarshal([]byte(in), &decoded) == nil && (decoded.Blob != nil) != want {
			t.Errorf("%s: decoded to an address: %t, expected %t", in, decoded.Blob != nil, want)
		}
	}
}

func TestPreviewIsCutBetweenRunes(t *testing.T) {
	for lead := range 8 {
		text := strings.Repeat("x", lead) + strings.Repeat("👋", 200)
		got := contract.NewBlob([]byte(text)).Preview
		if !utf8.ValidString(got) || !strings.HasPrefix(text, got) {
			t.Errorf("lead %d: preview %q is not a beginning of the text", lead, got)
		}
		if len(got) > 240 || len(got) <= 240-utf8.UTFMax {
			t.Errorf("lead %d: preview of %d bytes, expected the most whole runes in 240", lead, len(got))
		}
	}
}

func TestPreviewOfAShortTextIsTheText(t *testing.T) {
	for _, text := range []string{"", "a", strings.Repeat("é", 120)} {
		if got := contract.NewBlob([]byte(text)).Preview; got != text {
			t.Errorf("preview %q of %q", got, text)
		}
	}
}

func TestPreviewLeavesOutWhatIsNoText(t *testing.T) {
	for _, data := range [][]byte{
		append([]byte{0xff, 'a', 0xfe}, bytes.Repeat([]byte("b"), 300)...),
		append([]byte{0xff, 'a', 0x80}, bytes.Repeat([]byte("b"), 3)...),
	} {
		got := contract.NewBlob(data).Preview
		if !utf8.ValidString(got) || !strings.HasPrefix(got, "abbb") {
			t.Errorf("preview %q of %q: expected the letters", got, data)
		}
	}
}

func TestPreviewOfBytesThatAreNoTextIsShort(t *testing.T) {
	if got := contract.NewBlob(bytes.Repeat([]byte{0x80}, 1000)).Preview; got != "" {
		t.Errorf("preview %q, expected none", got)
	}
}

func TestBlobIsTheAddressOfItsContent(t *testing.T) {
	b := contract.NewBlob([]byte("abc"))
	// FIPS 180-2, appendix B.1.
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if b.SHA256 != want || b.Size != 3 || !b.Valid() {
		t.Errorf("got %+v", b)
	}
}

func TestBlobWithAnythingButAHexSumIsInvalid(t *testing.T) {
	good := strings.Repeat("5e", 32)
	for _, sum := range []string{"", good[1:], good + "5", strings.ToUpper(good), "../" + good[3:], good[:63] + "\n", good + "\n", good[:63] + "g"} {
		if (contract.Blob{SHA256: sum}).Valid() {
			t.Errorf("%q is valid", sum)
		}
	}
	if (contract.Blob{SHA256: good, Size: -1}).Valid() {
		t.Error("a negative size is valid")
	}
}

func TestShortTextTellsThatThereIsMore(t *testing.T) {
	if got := contract.Inline("all of it").Short(); got != "all of it" {
		t.Errorf("got %q", got)
	}
	if got := blobText().Short(); got != "The first words… (9000 bytes)" {
		t.Errorf("got %q", got)
	}
}

func FuzzJSONRoundTrip(f *testing.F) {
	for _, seed := range []string{address, `{}`, `null`, `[1, 2]`, `"a"`, `{"blob":{}}`, `{"a":"\u003c"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second contract.JSON
		if json.Unmarshal(data, &first) != nil {
			return
		}
		again, err := json.Marshal(first)
		if err != nil {
			t.Fatalf("read but cannot be written: %v", err)
		}
		if err := json.Unmarshal(again, &second); err != nil {
			t.Fatalf("written but cannot be read: %v", err)
		}
		if (first.Blob == nil) != (second.Blob == nil) || (len(first.Raw) == 0) != (len(second.Raw) == 0) {
			t.Errorf("%s became %s", data, again)
		}
	})
}
