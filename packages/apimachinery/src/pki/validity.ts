/**
 * When a certificate is valid. Node returns arbitrary dates for malformed times, so they are read here, in the two
 * forms that RFC 5280 allows.
 */
import { DER, DerError, derItems, type DerValue } from "./der-reader.ts";

export interface Validity {
  notBeforeMs: number;
  notAfterMs: number;
}

/** Years of two digits from this one on are of the twentieth century. */
const FIRST_OLD_YEAR = 50;

/** Throws `DerError`. */
export function readValidity(validity: DerValue): Validity {
  const [notBefore, notAfter] = derItems(validity);
  return { notBeforeMs: timeOf(notBefore), notAfterMs: timeOf(notAfter) };
}

function timeOf(value: DerValue | undefined): number {
  const text = Buffer.from(value?.content ?? []).toString("latin1");
  const digits = value?.tag === DER.utcTime ? centuryOf(text) + text : value?.tag === DER.time ? text : "";
  const [, year, month, day, hours, minutes, seconds] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits) ?? [];
  const iso = `${year}-${month}-${day}T${hours}:${minutes}:${seconds}.000Z`;
  const ms = Date.parse(iso);
  // JavaScript accepts the 31st of any month, and turns it into the first of the next.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== iso) throw new DerError("a time of the validity is malformed");
  return ms;
}

const centuryOf = (text: string): string => (Number(text.slice(0, 2)) >= FIRST_OLD_YEAR ? "19" : "20");
