/**
 * Reports what type checking finds in a ValidatingAdmissionPolicy, once per generation, as upstream's controller does.
 *
 * Reads:  ValidatingAdmissionPolicy, the schemas of the kinds that it names.
 * Writes: its `status.typeChecking` and `status.observedGeneration`.
 */
import { ValidatingAdmissionPolicy } from "@flotilla/kubernetes";
import type { ValidatingAdmissionPolicyStatus } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import type { Clock, DeepReadonly, JsonObject, Timer } from "@flotilla/base";
import type { Housekeeping } from "./housekeeping.ts";
import { isMarker } from "../clusters/objects.ts";
import type { CachedEntry, CacheEvent } from "../store/cache.ts";
import type { ResourceTable } from "../resources/resources.ts";
import { typeWarnings } from "../policies/type-checking.ts";

const PREFIX = `/${ValidatingAdmissionPolicy.group}/${ValidatingAdmissionPolicy.plural}/`;

/** The definitions that are applied together with a policy are served by then. */
const CHECK_AFTER_MS = 1_000;

export interface TypeCheckStatus {
  load(entries: readonly CachedEntry[]): void;
  observe(event: CacheEvent): void;
  close(): void;
}

export function createTypeCheckStatus(
  housekeeping: Pick<Housekeeping, "enqueue" | "find" | "isManagedElsewhere" | "rewrite">,
  clock: Clock,
): TypeCheckStatus {
  const waiting = new Map<string, Timer>();
  const check = (entry: CachedEntry): void => {
    const { key } = entry;
    if (!key.startsWith(PREFIX) || isMarker(entry) || waiting.has(key)) return;
    waiting.set(
      key,
      clock.after(CHECK_AFTER_MS, () => {
        waiting.delete(key);
        checkNow(key);
      }),
    );
  };
  const checkNow = (key: string): void => {
    housekeeping.enqueue(`type check ${key}`, async () => {
      const found = housekeeping.find(key);
      if (!found || housekeeping.isManagedElsewhere(key)) return;
      const { table } = found.cluster;
      if (!checkedStatus(found.object, table)) return;
      await housekeeping.rewrite(key, "status", (object) => {
        const status = checkedStatus(object, table);
        return status ? { ...object, status: status as unknown as JsonObject } : object;
      });
    });
  };
  return {
    load(entries) {
      for (const entry of entries) check(entry);
    },
    observe({ entry }) {
      if (entry) check(entry);
    },
    close() {
      for (const timer of waiting.values()) timer.cancel();
      waiting.clear();
    },
  };
}

/** The status of a policy whose generation was not checked yet; undefined for others. */
function checkedStatus(object: JsonObject, table: ResourceTable): ValidatingAdmissionPolicyStatus | undefined {
  const { metadata, spec = {}, status } = object as unknown as DeepReadonly<ValidatingAdmissionPolicy>;
  const { generation = 0 } = metadata;
  if ((status?.observedGeneration ?? 0) >= generation) return undefined;
  const warnings = typeWarnings(spec, table);
  return {
    ...(status as ValidatingAdmissionPolicyStatus | undefined),
    observedGeneration: generation,
    typeChecking: warnings.length > 0 ? { expressionWarnings: warnings } : {},
  };
}
