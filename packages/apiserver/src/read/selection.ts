/** The objects that a list, watch or deletecollection selects: label and field selectors of a resource. */
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { badRequest, matchesLabels, parseFieldSelector, parseLabelSelector } from "@flotilla/apimachinery";
import type { CachedEntry } from "../store/cache.ts";
import { objectIn } from "../codec/render.ts";
import type { Resource, ServedVersion } from "../resources/resources.ts";
import { textOf } from "../codec/text.ts";

export interface Selection {
  /** True without any selector, so that nothing needs to be parsed. */
  readonly everything: boolean;
  /** The only name that can match, when the field selector specifies it. */
  readonly name?: string;
  matches(entry: CachedEntry, served: ServedVersion): boolean;
}

const EVERYTHING: Selection = { everything: true, matches: () => true };

export function selectionOf(resource: Resource, labelSelector: string, fieldSelector: string): Selection {
  if (labelSelector === "" && fieldSelector === "") return EVERYTHING;
  const labels = labelSelector === "" ? undefined : parseLabelSelector(labelSelector);
  const fields =
    fieldSelector === ""
      ? []
      : parseFieldSelector(fieldSelector).map(({ path, op, value }) => ({
          read: fieldReader(resource, path),
          path,
          op,
          value,
        }));
  const name = fields.find(({ path, op }) => path === "metadata.name" && op === "=")?.value;
  return {
    everything: false,
    name,
    matches(entry, served) {
      const object = objectIn(entry, served);
      for (const { read, op, value } of fields) if ((read(object) === value) !== (op === "=")) return false;
      return (
        !labels || matchesLabels(labels, (object.metadata as JsonObject).labels as Record<string, string> | undefined)
      );
    },
  };
}

type FieldReader = (object: DeepReadonly<JsonObject>) => string;

const at =
  (path: string, fallback = ""): FieldReader =>
  (object) => {
    let value: unknown = object;
    for (const part of path.split(".")) value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
    return value === undefined || value === null ? fallback : textOf(value);
  };

function fieldReader({ kind, selectableFields }: Resource, path: string): FieldReader {
  if (path === "metadata.name" || path === "metadata.namespace") return at(path);
  const extra = kind.builtIn ? kind.traits?.selectableFields : undefined;
  const reader = extra && Object.hasOwn(extra, path) ? extra[path] : undefined;
  if (reader) return reader;
  if (selectableFields.includes(path)) return at(path);
  if (extra || selectableFields.length > 0) throw badRequest(`field label not supported: ${path}`);
  throw badRequest(`${JSON.stringify(path)} is not a known field selector: only "metadata.name", "metadata.namespace"`);
}
