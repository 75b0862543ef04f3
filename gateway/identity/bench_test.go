package identity_test

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/identitytest"
	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/workflows/contract"
)

// BenchmarkIdentify is the cost of a proof for each request.
func BenchmarkIdentify(b *testing.B) {
	file := filepath.Join(b.TempDir(), "keys.json")
	key, err := keys.Add(file, "alice", []string{contract.ScopeRead}, time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	rs, es := identitytest.RSAKey(b, "rs"), identitytest.ECKey(b, "es")
	p := identitytest.NewProvider(b, rs, es)
	reader := keys.NewReader(file, slog.New(slog.DiscardHandler))
	b.Cleanup(reader.Close)
	ways := identity.Ways{identity.NewKeys(reader), oidcWay(p)}
	for name, token := range map[string]string{
		"key": key, "token of RSA": rs.Token(b, p.Claims(nil)), "token of an elliptic curve": es.Token(b, p.Claims(nil)),
	} {
		b.Run(name, func(b *testing.B) {
			r := ask(token)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ways.Identify(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
