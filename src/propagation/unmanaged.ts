/** Where an object is let go: the value of the annotation `flotilla.dev/unmanaged`, and of those that follow from it. */

/** `true` means every member, otherwise the names of members with commas between them. */
export function isUnmanagedOn(value: string | undefined, cluster: string): boolean {
  if (value === undefined || value === "false") return false;
  return value === "true" || value.split(",").some((name) => name.trim() === cluster);
}
