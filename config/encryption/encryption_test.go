package encryption_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/workflows/credential"
)

const text = "the marker text"

func key(id string) credential.Key {
	return credential.Key{ID: id, Secret: bytes.Repeat([]byte(id)[:1], credential.KeySize)}
}

func codec(t *testing.T, ids ...string) *encryption.Codec {
	t.Helper()
	var keys []credential.Key
	for _, id := range ids {
		keys = append(keys, key(id))
	}
	c, err := encryption.New(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func payload(t *testing.T, v any) *commonpb.Payload {
	t.Helper()
	p, err := converter.GetDefaultDataConverter().ToPayload(v)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encoded(t *testing.T, c *encryption.Codec, p *commonpb.Payload) *commonpb.Payload {
	t.Helper()
	out, err := c.Encode([]*commonpb.Payload{p})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func TestTheFirstKeyEncryptsAndEachDecrypts(t *testing.T) {
	clear := payload(t, text)
	old, both := codec(t, "a"), codec(t, "b", "a")
	for _, from := range []*encryption.Codec{old, both, nil} {
		p := encoded(t, from, clear)
		if from != nil && strings.Contains(p.String(), text) {
			t.Errorf("encrypted as %s", p)
		}
		out, err := both.Decode([]*commonpb.Payload{p})
		if err != nil || !proto.Equal(out[0], clear) {
			t.Errorf("decrypted as %v, %v", out, err)
		}
		if again := encoded(t, both, p); from != nil && again != p {
			t.Error("encrypted twice")
		}
	}
	if id := string(encoded(t, both, clear).GetMetadata()[encryption.MetadataKeyID]); id != "b" {
		t.Errorf("encrypted by %s", id)
	}
	if proto.Equal(encoded(t, old, clear), encoded(t, old, clear)) {
		t.Error("equal texts are encrypted alike")
	}
}

func TestAMissingKeyIsNamed(t *testing.T) {
	p := encoded(t, codec(t, "b"), payload(t, text))
	for _, c := range []*encryption.Codec{codec(t, "a"), nil} {
		_, err := c.Decode([]*commonpb.Payload{p})
		var missing *encryption.MissingKeyError
		if !errors.As(err, &missing) || missing.ID != "b" || !strings.Contains(err.Error(), `"b", which is not in encryption.keys`) {
			t.Errorf("got %v", err)
		}
	}
}

func TestAChangedValueIsUnreadable(t *testing.T) {
	c := codec(t, "a")
	for i := range encoded(t, c, payload(t, text)).GetData() {
		p := encoded(t, c, payload(t, text))
		p.Data[i] ^= 1
		if _, err := c.Decode([]*commonpb.Payload{p}); !errors.Is(err, encryption.ErrUnreadable) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
	p := encoded(t, c, payload(t, text))
	p.Data = p.Data[:5]
	if _, err := c.Decode([]*commonpb.Payload{p}); !errors.Is(err, encryption.ErrUnreadable) {
		t.Errorf("cut: %v", err)
	}
	other, err := encryption.New(credential.Key{ID: "a", Secret: bytes.Repeat([]byte("z"), credential.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Decode([]*commonpb.Payload{encoded(t, c, payload(t, text))}); !errors.Is(err, encryption.ErrUnreadable) {
		t.Errorf("another key of this ID: %v", err)
	}
}

func TestValuesOfTheBlobStore(t *testing.T) {
	old, both := codec(t, "a"), codec(t, "b", "a")
	for _, value := range []string{"", text, "{}"} {
		sealed, err := old.Seal([]byte(value))
		if err != nil || bytes.Contains(sealed, []byte(text)) || !old.Current(sealed) || both.Current(sealed) || both.Current([]byte(value)) {
			t.Errorf("sealed as %q, %v", sealed, err)
		}
		if got, err := both.Open(sealed); err != nil || string(got) != value {
			t.Errorf("opened as %q, %v", got, err)
		}
		if got, err := both.Open([]byte(value)); err != nil || string(got) != value {
			t.Errorf("a value in clear is opened as %q, %v", got, err)
		}
		var missing *encryption.MissingKeyError
		if _, err := (*encryption.Codec)(nil).Open(sealed); !errors.As(err, &missing) {
			t.Errorf("without keys: %v", err)
		}
		for n := len(sealed) - 1; n > 20; n-- {
			if _, err := both.Open(sealed[:n]); err == nil {
				t.Errorf("cut to %d bytes it is opened", n)
			}
		}
	}
}

func TestKeysComeFromTheEnvironmentAndFiles(t *testing.T) {
	secret := base64.StdEncoding.EncodeToString(key("a").Secret)
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("b:"+base64.StdEncoding.EncodeToString(key("b").Secret)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string {
		return map[string]string{"KEY": "a:" + secret, "BAD": "a:" + secret[:9]}[name]
	}
	c, err := encryption.Settings{Keys: []string{"file:" + file, "${KEY}"}}.Open(getenv)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		if _, err := c.Decode([]*commonpb.Payload{encoded(t, codec(t, id), payload(t, text))}); err != nil {
			t.Error(err)
		}
	}
	if c, err := (encryption.Settings{}).Open(getenv); c != nil || err != nil {
		t.Errorf("without keys: %v, %v", c, err)
	}
	for setting, want := range map[string]string{
		"${UNSET}": "encryption.keys[0]: ${UNSET} is not set", "${BAD}": "encryption.keys[0]: ${BAD}: key 1: ", "file:" + file + ".gone": "no such file",
	} {
		_, err := encryption.Settings{Keys: []string{setting}}.Open(getenv)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret[:9]) {
			t.Errorf("%s: %v", setting, err)
		}
	}
	if _, err := (encryption.Settings{Keys: []string{"${KEY}", "${KEY}"}}).Open(getenv); err == nil || !strings.Contains(err.Error(), "two keys have the ID a") {
		t.Errorf("twice: %v", err)
	}
}

func TestKeysDoNotBelongInTheFile(t *testing.T) {
	secret := "k1:" + base64.StdEncoding.EncodeToString(key("a").Secret)
	var got []string
	encryption.Settings{Keys: []string{"${KEY}", "file:/run/secrets/key", secret, "file:"}, WebUI: []string{"https://t.example.com", "*"}}.Check(func(k, problem string) {
		got = append(got, k+": "+problem)
	})
	if len(got) != 3 || !strings.HasPrefix(got[0], "keys[2]: secrets do not belong in this file") || !strings.HasPrefix(got[2], "web_ui[1]: ") || strings.Contains(strings.Join(got, ""), secret) {
		t.Errorf("got %q", got)
	}
}
