/**
 * Authenticating proxies (`--requestheader-…`): a client whose certificate is signed by their authority names the user of
 * each request in headers. The authority is not that of client certificates, and signs nothing but proxies, so its
 * certificates identify no user themselves.
 */
import { X509Certificate } from "node:crypto";
import { setOwn } from "@flotilla/base";
import { ConfigurationError, unauthorized, splitCertificates } from "@flotilla/apimachinery";
import { authenticatedUser } from "../access/bearer-tokens.ts";
import type { UserInfo } from "../request/user-info.ts";

export interface FrontProxySettings {
  /** PEM, one or more certificates. Each proxy's certificate is signed by one of them. */
  clientCa: string;
  /** Common names of proxies; empty accepts any that the authority signed. */
  allowedNames: readonly string[];
  /** The first header with a value counts. */
  usernameHeaders: readonly string[];
  uidHeaders: readonly string[];
  groupHeaders: readonly string[];
  extraPrefixes: readonly string[];
  /** Groups that no user of a proxy may have. */
  reservedGroups: readonly string[];
}

export interface FrontProxies {
  /** PEM of the authorities. */
  readonly clientCa: string;
  /** Whether one of the authorities signed the certificate of a client. */
  signed(certificate: X509Certificate): boolean;
  /**
   * The user that a proxy names; undefined when it names none. Throws 401 when the proxy may not name users, or not
   * this one.
   */
  userOf(proxy: string, rawHeaders: readonly string[]): UserInfo | undefined;
}

/** Throws `ConfigurationError`. `ownCa` has the authorities of client certificates. */
export function createFrontProxies(settings: FrontProxySettings, ownCa: string | undefined): FrontProxies {
  const authorities = readAuthorities(settings.clientCa);
  const own = ownCa === undefined ? [] : certificatesIn(ownCa);
  if (authorities.some(({ publicKey }) => own.some((each) => publicKey.equals(each.publicKey))))
    throw new ConfigurationError(
      "--requestheader-client-ca-file: it has the authority that signs the clients of this server; every " +
        "client could name any user. Sign proxies with another one",
    );
  if (settings.usernameHeaders.length === 0)
    throw new ConfigurationError("--requestheader-username-headers: Required value: name a header");
  const lower = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase());
  const usernameHeaders = lower(settings.usernameHeaders);
  const uidHeaders = lower(settings.uidHeaders);
  const groupHeaders = lower(settings.groupHeaders);
  const extraPrefixes = lower(settings.extraPrefixes);
  return {
    clientCa: settings.clientCa,
    signed: (certificate) => authorities.some((authority) => isSignedBy(certificate, authority)),
    userOf(proxy, rawHeaders) {
      const lines = linesOf(rawHeaders);
      const name = firstOf(lines, usernameHeaders);
      if (name === undefined) return undefined;
      if (settings.allowedNames.length > 0 && !settings.allowedNames.includes(proxy)) throw unauthorized();
      const groups = groupHeaders.flatMap((header) =>
        lines.filter(([key, value]) => key === header && value !== "").map(([, value]) => value),
      );
      if (groups.some((group) => settings.reservedGroups.includes(group))) throw unauthorized();
      const user = authenticatedUser(name, groups, firstOf(lines, uidHeaders));
      const extra = extraOf(lines, extraPrefixes);
      return extra ? Object.freeze({ ...user, extra }) : user;
    },
  };
}

export function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** Every certificate of a PEM. Throws for one that cannot be read. */
export const certificatesIn = (pem: string): X509Certificate[] =>
  splitCertificates(pem).map((each) => new X509Certificate(each));

function readAuthorities(pem: string): X509Certificate[] {
  try {
    const found = certificatesIn(pem);
    if (found.length > 0) return found;
  } catch (error) {
    throw new ConfigurationError("--requestheader-client-ca-file: it has an invalid certificate", { cause: error });
  }
  throw new ConfigurationError("--requestheader-client-ca-file: it has no PEM certificate");
}

type Line = readonly [name: string, value: string];

/** Names in lower case, values as UTF-8. */
function linesOf(rawHeaders: readonly string[]): Line[] {
  const lines: Line[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    lines.push([
      (rawHeaders[index] ?? "").toLowerCase(),
      Buffer.from(rawHeaders[index + 1] ?? "", "latin1").toString("utf8"),
    ]);
  return lines;
}

function firstOf(lines: readonly Line[], headers: readonly string[]): string | undefined {
  for (const header of headers) {
    const line = lines.find(([name, value]) => name === header && value !== "");
    if (line) return line[1];
  }
  return undefined;
}

function extraOf(lines: readonly Line[], prefixes: readonly string[]): Record<string, readonly string[]> | undefined {
  const extra: Record<string, string[]> = {};
  for (const [name, value] of lines) {
    const prefix = prefixes.find((each) => name.startsWith(each));
    if (prefix === undefined) continue;
    const key = unescaped(name.slice(prefix.length));
    setOwn(extra, key, [...(Object.hasOwn(extra, key) ? (extra[key] ?? []) : []), value]);
  }
  return Object.keys(extra).length > 0 ? extra : undefined;
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return key; // Invalid escapes are taken literally.
  }
}
