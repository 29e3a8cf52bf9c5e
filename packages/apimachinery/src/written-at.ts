/** When an object was last written, from its metadata. */
import type { ManagedFieldsEntry } from "./kind/meta.ts";

/** Writes of the status do not count; a delete does not show. Undefined when unknown. */
export function writtenAtMs({
  creationTimestamp,
  managedFields = [],
}: {
  readonly creationTimestamp?: string | undefined;
  readonly managedFields?: readonly Pick<ManagedFieldsEntry, "time" | "subresource">[] | undefined;
}): number | undefined {
  const times = managedFields.filter(({ subresource }) => !subresource).map(({ time }) => time);
  return [creationTimestamp, ...times]
    .map((time) => Date.parse(time ?? ""))
    .filter(Number.isFinite)
    .toSorted((a, b) => a - b)
    .at(-1);
}
