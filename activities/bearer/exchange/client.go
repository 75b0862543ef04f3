package exchange

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
)

// Key is the private key by which an agent authenticates (private_key_jwt, RFC 7523).
type Key struct{ signer jose.Signer }

// assertionAge is how long an assertion is valid.
const assertionAge = time.Minute

// ParseKey reads a private key: a JSON Web Key, or PEM. id is the ID of a key in PEM at the
// provider, or "". Its errors have nothing of the key.
func ParseKey(text, id string) (*Key, error) {
	key := jose.JSONWebKey{KeyID: id}
	if strings.HasPrefix(text, "{") {
		if json.Unmarshal([]byte(text), &key) != nil {
			return nil, errors.New("it is no JSON Web Key")
		}
	} else if err := parsePEM(text, &key); err != nil {
		return nil, err
	}
	algorithm, err := algorithmOf(key)
	if err != nil {
		return nil, err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return nil, errors.New("it cannot sign")
	}
	return &Key{signer}, nil
}

func parsePEM(text string, key *jose.JSONWebKey) error {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return errors.New("it is neither a JSON Web Key nor PEM")
	}
	for _, parse := range []func([]byte) (any, error){
		x509.ParsePKCS8PrivateKey,
		func(der []byte) (any, error) { return x509.ParseECPrivateKey(der) },
		func(der []byte) (any, error) { return x509.ParsePKCS1PrivateKey(der) },
	} {
		if private, err := parse(block.Bytes); err == nil {
			key.Key = private
			return nil
		}
	}
	return fmt.Errorf("the PEM block %q holds no private key that is not encrypted", block.Type)
}

// algorithmOf returns the signature algorithm of a key: the one that it names, or the usual one.
func algorithmOf(key jose.JSONWebKey) (jose.SignatureAlgorithm, error) {
	if _, private := key.Key.(crypto.Signer); !private {
		return "", errors.New("it is no private key")
	}
	if key.Algorithm != "" {
		return jose.SignatureAlgorithm(key.Algorithm), nil
	}
	switch private := key.Key.(type) {
	case *rsa.PrivateKey:
		return jose.RS256, nil
	case ed25519.PrivateKey:
		return jose.EdDSA, nil
	case *ecdsa.PrivateKey:
		switch private.Curve.Params().BitSize {
		case 256:
			return jose.ES256, nil
		case 384:
			return jose.ES384, nil
		case 521:
			return jose.ES512, nil
		}
	}
	return "", errors.New("it is no RSA, ECDSA or Ed25519 key")
}

// assertion returns a signed statement of who the agent is, for one request.
func (k *Key) assertion(client, audience string, now time.Time) (string, error) {
	payload, err := json.Marshal(map[string]any{
		"iss": client, "sub": client, "aud": audience, "jti": uuid.NewString(),
		"iat": now.Unix(), "exp": now.Add(assertionAge).Unix(),
	})
	if err != nil {
		return "", err
	}
	signed, err := k.signer.Sign(payload)
	if err != nil {
		return "", errors.New("sign an assertion")
	}
	return signed.CompactSerialize()
}

// String hides the key.
func (*Key) String() string { return "[private key]" }

// GoString hides the key from %#v.
func (*Key) GoString() string { return "[private key]" }
