/**
 * Objects of kinds whose versions a webhook converts. Most of the server reads and writes objects without waiting, so an
 * object is converted before it is read: `prepare` in `conversion/conversions.ts` adds the converted form to the entry,
 * where it is kept as long as the entry. Code that finds an object unconverted throws `ConversionPending`; `settle`
 * there has the webhook convert it, and runs the code again.
 */
import type { JsonObject } from "@flotilla/base";
import type { ServedVersion } from "../resources/resources.ts";
import type { StoredObject } from "./stored-object.ts";

/** What has to be converted: a stored object, or one that a request sent. */
export type PendingConversion =
  | { readonly entry: StoredObject; readonly to: ServedVersion }
  | { readonly object: JsonObject; readonly from: ServedVersion; readonly to: ServedVersion };

export class ConversionPending extends Error {
  readonly pending: PendingConversion;

  constructor(pending: PendingConversion) {
    super(`an object is needed in ${pending.to.apiVersion}, to which its webhook has not converted it`);
    this.pending = pending;
  }
}

/** The objects that were converted for one request, by content: code that runs again makes equal objects. */
export class ConversionMemo {
  readonly #known = new Map<string, JsonObject>();

  get(object: JsonObject, to: ServedVersion): JsonObject | undefined {
    return this.#known.get(keyOf(object, to));
  }

  set(object: JsonObject, to: ServedVersion, converted: JsonObject): void {
    this.#known.set(keyOf(object, to), converted);
  }
}

const keyOf = (object: JsonObject, { apiVersion }: ServedVersion): string => `${apiVersion} ${JSON.stringify(object)}`;

/** A memo for requests about kinds that a webhook converts; undefined for all others. */
export const conversionMemo = ({ resource }: ServedVersion): ConversionMemo | undefined =>
  resource.conversion && new ConversionMemo();

/** The object in another version, without the rules of that version. Throws `ConversionPending`. */
export function convertBetween(
  memo: ConversionMemo | undefined,
  object: JsonObject,
  from: ServedVersion,
  to: ServedVersion,
): JsonObject {
  if (from === to) return object;
  if (from.resource.conversion) {
    const known = memo?.get(object, to);
    if (!known) throw new ConversionPending({ object, from, to });
    return known;
  }
  const stored = from.toStorage?.(object) ?? object;
  return to.fromStorage?.(stored) ?? stored;
}
