/** Names of volume and device drivers: domains of at most 63 bytes, case-insensitive. */
import { dnsSubdomainProblems, type FieldError } from "../../machinery/index.ts";
import { missing, tooLong, wrong } from "../field-errors.ts";

const MAX_DRIVER_BYTES = 63;

export function checkDriverName(at: string, name: string): FieldError[] {
  if (name === "") return [missing(at)];
  const errors = Buffer.byteLength(name) > MAX_DRIVER_BYTES ? [tooLong(at, MAX_DRIVER_BYTES)] : [];
  return [...errors, ...dnsSubdomainProblems(name.toLowerCase()).map((problem) => wrong(at, name, problem))];
}
