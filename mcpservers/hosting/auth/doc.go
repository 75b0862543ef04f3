// Package auth says who may call a tool server over HTTP: holders of a key, or of a token of an OpenID
// provider.
//
//	guard, err := auth.New(ctx, auth.Settings{Kind: auth.OIDC, Issuer: "https://login.example.com", Audience: "tools"})
//	handler := guard.Protect(next)                    // 401 and 403, with the way to a token
//	mux.Handle(auth.MetadataPath, guard.Metadata())   // RFC 9728, for everybody
//
// With keys, each line of a file has a name and the SHA-256 digest of a key, so the file has no secrets:
//
//	printf 'alice %s\n' "$(printf %s "$KEY" | sha256sum | cut -d' ' -f1)" >>keys
//
// With oidc a token is a JWT of the issuer for the audience (RFC 9068, or an ID token) with all scopes. The
// challenge and the metadata tell clients where to get one. Handlers learn with [Caller] who calls.
//
// With [Verified] a server says itself whose a token is, such as one that only its issuer can read.
//
// The keys of the provider are read when a token needs one that is unknown, at most every ten seconds: made-up
// tokens do not reach the provider.
package auth
