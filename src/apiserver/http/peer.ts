/** Who is at the other end of a TLS connection. Its certificate is verified and read once per connection. */
import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { formatTime } from "../../base/index.ts";
import { tokenDigest } from "../access/bearer-tokens.ts";
import { clusterOf } from "./signed-requests.ts";

/** The user and the groups that a client certificate stands for. */
export interface ClientSubject {
  commonName: string;
  organizations: readonly string[];
  /** Which certificate it was, for reviews. */
  credentialId?: string;
  /** The id of the logical cluster whose request it was signed for; it is good there and nowhere else. */
  cluster?: string;
}

export interface Peer {
  subject?: ClientSubject;
  /** Connections outlive certificates, so every request looks at the time again. */
  validToMs: number;
  /** A certificate came that nobody we trust has signed, or that is not good any more or not yet. */
  untrusted: boolean;
  /** Why, where the peer can do something about it. */
  problem?: string;
  /** The token that it sent last, with its digest. */
  lastToken?: { readonly text: string; readonly digest: string };
}

export function peerOf(
  socket: Pick<TLSSocket, "authorized" | "getPeerX509Certificate"> & { authorizationError?: unknown },
): Peer {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return { validToMs: Number.POSITIVE_INFINITY, untrusted: false };
  if (!socket.authorized) {
    const problem = problemOf(socket.authorizationError, certificate);
    return { validToMs: 0, untrusted: true, problem };
  }
  const cluster = clusterOf(certificate);
  return {
    subject: {
      ...subjectOf(certificate),
      ...(cluster !== undefined && { cluster }),
      credentialId: `X509SHA256=${certificate.fingerprint256.replaceAll(":", "").toLowerCase()}`,
    },
    validToMs: certificate.validToDate.getTime(),
    untrusted: false,
  };
}

/** A certificate's time tells its owner nothing new, and saves an hour of looking for what is wrong. */
function problemOf(error: unknown, { validFromDate, validToDate }: X509Certificate): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : error;
  if (code === "CERT_HAS_EXPIRED") return expiredText(validToDate.getTime());
  return code === "CERT_NOT_YET_VALID"
    ? `the client certificate is not valid before ${formatTime(validFromDate.getTime())}; compare the clocks`
    : undefined;
}

export function expiredText(validToMs: number): string {
  return `the client certificate expired at ${formatTime(validToMs)}; ask for a new one`;
}

/**
 * The digest of a token that a peer sends. Most send one token with every request, so it is computed once per
 * connection; a token is compared only with what the same peer sent before, so that timing tells nobody about the
 * tokens of others.
 */
export function digestFrom(peer: Peer, token: string): string {
  if (peer.lastToken?.text !== token) peer.lastToken = { text: token, digest: tokenDigest(token) };
  return peer.lastToken.digest;
}

export function subjectOf(certificate: X509Certificate): ClientSubject {
  // One attribute a line, several of one set joined by plus signs; both are escaped inside values.
  const attributes = certificate.subject.split(/\n| \+ /);
  const valuesOf = (name: string): string[] =>
    attributes.filter((text) => text.startsWith(`${name}=`)).map((text) => unescape(text.slice(name.length + 1)));
  return { commonName: valuesOf("CN").at(-1) ?? "", organizations: valuesOf("O") };
}

/** RFC 2253: a special character follows a backslash, a control character is written in hexadecimal. */
function unescape(text: string): string {
  return text.replace(/\\([0-9A-F]{2}|.)/g, (_whole, escaped: string) =>
    escaped.length === 2 ? String.fromCharCode(Number.parseInt(escaped, 16)) : escaped,
  );
}
