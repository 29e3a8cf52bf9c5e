/** The client of a TLS connection. Its certificate is verified and parsed once per connection. */
import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { formatTime } from "@flotilla/base";
import { boundsOf, DerError, readCertificate, type CertificateSubject } from "@flotilla/apimachinery";
import { tokenDigest } from "../access/bearer-tokens.ts";
import { ChunkAllowance } from "./chunk-allowance.ts";

/** The user and the groups of a client certificate. */
export interface ClientSubject extends CertificateSubject {
  /** Identifies the certificate in reviews. */
  credentialId?: string;
  /** The id of the logical cluster whose CertificateSigningRequest it was signed for; it is valid there only. */
  cluster?: string | undefined;
  /** The object to which it was bound then. */
  registration?: string | undefined;
}

export interface Peer {
  subject?: ClientSubject;
  /** The common name of an authenticating proxy. Its certificate identifies no user. */
  proxy?: string;
  /** Connections outlive certificates, so every request checks the time again. */
  validToMs: number;
  /** The client sent a certificate that is not signed by a trusted authority, has expired or is not yet valid. */
  untrusted: boolean;
  /** The reason, when the client can fix it. */
  problem?: string;
  /** The address that the client connects from. */
  address?: string | undefined;
  /** The token that the client sent last, with its digest. */
  lastToken?: { readonly text: string; readonly digest: string };
  /** Unset until the client sends a body. */
  chunks?: ChunkAllowance;
}

/** Who signs certificates, where there are authenticating proxies: TLS trusts the authorities of both. */
export interface PeerAuthorities {
  signedClient(certificate: X509Certificate): boolean;
  signedProxy(certificate: X509Certificate): boolean;
}

export function peerOf(
  socket: Pick<TLSSocket, "authorized" | "getPeerX509Certificate"> & {
    authorizationError?: unknown;
    remoteAddress?: string | undefined;
  },
  authorities?: PeerAuthorities,
): Peer {
  return { ...identityOf(socket, authorities), address: socket.remoteAddress };
}

function identityOf(socket: Parameters<typeof peerOf>[0], authorities: PeerAuthorities | undefined): Peer {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return { validToMs: Number.POSITIVE_INFINITY, untrusted: false };
  if (!socket.authorized) {
    const problem = problemOf(socket.authorizationError, certificate);
    return { validToMs: 0, untrusted: true, problem };
  }
  const isProxy = authorities?.signedProxy(certificate) ?? false;
  if (authorities && !isProxy && !authorities.signedClient(certificate)) return { validToMs: 0, untrusted: true };
  try {
    const contents = readCertificate(certificate);
    const { commonName, organizations, notAfterMs } = contents;
    if (isProxy) return { proxy: commonName, validToMs: notAfterMs, untrusted: false };
    return {
      subject: {
        commonName,
        organizations,
        ...boundsOf(contents),
        credentialId: `X509SHA256=${certificate.fingerprint256.replaceAll(":", "").toLowerCase()}`,
      },
      validToMs: notAfterMs,
      untrusted: false,
    };
  } catch (error) {
    // A trusted authority signed a malformed certificate. It may be limited to a cluster in a way that we cannot read.
    if (!(error instanceof DerError)) throw error;
    return { validToMs: 0, untrusted: true, problem: `the client certificate cannot be read: ${error.message}` };
  }
}

/** The validity period is not a secret to the certificate's owner, and reporting it saves debugging time. */
function problemOf(error: unknown, { validFromDate, validToDate }: X509Certificate): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : error;
  if (code === "CERT_HAS_EXPIRED") return expiredText(validToDate.getTime());
  return code === "CERT_NOT_YET_VALID"
    ? `the client certificate is not valid before ${formatTime(validFromDate.getTime())}; compare the clocks`
    : undefined;
}

export function expiredText(validToMs: number): string {
  return `the client certificate expired at ${formatTime(validToMs)}; request a new one`;
}

/**
 * The digest of a client's token. Most clients send one token with every request, so the digest is computed once per
 * connection. A token is compared only with the client's own previous token, so timing reveals nothing about the tokens
 * of others.
 */
export function digestFrom(peer: Peer, token: string): string {
  if (peer.lastToken?.text !== token) peer.lastToken = { text: token, digest: tokenDigest(token) };
  return peer.lastToken.digest;
}

/** What is left for small chunks of bodies on this connection. */
export function chunksOf(peer: Peer): ChunkAllowance {
  return (peer.chunks ??= new ChunkAllowance());
}
