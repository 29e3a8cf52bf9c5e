/**
 * JSON patch (RFC 6902) with the behaviour of the library that Kubernetes uses: `replace` of a missing key adds it,
 * `test` of a missing key against null passes, a missing value or source is null, index -1 is the last element, leading
 * zeros are accepted, and the whole document can be replaced but neither added nor copied.
 *
 * Arguments are not modified. Each container on a path is copied once per patch and then modified in place.
 */
import { equalJson, isObject, setOwn, type Json, type JsonObject } from "@flotilla/base";
import { jsonTypeName, patchRejected } from "./patch-errors.ts";
import { badRequest, tooLarge } from "../status.ts";

const MAX_JSON_PATCH_OPERATIONS = 10_000;
/**
 * The total size that `copy` operations may add, measured as JSON. Without a limit, 30 operations turn a kilobyte into
 * a gigabyte.
 */
const MAX_JSON_PATCH_COPY_BYTES = 3 * 1024 * 1024;

export function applyJsonPatch(document: Json, operations: Json): Json {
  if (operations === null) return document;
  if (!Array.isArray(operations))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonTypeName(operations)} into Go value of type []handlers.jsonPatchOp`,
    );
  if (operations.length > MAX_JSON_PATCH_OPERATIONS)
    throw tooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_JSON_PATCH_OPERATIONS}, got ${operations.length}`,
    );
  for (const operation of operations) {
    if (!isObject(operation) && operation !== null)
      throw badRequest(
        `error decoding patch: json: cannot unmarshal ${jsonTypeName(operation)} into Go value of type handlers.jsonPatchOp`,
      );
    for (const field of ["op", "path", "from"]) {
      const value = operation?.[field] ?? "";
      if (typeof value !== "string")
        throw badRequest(
          `error decoding patch: json: cannot unmarshal ${jsonTypeName(value)} into Go struct field jsonPatchOp.${field} of type string`,
        );
    }
  }
  const patch = new Patch(document);
  for (const operation of operations) patch.run((operation ?? {}) as JsonObject);
  return patch.root;
}

type Container = Json[] | JsonObject;

class Patch {
  root: Json;
  /** The containers that this patch has copied and may modify in place. */
  private readonly own = new Set<Container>();
  private copiedBytes = 0;

  constructor(document: Json) {
    this.root = document;
  }

  run(operation: JsonObject): void {
    const path = pointer(operation["path"]);
    switch (operation["op"]) {
      case "add":
        return this.add(path, valueOf(operation));
      case "remove":
        this.remove(path);
        return;
      case "replace":
        return this.replace(path, valueOf(operation));
      case "move":
        // In a list, the next element moves to the position of the removed one, so a path through it may exist.
        return this.add(path, this.remove(pointer(operation["from"])));
      case "copy":
        return this.copy(pointer(operation["from"]), path);
      case "test": {
        const found = this.get(path);
        if (!equalJson(found ?? null, operation["value"] ?? null)) throw patchRejected();
        return;
      }
      default:
        throw patchRejected();
    }
  }

  private add(path: string[], value: Json): void {
    const key = path.at(-1);
    if (key === undefined) throw patchRejected();
    const parent = this.writable(path.slice(0, -1));
    if (!Array.isArray(parent)) return setOwn(parent, key, value);
    if (key === "-") parent.push(value);
    else parent.splice(indexIn(key, parent.length + 1), 0, value);
  }

  private replace(path: string[], value: Json): void {
    const key = path.at(-1);
    if (key === undefined) return this.setRoot(value);
    const parent = this.writable(path.slice(0, -1));
    if (Array.isArray(parent)) parent[indexIn(key, parent.length)] = value;
    else setOwn(parent, key, value);
  }

  private remove(path: string[]): Json {
    const key = path.at(-1);
    if (key === undefined) throw patchRejected();
    const parent = this.writable(path.slice(0, -1));
    if (Array.isArray(parent)) return parent.splice(indexIn(key, parent.length), 1)[0] as Json;
    if (!Object.hasOwn(parent, key)) throw patchRejected();
    const removed = parent[key] as Json;
    Reflect.deleteProperty(parent, key);
    return removed;
  }

  private copy(from: string[], path: string[]): void {
    if (from.length === 0) throw patchRejected();
    const value = this.get(from) ?? null;
    this.copiedBytes += JSON.stringify(value).length;
    if (this.copiedBytes > MAX_JSON_PATCH_COPY_BYTES) throw patchRejected();
    // Both paths now hold the same containers, so neither may be modified in place any more.
    this.own.clear();
    this.add(path, value);
  }

  private setRoot(value: Json): void {
    if (typeof value !== "object" || value === null) throw patchRejected();
    this.root = value;
  }

  /** The value at a path; undefined when its last key is absent. Throws when an earlier key is absent. */
  private get(path: string[]): Json | undefined {
    let value: Json | undefined = this.root;
    for (const [depth, key] of path.entries()) {
      if (Array.isArray(value)) value = value[indexIn(key, value.length)];
      else if (isObject(value)) value = Object.hasOwn(value, key) ? value[key] : undefined;
      else throw patchRejected();
      if (value === undefined && depth < path.length - 1) throw patchRejected();
    }
    return value;
  }

  /** The container at a path, after copying it and its parents. */
  private writable(path: string[]): Container {
    let container = this.claim(this.root, (claimed) => this.setRoot(claimed));
    for (const key of path) {
      const parent = container;
      if (Array.isArray(parent)) {
        const index = indexIn(key, parent.length);
        container = this.claim(parent[index], (claimed) => void (parent[index] = claimed));
      } else {
        container = this.claim(Object.hasOwn(parent, key) ? parent[key] : undefined, (claimed) =>
          setOwn(parent, key, claimed),
        );
      }
    }
    return container;
  }

  private claim(value: Json | undefined, store: (claimed: Container) => void): Container {
    if (!Array.isArray(value) && !isObject(value)) throw patchRejected();
    if (this.own.has(value)) return value;
    const claimed: Container = Array.isArray(value) ? [...value] : { ...value };
    this.own.add(claimed);
    store(claimed);
    return claimed;
  }
}

const valueOf = (operation: JsonObject): Json => operation["value"] ?? null;

/** Splits a JSON pointer. `~1` is a slash and `~0` a tilde. Text before the first slash is ignored. */
function pointer(path: Json | undefined): string[] {
  if (path === "") return [];
  if (typeof path !== "string" || !path.includes("/")) throw patchRejected();
  return path
    .slice(path.indexOf("/") + 1)
    .split("/")
    .map((part) => (part.includes("~") ? part.replaceAll("~1", "/").replaceAll("~0", "~") : part));
}

function indexIn(key: string, length: number): number {
  if (!/^-?\d{1,15}$/.test(key)) throw patchRejected();
  const index = Number(key);
  const found = index < 0 ? index + length : index;
  if (found < 0 || found >= length) throw patchRejected();
  return found;
}
