package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// assertionLife is how long a signed assertion is valid.
const assertionLife = 2 * time.Minute

// parseKey reads a private key in PEM: PKCS #8, PKCS #1 or SEC 1.
func parseKey(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("the private key is not in PEM")
	}
	var key any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	signer, ok := key.(crypto.Signer)
	if err != nil || !ok || len(algorithms(signer)) == 0 {
		return nil, errors.New("the private key is not an RSA, P-256, P-384, P-521 or Ed25519 key")
	}
	return signer, nil
}

// algorithms are those that a key can sign with, the preferred one first.
func algorithms(key crypto.Signer) []jose.SignatureAlgorithm {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return []jose.SignatureAlgorithm{jose.RS256, jose.PS256}
	case *ecdsa.PrivateKey:
		return map[int][]jose.SignatureAlgorithm{256: {jose.ES256}, 384: {jose.ES384}, 521: {jose.ES512}}[k.Params().BitSize]
	case ed25519.PrivateKey:
		return []jose.SignatureAlgorithm{jose.EdDSA}
	}
	return nil
}

// assertion is a signed JWT that proves to an authorization server who the client is (RFC 7523).
func (c *Client) assertion(who client, issuer string) (string, error) {
	usable := algorithms(c.signer)
	if len(who.Algorithms) > 0 {
		usable = slices.DeleteFunc(usable, func(a jose.SignatureAlgorithm) bool { return !slices.Contains(who.Algorithms, string(a)) })
	}
	if len(usable) == 0 {
		return "", fmt.Errorf("the authorization server accepts no signature of this kind of key, only %s", quote(fmt.Sprint(who.Algorithms)))
	}
	options := (&jose.SignerOptions{}).WithType("JWT")
	if c.server.KeyID != "" {
		options = options.WithHeader("kid", c.server.KeyID)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: usable[0], Key: c.signer}, options)
	if err != nil {
		return "", errors.New("sign with the private key")
	}
	now := c.now()
	return jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: who.ID, Subject: who.ID, Audience: jwt.Audience{issuer}, ID: rand.Text(),
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(assertionLife)),
	}).Serialize()
}
