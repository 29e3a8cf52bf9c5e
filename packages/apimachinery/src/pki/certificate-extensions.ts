/**
 * The extensions of a certificate. Node and OpenSSL parse an extension only when it is used and ignore a malformed one;
 * here all of them are read, so that a certificate is either understood or rejected.
 */
import type { X509Certificate } from "node:crypto";
import { addNames, createNames, type AlternativeNames } from "./alternative-names.ts";
import { DER, DerError, derItems, expectDer, identifierOf, readDer, type DerValue } from "./der-reader.ts";
import { contentsOf, EXTENSION } from "./x509.ts";

export interface CertificateExtensions {
  /** By the identifier: the value, without the octet string around it. */
  values: ReadonlyMap<string, DerValue>;
  names: AlternativeNames;
  /** Identifiers of the extended key usages. */
  usages: readonly string[];
}

const EXTENSIONS_TAG = 0xa3;
const CONSTRUCTED = 0x20;
/** Extensions nest a few levels. */
const MAX_DEPTH = 16;

/** Throws `DerError`. */
export function extensionsOf(certificate: X509Certificate): CertificateExtensions {
  const values = new Map<string, DerValue>();
  const list = contentsOf(certificate).find(({ tag }) => tag === EXTENSIONS_TAG);
  for (const item of list ? derItems(expectDer(derItems(list)[0], DER.sequence, "the list of extensions")) : []) {
    const [type, ...rest] = derItems(expectDer(item, DER.sequence, "an extension"));
    const identifier = identifierOf(expectDer(type, DER.identifier, "the type of an extension"));
    const value = readDer(expectDer(rest.at(-1), DER.bytes, "the value of an extension").content);
    if (rest.length > 1) expectDer(rest[0], DER.boolean, "the critical flag of an extension");
    if (rest.length > 2) throw new DerError("an extension has too many parts");
    if (values.has(identifier)) throw new DerError(`the extension ${identifier} occurs twice`);
    checkNesting(value, 0);
    values.set(identifier, value);
  }
  const names = createNames();
  const alternative = values.get(EXTENSION.alternativeNames);
  if (alternative) addNames(names, alternative);
  const constraints = values.get(EXTENSION.basicConstraints);
  if (constraints) checkConstraints(constraints);
  const keyUsage = values.get(EXTENSION.keyUsage);
  if (keyUsage) expectDer(keyUsage, DER.bits, "the key usage");
  const extended = values.get(EXTENSION.extendedUsage);
  const usages = extended ? derItems(expectDer(extended, DER.sequence, "the extended key usage")) : [];
  return {
    values,
    names,
    usages: usages.map((usage) => identifierOf(expectDer(usage, DER.identifier, "an extended key usage"))),
  };
}

/** Whether it is an authority, and how many may follow; both may be omitted. */
function checkConstraints(value: DerValue): void {
  const tags = derItems(expectDer(value, DER.sequence, "the basic constraints")).map(({ tag }) => tag);
  const isKnown = [[], [DER.boolean], [DER.integer], [DER.boolean, DER.integer]].some(
    (known) => known.join() === tags.join(),
  );
  if (!isKnown) throw new DerError("the basic constraints have an unexpected type");
}

/** Lengths inside constructed values have to fit. */
function checkNesting(value: DerValue, depth: number): void {
  if ((value.tag & CONSTRUCTED) === 0) return;
  if (depth === MAX_DEPTH) throw new DerError("an extension nests too deeply");
  for (const item of derItems(value)) checkNesting(item, depth + 1);
}
