/**
 * The contract of every admission, as tests: it is pure, it is idempotent, and it accepts its own output. Run for each
 * admission by `admission.test.ts`.
 */
import { describe, expect, test } from "vitest";
import type { AnyKindStep, Operation } from "@flotilla/apimachinery";
import { copy, type Json, type JsonObject } from "@flotilla/base";
import { ApiError, compileSchema } from "@flotilla/apimachinery";
import { complete, reviewOf } from "./kind.ts";

export function describeAdmission({ mutate, validate, on, for: kind }: AnyKindStep, minimal: JsonObject): void {
  describe(`${kind.kind}.${kind.group || "core"}`, () => {
    const writes = on.filter((operation) => operation !== "DELETE");
    const oldFor = async (operation: Operation): Promise<JsonObject | undefined> =>
      operation === "UPDATE" ? complete(kind, minimal) : undefined;
    const mutated = async (object: JsonObject, operation: Operation): Promise<JsonObject> => {
      const review = reviewOf(object, operation, await oldFor(operation));
      return mutate ? ((await mutate(review)) as JsonObject) : object;
    };

    // The review freezes its objects, so changing them would throw.
    test.for(writes)("%s: does not change its input, and returns the same result each time", async (operation) => {
      expect(await mutated(copy(minimal), operation)).toEqual(await mutated(copy(minimal), operation));
    });

    test.for(writes)("%s: is idempotent", async (operation) => {
      const once = await mutated(copy(minimal), operation);

      expect(await mutated(once, operation)).toEqual(once);
    });

    test.for(writes)("%s: rejects or accepts fields of the wrong type, and never throws", async (operation) => {
      // Some of OpenKruise's webhooks answer 403 to a change of an immutable part; nothing else may.
      const codes = operation === "UPDATE" ? [400, 403] : [400];
      const crashes: string[] = [];
      for (const [name, object] of illTyped(minimal))
        if ((await outcome(() => mutated(object, operation), codes)) === "crashed") crashes.push(name);

      expect(crashes).toEqual([]);
    });

    test.for(writes)("%s: accepts a minimal object", async (operation) => {
      const object = await complete(kind, minimal);

      // The rules of built-in Kubernetes kinds exist only as code.
      const schema = kind.builtIn ? {} : (kind.versions[kind.storageVersion]?.schema ?? {});
      expect(compileSchema(schema).validate(object) ?? []).toEqual([]);
      expect((await validate?.(reviewOf(object, operation, await oldFor(operation)))) ?? []).toEqual([]);
    });
  });
}

async function outcome(
  work: () => Promise<unknown>,
  refusals: readonly number[],
): Promise<"answered" | "refused" | "crashed"> {
  try {
    await work();
    return "answered";
  } catch (error) {
    const isRefusal = error instanceof ApiError && refusals.includes(error.status.code ?? 0);
    return isRefusal ? "refused" : "crashed";
  }
}

/**
 * The object with each field in turn, down to a few levels, replaced by a value of another type: manifests are not
 * trusted.
 */
function illTyped(object: JsonObject): [name: string, object: JsonObject][] {
  const cases: [string, JsonObject][] = [];
  const visit = (path: (string | number)[], value: Json): void => {
    if (path.length > 5 || (path.length === 1 && (path[0] === "apiVersion" || path[0] === "kind"))) return;
    // The server checks metadata before admission.
    if (path.length > 0 && path[0] !== "metadata") {
      for (const other of [null, "text", 7, [], [null], {}])
        cases.push([`${path.join(".")} = ${JSON.stringify(other)}`, replaced(object, path, other)]);
    }
    if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value))
        visit([...path, Array.isArray(value) ? Number(key) : key], inner);
    }
  };
  visit([], object);
  return cases;
}

function replaced(object: JsonObject, path: readonly (string | number)[], value: Json): JsonObject {
  const result = copy(object);
  let parent: Record<string | number, Json> = result;
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string | number, Json>;
  parent[path.at(-1) ?? ""] = value;
  return result;
}
