/** Validates access modes of volumes, claims and claim templates. */
import type { FieldError } from "../../machinery/index.ts";
import { forbiddenField, notOneOf } from "../field-errors.ts";

const SHORT_NAMES = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
] as const;
const ACCESS_MODES = SHORT_NAMES.map(([mode]) => mode as string).sort();
const VOLUME_MODES = ["Block", "Filesystem"];

/** Access modes by their short names, in a fixed order. */
export function accessModesCell(modes: readonly string[] = []): string {
  return SHORT_NAMES.flatMap(([mode, short]) => (modes.includes(mode) ? [short] : [])).join(",");
}

export function checkAccessModes(at: string, modes: readonly string[]): FieldError[] {
  const errors = modes.filter((mode) => !ACCESS_MODES.includes(mode)).map((mode) => notOneOf(at, mode, ACCESS_MODES));
  const isShared = modes.some((mode) => mode !== "ReadWriteOncePod" && ACCESS_MODES.includes(mode));
  return modes.includes("ReadWriteOncePod") && isShared
    ? [...errors, forbiddenField(at, "may not use ReadWriteOncePod with other access modes")]
    : errors;
}

export function checkVolumeMode(at: string, mode: string | undefined): FieldError[] {
  return mode === undefined || VOLUME_MODES.includes(mode) ? [] : [notOneOf(at, mode, VOLUME_MODES)];
}
