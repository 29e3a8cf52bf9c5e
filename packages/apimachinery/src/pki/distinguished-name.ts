/** Distinguished names (RFC 5280, 4.1.2.4), of requests and of certificates. */
import { DER, DerError, derItems, expectDer, identifierOf, type DerValue } from "./der-reader.ts";

export interface NameAttribute {
  /** The object identifier. */
  type: string;
  value: DerValue;
}

/** The attributes, in order. Throws `DerError`. */
export function attributesOf(name: DerValue, what: string): NameAttribute[] {
  const attributes: NameAttribute[] = [];
  for (const part of derItems(expectDer(name, DER.sequence, what))) {
    const pairs = derItems(expectDer(part, DER.set, `a part of ${what}`));
    if (pairs.length === 0) throw new DerError(`a part of ${what} is empty`);
    for (const pair of pairs) {
      const [type, value, ...rest] = derItems(expectDer(pair, DER.sequence, `an attribute of ${what}`));
      if (!value || rest.length > 0) throw new DerError(`an attribute of ${what} is not a type and a value`);
      attributes.push({
        type: identifierOf(expectDer(type, DER.identifier, `the type of an attribute of ${what}`)),
        value,
      });
    }
  }
  return attributes;
}
