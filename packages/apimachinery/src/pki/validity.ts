/**
 * When a certificate is valid. Node returns arbitrary dates for malformed times, so they are read here, in the two
 * forms that RFC 5280 allows.
 */
import type { X509Certificate } from "node:crypto";
import { DER, DerError, derItems, expectDer, type DerValue } from "./der-reader.ts";
import { contentsOf } from "./x509.ts";

export interface Validity {
  notBeforeMs: number;
  notAfterMs: number;
}

const VERSION_TAG = 0xa0;
/** Years of two digits from this one on are of the twentieth century. */
const FIRST_OLD_YEAR = 50;

/** Throws `DerError`. */
export function validityOf(certificate: X509Certificate): Validity {
  const contents = contentsOf(certificate).filter(({ tag }) => tag !== VERSION_TAG);
  const [notBefore, notAfter] = derItems(expectDer(contents[3], DER.sequence, "the validity"));
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
