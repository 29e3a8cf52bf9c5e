/** Cells that volumes and claims share. */
const ACCESS_MODES = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
] as const;

export const SUPPORTED_ACCESS_MODES = ACCESS_MODES.map(([mode]) => mode as string).sort();

/** Access modes by their short names, in a fixed order. */
export function accessModesCell(modes: readonly string[] = []): string {
  return ACCESS_MODES.flatMap(([mode, short]) => (modes.includes(mode) ? [short] : [])).join(",");
}

/** The class in the annotation that was there before the field. */
export const STORAGE_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";
