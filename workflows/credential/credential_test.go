package credential_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/workflows/credential"
)

const (
	here   = "3f1f7a52-6c1e-4a7e-9d55-0a4f8d2b1c01"
	there  = "3f1f7a52-6c1e-4a7e-9d55-0a4f8d2b1c02"
	canary = "canary-bearer-0123456789"
)

var now = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func key(id string, fill byte) credential.Key {
	return credential.Key{ID: id, Secret: []byte(strings.Repeat(string(fill), credential.KeySize))}
}

func ring(t testing.TB, keys ...credential.Key) *credential.Keyring {
	t.Helper()
	r, err := credential.NewKeyring(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func seal(t testing.TB, r *credential.Keyring, token credential.Token) string {
	t.Helper()
	s, err := r.Seal(here, token)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func jwt(claims string) string {
	return "eyJhbGciOiJIUzI1NiJ9." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

func TestWhatIsSealedOpensAgain(t *testing.T) {
	r := ring(t, key("k1", 'a'))
	for _, want := range []credential.Token{
		{}, {Bearer: canary}, {Bearer: canary, ExpiresAt: now.Add(time.Nanosecond)}, {Bearer: strings.Repeat("long", 4000)},
		credential.NewToken(jwt(`{"exp":4102444800}`)),
	} {
		got, err := r.Open(here, seal(t, r, want), now)
		if err != nil || got.Bearer != want.Bearer || !got.ExpiresAt.Equal(want.ExpiresAt) {
			t.Errorf("opened as another token, %v", err)
		}
	}
}

func TestASealedTokenDoesNotOpenForAnotherConversation(t *testing.T) {
	r := ring(t, key("k1", 'a'))
	if _, err := r.Open(there, seal(t, r, credential.Token{Bearer: canary}), now); !errors.Is(err, credential.ErrUnreadable) {
		t.Errorf("got %v", err)
	}
}

func TestTheSameTokenIsNeverSealedTheSameWay(t *testing.T) {
	r := ring(t, key("k1", 'a'))
	seen := map[string]bool{}
	for range 1000 {
		s := seal(t, r, credential.Token{Bearer: canary})
		if seen[s] {
			t.Fatal("a nonce was used twice")
		}
		seen[s] = true
	}
}

func TestAnEnvelopeNamesItsKey(t *testing.T) {
	r := ring(t, key("new", 'b'), key("old", 'a'))
	if s := seal(t, r, credential.Token{Bearer: canary}); !strings.HasPrefix(s, "v1.new.") {
		t.Errorf("envelope %q is not sealed with the first key", s)
	}
}

func TestRotatedKeysStillOpen(t *testing.T) {
	old := seal(t, ring(t, key("old", 'a')), credential.Token{Bearer: canary})
	got, err := ring(t, key("new", 'b'), key("old", 'a')).Open(here, old, now)
	if err != nil || got.Bearer != canary {
		t.Errorf("after rotation: %v", err)
	}
	if _, err := ring(t, key("new", 'b')).Open(here, old, now); !errors.Is(err, credential.ErrUnknownKey) {
		t.Errorf("after the old key is gone: %v", err)
	}
	if _, err := ring(t, key("old", 'z')).Open(here, old, now); !errors.Is(err, credential.ErrUnreadable) {
		t.Errorf("with another key of that name: %v", err)
	}
}

func TestTamperingIsNoticedAtEveryPosition(t *testing.T) {
	r := ring(t, key("k1", 'a'))
	sealed := seal(t, r, credential.Token{Bearer: canary, ExpiresAt: now.Add(time.Hour)})
	for i := range sealed {
		for _, c := range []byte("A_.\n\x00") {
			if sealed[i] == c {
				continue
			}
			refused(t, r, sealed[:i]+string(rune(c))+sealed[i+1:])
		}
		refused(t, r, sealed[:i])
		refused(t, r, sealed[:i]+sealed[i+1:])
	}
}

func TestTheLastCharacterOfAnEnvelopeCounts(t *testing.T) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	r := ring(t, key("k1", 'a'))
	for n := range 3 { // every length of the last base64 group
		sealed := seal(t, r, credential.Token{Bearer: canary[n:]})
		for _, c := range alphabet {
			if tampered := sealed[:len(sealed)-1] + string(c); tampered != sealed {
				refused(t, r, tampered)
			}
		}
	}
}

func refused(t *testing.T, r *credential.Keyring, sealed string) {
	t.Helper()
	got, err := r.Open(here, sealed, now)
	if !errors.Is(err, credential.ErrUnreadable) && !errors.Is(err, credential.ErrUnknownKey) {
		t.Errorf("%q: error %v", sealed, err)
	}
	if got != (credential.Token{}) {
		t.Errorf("%q: a token came beside the error", sealed)
	}
}

func TestGarbageIsUnreadable(t *testing.T) {
	r := ring(t, key("k1", 'a'))
	for _, s := range []string{"", ".", "..", "v1..", "v1.k1.", "v1.k1.!!!!", "v1.k1.AAAA", "v2.k1.AAAA", canary, strings.Repeat(".", 1000), "v1.k1.AAAA.AAAA"} {
		refused(t, r, s)
	}
}

func TestExpiredTokensDoNotOpen(t *testing.T) {
	r := ring(t, key("k1", 'a'))
	tests := map[string]struct {
		expires time.Time
		want    error
	}{
		"never":           {time.Time{}, nil},
		"in a moment":     {now.Add(1), nil},
		"now":             {now, credential.ErrExpired},
		"a moment ago":    {now.Add(-1), credential.ErrExpired},
		"in another zone": {now.Add(-time.Minute).In(time.FixedZone("", 3600)), credential.ErrExpired},
	}
	for name, tt := range tests {
		got, err := r.Open(here, seal(t, r, credential.Token{Bearer: canary, ExpiresAt: tt.expires}), now)
		if !errors.Is(err, tt.want) || (err != nil && got.Bearer != "") {
			t.Errorf("expires %s: %v, expected %v", name, err, tt.want)
		}
	}
}

func TestTheExpiryIsTakenFromAJWT(t *testing.T) {
	at := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		bearer string
		want   time.Time
	}{
		"a whole number":      {jwt(`{"sub":"x","exp":4102444800}`), at},
		"with a fraction":     {jwt(`{"exp":4102444800.75}`), at},
		"with an exponent":    {jwt(`{"exp":4.1024448e9}`), at},
		"no exp":              {jwt(`{"sub":"x"}`), time.Time{}},
		"exp of null":         {jwt(`{"exp":null}`), time.Time{}},
		"exp of text":         {jwt(`{"exp":"4102444800"}`), time.Time{}},
		"exp of zero":         {jwt(`{"exp":0}`), time.Time{}},
		"exp out of range":    {jwt(`{"exp":9e18}`), time.Time{}},
		"payload is no JSON":  {jwt(`{`), time.Time{}},
		"payload is no basis": {"a.%%%.c", time.Time{}},
		"two parts":           {"a.b", time.Time{}},
		"opaque":              {canary, time.Time{}},
		"empty":               {"", time.Time{}},
	}
	for name, tt := range tests {
		got := credential.NewToken(tt.bearer)
		if got.Bearer != tt.bearer || !got.ExpiresAt.Equal(tt.want) {
			t.Errorf("%s: expires %s, expected %s", name, got.ExpiresAt, tt.want)
		}
	}
}

func TestATokenOfTheFarFutureCanBeSealed(t *testing.T) {
	r := ring(t, key("k1", 'a'))
	for _, exp := range []string{"253402300799", "253402300800", "9223372036854775807", "1e300"} {
		token := credential.NewToken(jwt(`{"exp":` + exp + `}`))
		if got, err := r.Open(here, seal(t, r, token), now); err != nil || got.Bearer != token.Bearer {
			t.Errorf("exp %s: %v", exp, err)
		}
	}
}

func TestBadKeysAreRefusedWithoutShowingThem(t *testing.T) {
	short := credential.Key{ID: "k1", Secret: []byte(canary)}
	tests := map[string][]credential.Key{
		"none":      nil,
		"short":     {short},
		"long":      {{ID: "k1", Secret: []byte(strings.Repeat(canary, 3))}},
		"no id":     {key("", 'a')},
		"dotted id": {key("a.b", 'a')},
		"same id":   {key("k1", 'a'), key("k1", 'b')},
		"second":    {key("k1", 'a'), short},
	}
	for name, keys := range tests {
		r, err := credential.NewKeyring(keys...)
		if err == nil || r != nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "aaaa") {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
}

func TestNewKeysWorkAndDiffer(t *testing.T) {
	a, errA := credential.NewKey()
	b, errB := credential.NewKey()
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if a.ID == b.ID || string(a.Secret) == string(b.Secret) || strings.Contains(hex.EncodeToString(a.Secret), a.ID) {
		t.Error("keys are not independent")
	}
	ring(t, a, b)
}

func TestNothingPrintsASecret(t *testing.T) {
	k := credential.Key{ID: "k1", Secret: []byte("canary-key-of-thirty-two-bytes!!")}
	r := ring(t, k)
	token := credential.NewToken(canary)
	values := map[string]any{
		"token": token, "pointer to token": &token, "tokens": []credential.Token{token}, "struct with token": struct{ T credential.Token }{token},
		"key": k, "pointer to key": &k, "keys": map[string]credential.Key{"k": k}, "keyring": r, "value of keyring": *r,
		"sealed": seal(t, r, token),
	}
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X"} {
			hidden(t, name+" as "+verb, fmt.Sprintf(verb, v))
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%s as JSON: %v", name, err)
		}
		hidden(t, name+" as JSON", string(data))
	}
}

func hidden(t *testing.T, what, got string) {
	t.Helper()
	for _, secret := range []string{canary, "canary-key-of-thirty-two-bytes!!"} {
		b := []byte(secret)
		for _, form := range []string{
			secret, hex.EncodeToString(b), strings.ToUpper(hex.EncodeToString(b)), base64.StdEncoding.EncodeToString(b)[:16],
			strings.Trim(fmt.Sprint(b), "[]"), strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", b), "[]byte{"), "}"),
		} {
			if strings.Contains(got, form) {
				t.Errorf("%s shows a secret: %s", what, got)
			}
		}
	}
}

func TestErrorsNeverHoldTheToken(t *testing.T) {
	r := ring(t, key("k1", 'a'))
	sealed := seal(t, r, credential.Token{Bearer: canary, ExpiresAt: now})
	for _, s := range []string{sealed, canary, "v1.k1." + canary, "v1." + canary + ".AAAA"} {
		if _, err := r.Open(here, s, now); err == nil || strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), s) {
			t.Errorf("%q: error %v", s, err)
		}
	}
}

func TestAKeyringIsSafeForConcurrentUse(t *testing.T) {
	r := ring(t, key("k1", 'a'), key("k0", 'b'))
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			want := fmt.Sprintf("%s-%d", canary, i)
			for range 50 {
				s, err := r.Seal(here, credential.Token{Bearer: want})
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := r.Open(here, s, now); err != nil || got.Bearer != want {
					t.Errorf("opened as another token, %v", err)
				}
			}
		})
	}
	wg.Wait()
}

func TestAContextCarriesTheSealedToken(t *testing.T) {
	if got := credential.FromContext(context.Background()); got != "" {
		t.Errorf("an empty context carries %q", got)
	}
	if got := credential.FromContext(credential.NewContext(context.Background(), "v1.k1.x")); got != "v1.k1.x" {
		t.Errorf("got %q", got)
	}
}

func FuzzOpen(f *testing.F) {
	r := ring(f, key("k1", 'a'))
	f.Add(seal(f, r, credential.Token{Bearer: canary})[:40])
	f.Add("v1.k1.AAAA")
	f.Fuzz(func(t *testing.T, sealed string) { refused(t, r, sealed) })
}
