// An OpenID provider that others wrote (npm oidc-provider), with people, groups and clients to log in with.
//
//   node oidc-provider.mjs [PORT] [--redirect URL]... [--access-seconds N]
//
// Without a port it takes a free one. It prints one line with its issuer when it listens. Its keys and
// everything it gave out are gone when it ends.
//
// People log in with any password. alice is in the groups ops and staff, bob in staff, anybody else in
// none. ID tokens and access tokens have the claim groups.
//
//   client   secret           grants
//   page     page-secret      authorization code with PKCE, refresh; the --redirect URLs, and their origins after logout
//   cli      (public)         device code, refresh
//   service  service-secret   client credentials
//   agent    agent-secret     token exchange (RFC 8693), client credentials
//   shop     shop-secret      the same
//
// Others register themselves (RFC 7591), or are a document (CIMD). Access tokens are JSON Web Tokens for the resource
// that is asked for (RFC 8707), by default urn:agent, and are valid for --access-seconds (3600). A token exchange takes
// a token of this provider as subject_token, and as actor_token the one of who acts; it gives a token for
// `resource`, or `audience`, with the claim act, which has the act of the subject's token in it. It refuses
// resources with "closed" in their name: invalid_target.
import { createServer } from 'node:http';
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createLocalJWKSet, jwtVerify } from 'jose';
import Provider, { errors } from 'oidc-provider';

const { values: flags, positionals: [port = '0'] } = parseArgs({
  allowPositionals: true,
  options: { redirect: { type: 'string', multiple: true, default: [] }, 'access-seconds': { type: 'string', default: '3600' } },
});
const groups = { alice: ['ops', 'staff'], bob: ['staff'] };
const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';
const tokenTypes = [accessTokenType, 'urn:ietf:params:oauth:token-type:id_token', 'urn:ietf:params:oauth:token-type:jwt'];
const defaultResource = 'urn:agent';
const scope = 'openid offline_access profile email groups';
const lifetime = Number(flags['access-seconds']);

const key = (type, alg, options) => ({
  ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }), use: 'sig', alg, kid: randomUUID(),
});
const jwks = { keys: [key('rsa', 'RS256', { modulusLength: 2048 }), key('ec', 'ES256', { namedCurve: 'P-256' })] };
const publicKeys = createLocalJWKSet({ keys: jwks.keys.map(({ d, p, q, dp, dq, qi, ...rest }) => rest) });

const clients = [
  {
    client_id: 'page', client_secret: 'page-secret', grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: flags.redirect, post_logout_redirect_uris: flags.redirect.map((url) => `${new URL(url).origin}/`), scope,
  },
  {
    client_id: 'cli', token_endpoint_auth_method: 'none', application_type: 'native', response_types: [], redirect_uris: [],
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'], scope,
  },
  { client_id: 'service', client_secret: 'service-secret', grant_types: ['client_credentials'], response_types: [], redirect_uris: [] },
  ...['agent', 'shop'].map((name) => (
    { client_id: name, client_secret: `${name}-secret`, grant_types: [exchangeGrant, 'client_credentials'], response_types: [], redirect_uris: [] }
  )),
].filter((client) => client.client_id !== 'page' || flags.redirect.length > 0);

// resourceServer describes an audience of access tokens.
function resourceServer(_ctx, resource) {
  if (/closed/.test(resource)) throw new errors.InvalidTarget('nobody gets tokens for this resource');
  return { scope: 'converse read approve operate', audience: resource, accessTokenTTL: lifetime, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } };
}

// grantAll stands for a consent that was given before, so that a login is one form.
async function grantAll(ctx) {
  const { session, client, provider, params } = ctx.oidc;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(scope);
  for (const resource of [params.resource ?? defaultResource].flat()) grant.addResourceScope(resource, resourceServer(ctx, resource).scope);
  await grant.save();
  return grant;
}

const server = createServer();
server.listen(Number(port), '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients,
    jwks,
    cookies: { keys: [randomBytes(32).toString('hex')] },
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'], groups: ['groups'] },
    conformIdTokenClaims: false, // the claims of the scopes are in the ID token, as with most vendors
    pkce: { required: () => true },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    loadExistingGrant: grantAll,
    findAccount: async (_ctx, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, name: id, email: `${id}@example.com`, email_verified: true, groups: groups[id] ?? [] }),
    }),
    extraTokenClaims: async (ctx, token) => ({ groups: groups[token.accountId] ?? [], ...ctx.state.actor && { act: ctx.state.actor } }),
    ttl: { AccessToken: lifetime, ClientCredentials: lifetime, IdToken: lifetime },
    features: {
      devInteractions: { enabled: true },
      deviceFlow: { enabled: true },
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
      introspection: { enabled: true },
      registration: { enabled: true },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      rpInitiatedLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: async (_ctx, _client, oneOf) => [oneOf].flat()[0] ?? defaultResource,
        useGrantedResource: async () => true,
        getResourceServerInfo: resourceServer,
      },
    },
  });

  // proven returns the claims of a token of this provider.
  async function proven(token, type, name) {
    if (!tokenTypes.includes(type)) throw new errors.InvalidRequest(`${name}_type is unknown`);
    const verified = await jwtVerify(token ?? '', publicKeys, { issuer }).catch(() => undefined);
    if (!verified) throw new errors.InvalidRequest(`${name} is not valid`);
    return verified.payload;
  }

  async function exchange(ctx) {
    const { params, client } = ctx.oidc;
    const subject = await proven(params.subject_token, params.subject_token_type, 'subject_token');
    if (params.actor_token) {
      const actor = await proven(params.actor_token, params.actor_token_type, 'actor_token');
      ctx.state.actor = { sub: actor.sub, iss: actor.iss, ...subject.act && { act: subject.act } };
    }
    const resource = [params.resource ?? params.audience ?? defaultResource].flat()[0];
    const token = new provider.AccessToken({ client, accountId: subject.sub, gty: 'token_exchange', scope: params.scope });
    token.resourceServer = new provider.ResourceServer(resource, resourceServer(ctx, resource));
    ctx.oidc.entity('AccessToken', token);
    ctx.body = {
      access_token: await token.save(), issued_token_type: accessTokenType, token_type: 'Bearer', expires_in: token.expiration, scope: token.scope,
    };
  }
  const exchangeParams = ['subject_token', 'subject_token_type', 'actor_token', 'actor_token_type', 'requested_token_type', 'audience', 'resource', 'scope'];
  provider.registerGrantType(exchangeGrant, exchange, exchangeParams, ['audience', 'resource']);

  server.on('request', provider.callback());
  console.log(issuer);
});
