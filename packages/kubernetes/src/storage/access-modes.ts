/** Validates access modes of volumes, claims and claim templates. */
import { field, type FieldError } from "@flotilla/apimachinery";
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
  const errors = modes
    .filter((mode) => !ACCESS_MODES.includes(mode))
    .map((mode) => field.notSupported(at, mode, ACCESS_MODES));
  const isShared = modes.some((mode) => mode !== "ReadWriteOncePod" && ACCESS_MODES.includes(mode));
  return modes.includes("ReadWriteOncePod") && isShared
    ? [...errors, field.forbidden(at, "may not use ReadWriteOncePod with other access modes")]
    : errors;
}

export function checkVolumeMode(at: string, mode: string | undefined): FieldError[] {
  return mode === undefined || VOLUME_MODES.includes(mode) ? [] : [field.notSupported(at, mode, VOLUME_MODES)];
}
