// Package guard prevents web pages from using a server that their visitor can reach and they
// cannot: one on the visitor's machine or in the visitor's network.
//
// A page can send requests to such a server in two ways. It can send them under its own origin,
// which a browser allows without a preflight if the request is simple. Or the host name of the
// page is made to resolve to the server's address (DNS rebinding), so that the browser treats
// both as one site. [Rules.Check] refuses both:
//
//	Host             is a name of loopback, one of Rules.Hosts, or the very
//	                 address that the connection came to                        421
//	Origin           is absent, one of Rules.Origins, or its host is one that
//	                 Host may have                                              403
//	Sec-Fetch-Site   is not cross-site, unless the Origin is one of
//	                 Rules.Origins or a person follows a link                   403
//
// The names of loopback are localhost, the names below it, 127.0.0.0/8 and ::1. RFC 6761 §6.3
// reserves *.localhost: browsers resolve these names to loopback without DNS, so nobody else
// can own one. An Origin with a name of loopback and another port is another program on the
// client's machine. It is accepted only on connections over loopback.
//
// An address cannot be rebound, but the only address that certainly belongs to this server is
// the one that the connection came to.
//
// Only Host is checked. X-Forwarded-Host and similar headers are ignored, because a client can
// set them. A proxy in front of the server must pass Host on, or its name must be in
// Rules.Hosts. A request without Host is refused.
//
// # Links
//
// A GET that opens a page in its own window (Sec-Fetch-Mode navigate, Sec-Fetch-Dest document)
// is accepted from any page, because the page with the link cannot read the response. Frames
// are refused.
//
// # Bodies
//
// [IsJSON] recognises the types that a page can send only after a preflight. A server that
// accepts only these types is safe from forms, beacons and simple requests even if a browser
// sends no Sec-Fetch-Site.
package guard
