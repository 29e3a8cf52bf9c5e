/** Key usages of a certificate, with their API names; sorted. */
export const KEY_USAGES: readonly string[] = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];
const KNOWN: ReadonlySet<string> = new Set(KEY_USAGES);

export const isKeyUsage = (usage: string): boolean => KNOWN.has(usage);
