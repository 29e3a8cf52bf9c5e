/** Names of volume and device drivers: domains of at most 63 bytes, case-insensitive. */
import { dnsSubdomainProblems, field, type FieldError } from "@flotilla/apimachinery";
const MAX_DRIVER_BYTES = 63;

export function checkDriverName(at: string, name: string): FieldError[] {
  if (name === "") return [field.required(at)];
  const errors = Buffer.byteLength(name) > MAX_DRIVER_BYTES ? [field.tooLong(at, MAX_DRIVER_BYTES)] : [];
  return [...errors, ...dnsSubdomainProblems(name.toLowerCase()).map((problem) => field.invalid(at, name, problem))];
}
