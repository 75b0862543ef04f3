package stores_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/config/encryption"
	_ "agent-stop-and-go/deploy/stores"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/credential"
)

const (
	accessKey = "AKIATESTACCESS"
	secretKey = "the-secret-of-the-store"
)

// s3 is a server that speaks the protocol of S3.
type s3 struct {
	*httptest.Server
	down      atomic.Bool
	overwrite atomic.Bool // ignores the conditions of writes
}

func newS3(t *testing.T) *s3 {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("agents"); err != nil {
		t.Fatal(err)
	}
	s := &s3{}
	serve := gofakes3.New(backend).Server()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.down.Load():
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		case !strings.Contains(r.Header.Get("Authorization"), "Credential="+accessKey+"/"):
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`<Error><Code>InvalidAccessKeyId</Code><Message>The AWS Access Key Id you provided does not exist in our records.</Message></Error>`))
			return
		case s.overwrite.Load():
			r.Header.Del("If-None-Match")
		}
		serve.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	return s
}

func (s *s3) url() string {
	return "s3://agents?endpoint=" + s.URL + "&use_path_style=true&prefix=team/"
}

func open(t *testing.T, url string) *blobstore.Store {
	t.Helper()
	s, err := blobstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t *testing.T, s *blobstore.Store, text string) contract.Blob {
	t.Helper()
	b, err := s.Put(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shared tests what processes that share a store rely on.
func shared(t *testing.T, url string) {
	one, two := open(t, url), open(t, url)
	large := strings.Repeat("All of this has to arrive. ", 100_000)
	for _, text := range []string{"", "small", large} {
		if got, err := two.Get(t.Context(), put(t, one, text)); err != nil || string(got) != text {
			t.Errorf("%d bytes came back as %d, %v", len(text), len(got), err)
		}
	}
	if _, err := two.Get(t.Context(), contract.NewBlob([]byte("never stored"))); !errors.Is(err, blobstore.ErrNotFound) {
		t.Errorf("a missing value: %v", err)
	}
	var winners atomic.Int32
	var claims sync.WaitGroup
	for _, owner := range strings.Split("abcdefgh", "") {
		store := map[bool]*blobstore.Store{true: one, false: two}[owner < "e"]
		claims.Go(func() {
			holder, err := store.Claim(t.Context(), "call", owner)
			if err != nil {
				t.Error(err)
			}
			if holder == owner {
				winners.Add(1)
			}
		})
	}
	claims.Wait()
	if winners.Load() != 1 {
		t.Errorf("%d have the claim", winners.Load())
	}
	for i, text := range []string{"first", "second"} {
		if err := one.SaveRecord(t.Context(), "login", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := two.LoadRecord(t.Context(), "login"); err != nil || string(got) != text {
			t.Errorf("record %d: %s, %v", i, got, err)
		}
	}
	if got, err := two.LoadRecord(t.Context(), "other"); err != nil || got != nil {
		t.Errorf("a missing record: %s, %v", got, err)
	}
	tomb := deletion.Tombstone{ConversationID: "c", By: "alice"}
	if _, err := one.Bury(t.Context(), tomb); err != nil {
		t.Fatal(err)
	}
	if got, err := two.Bury(t.Context(), deletion.Tombstone{ConversationID: "c", By: "bob"}); err != nil || got.By != "alice" {
		t.Errorf("buried by %s, %v", got.By, err)
	}
}

func TestProcessesShareAnS3Store(t *testing.T) { shared(t, newS3(t).url()) }

// A value is put aside, put back when it is read, and removed when nobody reads it.
func TestCollectionsOnS3(t *testing.T) {
	server := newS3(t)
	one, two := open(t, server.url()), open(t, server.url())
	inner := put(t, one, "the inner value")
	outer := put(t, one, `{"sha256":"`+inner.SHA256+`"}`)
	unused, wanted := put(t, one, "nothing refers to this"), put(t, one, "somebody reads this")
	mark := deletion.Marks{Holder: "h", AgentName: "agent", Began: time.Now().Add(time.Hour), Sums: []string{outer.SHA256}}
	if err := one.Mark(t.Context(), mark); err != nil {
		t.Fatal(err)
	}
	young, err := one.Collect(t.Context(), deletion.Grace, false)
	if err != nil || young.Values != 4 || young.Used != 2 || young.Young != 2 {
		t.Errorf("young values: %+v, %v", young, err)
	}
	const now = -time.Hour // everything is old enough
	aside, err := two.Collect(t.Context(), now, false)
	if err != nil || aside.Used != 2 || aside.Discarded != 2 {
		t.Errorf("put aside: %+v, %v", aside, err)
	}
	if got, err := open(t, server.url()).Get(t.Context(), wanted); err != nil || string(got) != "somebody reads this" {
		t.Errorf("a value that was put aside: %s, %v", got, err)
	}
	if _, err := two.Collect(t.Context(), now, false); err != nil {
		t.Fatal(err)
	}
	fresh := open(t, server.url())
	for _, b := range []contract.Blob{inner, outer} {
		if _, err := fresh.Get(t.Context(), b); err != nil {
			t.Error(err)
		}
	}
	if _, err := fresh.Get(t.Context(), unused); !errors.Is(err, blobstore.ErrNotFound) {
		t.Errorf("an unused value: %v", err)
	}
}

func TestAnS3StoreGoesAwayAndComesBack(t *testing.T) {
	server := newS3(t)
	s := open(t, server.url())
	b := put(t, s, "before")
	server.down.Store(true)
	if _, err := s.Put(t.Context(), []byte("meanwhile")); err == nil {
		t.Error("stored nowhere")
	}
	fresh, err := blobstore.Open(t.Context(), server.url())
	if err == nil {
		t.Error("opened nothing", fresh.Close())
	} else {
		inWords(t, err, "write: ", "AWS_ACCESS_KEY_ID")
	}
	if got, err := s.Get(t.Context(), b); err != nil || string(got) != "before" {
		t.Errorf("what is in memory: %s, %v", got, err)
	}
	server.down.Store(false)
	put(t, s, "meanwhile")
}

// inWords checks an error for people.
func inWords(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v\ndoes not have %q", err, w)
		}
	}
	if strings.Contains(err.Error(), secretKey) {
		t.Errorf("a secret is in %v", err)
	}
}

func TestAStoreThatCannotBeUsedIsNotOpened(t *testing.T) {
	server := newS3(t)
	fails := func(url string, words ...string) {
		t.Helper()
		s, err := blobstore.Open(t.Context(), url)
		if err == nil {
			t.Fatal("opened", s.Close())
		}
		inWords(t, err, words...)
	}
	fails(strings.Replace(server.url(), "agents", "others", 1), "NoSuchBucket")
	server.overwrite.Store(true)
	fails(server.url(), "it overwrites what it was asked to keep", "use a store with conditional writes")
	server.overwrite.Store(false)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAOTHER")
	fails(server.url(), "InvalidAccessKeyId", "credentials are from AWS_ACCESS_KEY_ID")
}

func TestEncryptedValuesOnS3(t *testing.T) {
	server := newS3(t)
	codec, err := encryption.New(credential.Key{ID: "k", Secret: bytes.Repeat([]byte("k"), credential.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	s, other := open(t, server.url()), open(t, server.url())
	s.Encrypt(codec)
	b := put(t, s, "the marker text")
	var missing *encryption.MissingKeyError
	other.Encrypt(nil)
	if _, err := other.Get(t.Context(), b); !errors.As(err, &missing) {
		t.Errorf("without the key: %v", err)
	}
}
