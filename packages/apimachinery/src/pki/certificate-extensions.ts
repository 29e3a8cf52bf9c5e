/**
 * The extensions of a certificate, and those that a request asks for. Node parses an extension only when it is used and
 * ignores a malformed one; here all of them are read, so that a certificate is either understood or rejected.
 */
import { addNames, createNames, type AlternativeNames } from "./alternative-names.ts";
import {
  checkBits,
  checkNesting,
  DER,
  DerError,
  derItems,
  expectDer,
  identifierOf,
  checkBoolean,
  readDer,
  type DerValue,
} from "./der-reader.ts";
import { EXTENSION } from "./x509.ts";

export interface CertificateExtensions {
  /** By the identifier: the value, without the octet string around it. */
  values: ReadonlyMap<string, DerValue>;
  names: AlternativeNames;
  /** Identifiers of the extended key usages. */
  usages: readonly string[];
}

/** Throws `DerError`. */
export function readExtensions(list: DerValue | undefined): CertificateExtensions {
  const values = new Map<string, DerValue>();
  for (const item of list ? derItems(list) : []) {
    const [type, ...rest] = derItems(expectDer(item, DER.sequence, "an extension"));
    const identifier = identifierOf(expectDer(type, DER.identifier, "the type of an extension"));
    const value = readDer(expectDer(rest.pop(), DER.bytes, "the value of an extension").content);
    const [critical, ...others] = rest;
    if (others.length > 0) throw new DerError("an extension has too many parts");
    if (critical) checkBoolean(expectDer(critical, DER.boolean, "the critical flag of an extension"));
    if (values.has(identifier)) throw new DerError(`the extension ${identifier} occurs twice`);
    checkNesting(value);
    values.set(identifier, value);
  }
  const names = createNames();
  const alternative = values.get(EXTENSION.alternativeNames);
  if (alternative) addNames(names, alternative);
  const constraints = values.get(EXTENSION.basicConstraints);
  if (constraints) checkConstraints(constraints);
  const keyUsage = values.get(EXTENSION.keyUsage);
  if (keyUsage) checkBits(expectDer(keyUsage, DER.bits, "the key usage"), "the key usage");
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
  const items = derItems(expectDer(value, DER.sequence, "the basic constraints"));
  const tags = items.map(({ tag }) => tag);
  const isKnown = [[], [DER.boolean], [DER.integer], [DER.boolean, DER.integer]].some(
    (known) => known.join() === tags.join(),
  );
  if (!isKnown) throw new DerError("the basic constraints have an unexpected type");
  for (const item of items) if (item.tag === DER.boolean) checkBoolean(item);
}
