/** Finds the default class for objects that name none. */
import { compareText } from "../../base/index.ts";
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import { metadataOf } from "../write/metadata.ts";
import { textOf } from "../request/text.ts";

/** The name of the newest class marked as default; of two that are equally new, the first by name. */
export function defaultClass(
  classes: readonly DeepReadonly<JsonObject>[],
  isDefault: (annotations: Readonly<Record<string, unknown>>) => boolean,
): string | undefined {
  const marked = classes
    .map((item) => metadataOf(item as JsonObject))
    .filter(({ annotations }) => isDefault((annotations ?? {}) as Readonly<Record<string, unknown>>));
  const newest = marked.toSorted(
    (a, b) =>
      compareText(textOf(b.creationTimestamp), textOf(a.creationTimestamp)) ||
      compareText(textOf(a.name), textOf(b.name)),
  )[0];
  return newest && textOf(newest.name);
}
