/** Subject alternative names, of requests and of certificates. Names that are not ASCII are rejected. */
import { DER, DerError, derItems, expectDer, type DerValue } from "./der-reader.ts";

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

/** Adds the names of a list; other kinds of names are ignored. */
export function addNames(names: Names, list: DerValue): void {
  for (const { tag, content } of derItems(expectDer(list, DER.sequence, "the alternative names"))) {
    if (tag === 0x81) names.emailAddresses.push(asciiOf(content, "an email address"));
    else if (tag === 0x82) names.dnsNames.push(asciiOf(content, "a DNS name"));
    else if (tag === 0x86) names.uris.push(asciiOf(content, "a URI"));
    else if (tag === 0x87) {
      if (content.length !== 4 && content.length !== 16)
        throw new DerError(`an IP address has 4 or 16 bytes, not ${content.length}`);
      names.ipAddresses.push(content);
    }
  }
}

export function asciiOf(content: Uint8Array, what: string): string {
  if (content.some((byte) => byte > 0x7f)) throw new DerError(`${what} is not ASCII`);
  return Buffer.from(content).toString("latin1");
}
