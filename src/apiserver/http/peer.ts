/** Who is at the other end of a TLS connection. Its certificate is verified and read once per connection. */
import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { tokenDigest } from "../access/bearer-tokens.ts";

/** The user and the groups that a client certificate stands for. */
export interface ClientSubject {
  commonName: string;
  organizations: readonly string[];
  /** Which certificate it was, for reviews. */
  credentialId?: string;
}

export interface Peer {
  subject?: ClientSubject;
  /** Connections outlive certificates, so every request looks at the time again. */
  validToMs: number;
  /** A certificate came that nobody we trust has signed. */
  untrusted: boolean;
  /** The token that it sent last, with its digest. */
  lastToken?: { readonly text: string; readonly digest: string };
}

export function peerOf(socket: Pick<TLSSocket, "authorized" | "getPeerX509Certificate">): Peer {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return { validToMs: Number.POSITIVE_INFINITY, untrusted: false };
  if (!socket.authorized) return { validToMs: 0, untrusted: true };
  return { subject: { ...subjectOf(certificate), credentialId: `X509SHA256=${certificate.fingerprint256.replaceAll(":", "").toLowerCase()}` }, validToMs: certificate.validToDate.getTime(), untrusted: false };
}

/**
 * The digest of a token that a peer sends. Most send one token with every request, so it is computed once per connection; a token is
 * compared only with what the same peer sent before, so that timing tells nobody about the tokens of others.
 */
export function digestFrom(peer: Peer, token: string): string {
  if (peer.lastToken?.text !== token) peer.lastToken = { text: token, digest: tokenDigest(token) };
  return peer.lastToken.digest;
}

export function subjectOf(certificate: X509Certificate): ClientSubject {
  // One attribute a line, several of one set joined by plus signs; both are escaped inside values.
  const attributes = certificate.subject.split(/\n| \+ /);
  const valuesOf = (name: string): string[] => attributes.filter((text) => text.startsWith(`${name}=`)).map((text) => unescape(text.slice(name.length + 1)));
  return { commonName: valuesOf("CN").at(-1) ?? "", organizations: valuesOf("O") };
}

/** RFC 2253: a special character follows a backslash, a control character is written in hexadecimal. */
function unescape(text: string): string {
  return text.replace(/\\([0-9A-F]{2}|.)/g, (_whole, escaped: string) => (escaped.length === 2 ? String.fromCharCode(Number.parseInt(escaped, 16)) : escaped));
}
