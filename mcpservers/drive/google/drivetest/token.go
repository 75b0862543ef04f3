package drivetest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Scope is what tokens of service accounts are for.
const Scope = "https://www.googleapis.com/auth/drive"

// Account is the name of the service account of KeyFile.
const Account = "robot@tests.iam.gserviceaccount.com"

// KeyFile returns the content of a key file for a service account, whose tokens come from a server at an address.
func KeyFile(address string) ([]byte, error) {
	der, err := privateKey()
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]string{
		"type": "service_account", "client_email": Account, "private_key_id": "1", "token_uri": address + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
}

var privateKey = sync.OnceValues(func() ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	return x509.MarshalPKCS8PrivateKey(key)
})

// token issues a token for an assertion (RFC 7523), whose signature is not checked.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	refuse := func(why string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":"invalid_grant","error_description":%q}`, why)
	}
	parts := strings.Split(r.FormValue("assertion"), ".")
	if r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || len(parts) != 3 {
		refuse("Invalid grant.")
		return
	}
	var claims struct {
		Iss, Sub, Scope, Aud string
		Exp                  int64
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(text, &claims) != nil || claims.Iss != Account || claims.Scope != Scope || !strings.HasSuffix(claims.Aud, "/token") || claims.Exp < time.Now().Unix() {
		refuse("Invalid JWT.")
		return
	}
	s.mu.Lock()
	s.n++
	value := "ya29.token-" + strconv.Itoa(s.n)
	s.tokens[value] = Token{Audience: "robot", Subject: claims.Sub, Scope: Scope}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"access_token":%q,"expires_in":3599,"token_type":"Bearer"}`, value)
}

func (s *Server) tokenInfo(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	t, ok := s.tokens[r.FormValue("access_token")]
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_token","error_description":"Invalid Value"}`))
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"azp": t.Audience, "aud": t.Audience, "sub": t.Subject, "scope": t.Scope, "exp": strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10), "expires_in": "3599", "access_type": "online"})
}
