/**
 * Subject alternative names (RFC 5280, 4.2.1.6), of requests and of certificates. Names that are not ASCII are rejected,
 * and names with control characters: one that a program cuts at a NUL byte means another host there.
 */
import { checkNesting, DER, DerError, derItems, expectDer, identifierOf, type DerValue } from "./der-reader.ts";
import { asciiOf } from "./der-strings.ts";

export interface AlternativeNames {
  dnsNames: readonly string[];
  emailAddresses: readonly string[];
  /** Four or sixteen bytes each. */
  ipAddresses: readonly Uint8Array[];
  uris: readonly string[];
}

interface Names extends AlternativeNames {
  dnsNames: string[];
  emailAddresses: string[];
  ipAddresses: Uint8Array[];
  uris: string[];
}

export const createNames = (): Names => ({ dnsNames: [], emailAddresses: [], ipAddresses: [], uris: [] });

/** otherName, x400Address, directoryName and ediPartyName, which are constructed. */
const UNUSED_NAMES: ReadonlySet<number> = new Set([0xa0, 0xa3, 0xa4, 0xa5]);
const REGISTERED_ID = 0x88;

/**
 * Adds the names of a list. Names of the other types that RFC 5280 has are ignored, as in Go. What is none of them is
 * rejected: Go ignores it, and OpenSSL then reads no name of the list.
 */
export function addNames(names: Names, list: DerValue): void {
  for (const item of derItems(expectDer(list, DER.sequence, "the alternative names"))) {
    const { tag, content } = item;
    if (tag === 0x81) names.emailAddresses.push(nameOf(content, "an email address"));
    else if (tag === 0x82) names.dnsNames.push(nameOf(content, "a DNS name"));
    else if (tag === 0x86) names.uris.push(nameOf(content, "a URI"));
    else if (tag === 0x87) {
      if (content.length !== 4 && content.length !== 16)
        throw new DerError(`an IP address has 4 or 16 bytes, not ${content.length}`);
      names.ipAddresses.push(content);
    } else if (tag === REGISTERED_ID) identifierOf(item);
    else if (UNUSED_NAMES.has(tag)) checkNesting(item);
    else throw new DerError("an alternative name has a type that does not exist");
  }
}

function nameOf(content: Uint8Array, what: string): string {
  if (content.some((byte) => byte < 0x20 || byte === 0x7f)) throw new DerError(`${what} contains control characters`);
  return asciiOf(content, what);
}
